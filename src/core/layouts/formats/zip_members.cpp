// `checkpoints --verify` of zip archives: the checksum of every member. Small members are read here; of large ones the host computes it.
#include <algorithm>

#include "core/layouts/formats/zip.hpp"
#include "trainvigil/checksum.hpp"

namespace trainvigil::formats_of_files {
namespace {

constexpr std::int64_t kHeader = 30;           // of a member, without its name
constexpr std::int64_t kUsualHeader = 512;     // torch pads headers so that data begin at multiples of 64
constexpr std::int64_t kSmall = 16 * 1024;     // to read this costs less than two processes on the host
constexpr std::int64_t kMostSmall = 24 << 20;  // of one file
constexpr std::int64_t kJoined = 512 * 1024;   // of one read
constexpr std::uint64_t kLargest = 1ULL << 60U;

struct Member {
  std::string_view name;
  unsigned flags = 0, method = 0;
  std::uint32_t crc32 = 0;
  std::int64_t packed = 0, unpacked = 0, offset = 0, limit = 0;
};

std::uint64_t little(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t v = 0;
  for (std::size_t i = width; i-- > 0;) v = (v << 8U) | static_cast<unsigned char>(bytes[at + i]);
  return v;
}

/// Sizes and offset that are too large for the entry stand in an extra field.
bool widen(std::string_view extra, std::uint64_t& unpacked, std::uint64_t& packed, std::uint64_t& offset) {
  for (std::size_t at = 0; at + 4 <= extra.size();) {
    const auto id = little(extra, at, 2);
    const auto length = static_cast<std::size_t>(little(extra, at + 2, 2));
    at += 4;
    if (length > extra.size() - at) return false;
    if (id == 1) {
      std::size_t used = 0;
      for (auto* value : {&unpacked, &packed, &offset}) {
        if (*value != 0xFFFFFFFF) continue;
        if (used + 8 > length) return false;
        *value = little(extra, at + used, 8);
        used += 8;
      }
      return true;
    }
    at += length;
  }
  return true;
}

/// Absent: the directory is damaged.
std::optional<std::vector<Member>> members_of(std::string_view directory, std::uint64_t entries, std::int64_t end) {
  std::vector<Member> out;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < entries; ++i) {
    if (at + 46 > directory.size() || directory.substr(at, 4) != "PK\x01\x02") return std::nullopt;
    const auto name = static_cast<std::size_t>(little(directory, at + 28, 2)), extra = static_cast<std::size_t>(little(directory, at + 30, 2)),
               comment = static_cast<std::size_t>(little(directory, at + 32, 2));
    if (name + extra + comment > directory.size() - at - 46) return std::nullopt;
    std::uint64_t packed = little(directory, at + 20, 4), unpacked = little(directory, at + 24, 4), offset = little(directory, at + 42, 4);
    if (!widen(directory.substr(at + 46 + name, extra), unpacked, packed, offset)) return std::nullopt;
    if (packed > kLargest || unpacked > kLargest || offset > kLargest) return std::nullopt;
    Member m;
    m.name = directory.substr(at + 46, name);
    m.flags = static_cast<unsigned>(little(directory, at + 8, 2));
    m.method = static_cast<unsigned>(little(directory, at + 10, 2));
    m.crc32 = static_cast<std::uint32_t>(little(directory, at + 16, 4));
    m.packed = static_cast<std::int64_t>(packed);
    m.unpacked = static_cast<std::int64_t>(unpacked);
    m.offset = static_cast<std::int64_t>(offset);
    out.push_back(m);
    at += 46 + name + extra + comment;
  }
  if (at != directory.size()) return std::nullopt;
  std::sort(out.begin(), out.end(), [](const Member& a, const Member& b) { return a.offset < b.offset; });
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].limit = i + 1 < out.size() ? out[i + 1].offset : end;
    if (out[i].offset + kHeader + static_cast<std::int64_t>(out[i].name.size()) + out[i].packed > out[i].limit) return std::nullopt;
  }
  return out;
}

/// What to read of the members: all of the small ones, of the others what stands before their data; neighbours in one read.
std::vector<ByteRange> first_reads(const std::vector<Member>& members) {
  std::vector<ByteRange> reads;
  std::int64_t small = 0;
  for (const auto& m : members) {
    auto length = m.limit - m.offset;
    if (length <= kSmall && small + length <= kMostSmall) {
      small += length;
    } else {
      length = std::min(length, kUsualHeader);
    }
    if (!reads.empty() && reads.back().offset + reads.back().length == m.offset && reads.back().length + length <= kJoined) {
      reads.back().length += length;
    } else {
      reads.push_back({m.offset, length});
    }
  }
  return reads;
}

/// The checksum of what the host has read; absent while a part is not there.
std::optional<std::uint32_t> joined_sum(const Window& w, const std::vector<Stretch>& stretches) {
  std::uint32_t crc = 0;
  for (const auto& s : stretches) {
    const auto part = w.sum(s.offset, s.length);
    if (!part) return std::nullopt;
    crc = crc32_joined(crc, *part, static_cast<std::uint64_t>(s.length));
  }
  return crc;
}

}  // namespace

IntegrityStep check_zip_members(const Window& w, std::string_view directory, std::uint64_t entries, std::int64_t end) {
  const auto members = members_of(directory, entries, end);
  if (!members) return verdict(Integrity::bad, "the directory is damaged");
  std::vector<ByteRange> missing;
  for (const auto& range : first_reads(*members))
    if (!w.at(range.offset, range.length)) missing.push_back(range);
  if (!missing.empty()) return more(std::move(missing));

  std::vector<Stretch> stretches;
  bool closed = false;
  for (const auto& m : *members) {
    const auto damaged = [&](const char* what) { return verdict(Integrity::bad, std::string(what) + std::string(m.name.substr(0, 200))); };
    const auto header = *w.at(m.offset, kHeader);
    if (!header.starts_with("PK\x03\x04")) return damaged("no member where the directory says: ");
    const auto name = static_cast<std::int64_t>(little(header, 26, 2)), extra = static_cast<std::int64_t>(little(header, 28, 2));
    const auto data = m.offset + kHeader + name + extra;
    if (little(header, 8, 2) != m.method || name != static_cast<std::int64_t>(m.name.size()) || data + m.packed > m.limit)
      return damaged("the header differs from the directory: ");
    const auto own_name = w.at(m.offset + kHeader, name);
    if (!own_name) {
      missing.push_back({m.offset, kHeader + name});
      continue;
    }
    if (*own_name != m.name) return damaged("the header differs from the directory: ");
    if ((m.flags & 1U) || (m.method != 0 && m.method != 8)) {
      closed = true;
      continue;
    }
    if (m.method == 0) {
      if (m.packed != m.unpacked) return damaged("two lengths of one member: ");
      if (const auto bytes = w.at(data, m.packed)) {
        if (crc32(*bytes) != m.crc32) return damaged("the checksum is wrong: ");
        continue;
      }
      std::vector<Stretch> own;
      for (std::int64_t at = 0; at < m.packed; at += kLongestStretch) own.push_back({data + at, std::min(kLongestStretch, m.packed - at), {}});
      const auto crc = joined_sum(w, own);
      if (!crc) {
        stretches.insert(stretches.end(), own.begin(), own.end());
      } else if (*crc != m.crc32) {
        return damaged("the checksum is wrong: ");
      }
      continue;
    }
    const Stretch own{data, m.packed, Inflated{m.crc32, static_cast<std::uint32_t>(m.unpacked & 0xFFFFFFFF)}};
    const auto crc = w.sum(own.offset, own.length);
    if (!crc) {
      stretches.push_back(own);
    } else if (*crc != m.crc32) {
      return damaged("the checksum is wrong: ");
    }
  }
  if (!missing.empty()) return more(std::move(missing));
  if (!stretches.empty()) {
    IntegrityStep step;
    step.stretches = std::move(stretches);
    return step;
  }
  return closed ? verdict(Integrity::unchecked, "members that are encrypted or packed in a way that is not known here")
                : verdict(Integrity::ok, "every member's checksum is right");
}

}  // namespace trainvigil::formats_of_files
