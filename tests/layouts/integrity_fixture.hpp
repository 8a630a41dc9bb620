// Reads what check_integrity asks for, from a file or from bytes in memory, and keeps to the promises of integrity.hpp.
#pragma once

#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainvigil/checksum.hpp"
#include "trainvigil/integrity.hpp"

namespace trainvigil::test {

inline std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("no " + path);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline IntegrityStep integrity_of(std::string_view name, const std::string& content, bool whole = false) {
  std::vector<ByteChunk> chunks;
  std::vector<StretchSum> sums;
  for (int round = 0; round <= kMostIntegrityRounds; ++round) {
    auto step = check_integrity(name, static_cast<std::int64_t>(content.size()), chunks, whole, sums);
    if (step.more.empty() && step.stretches.empty()) return step;
    for (const auto& range : step.more) {
      if (range.length <= 0 || range.length > kLargestRead || range.offset < 0) throw std::runtime_error("asked for an impossible range");
      const auto begin = std::min(static_cast<std::size_t>(range.offset), content.size());
      chunks.push_back({range.offset, content.substr(begin, static_cast<std::size_t>(range.length))});
    }
    for (const auto& s : step.stretches) {
      if (!whole || s.length <= 0 || s.offset < 0 || s.offset + s.length > static_cast<std::int64_t>(content.size()))
        throw std::runtime_error("asked for an impossible stretch");
      // Packed ones are left to the tests with a real gzip.
      const auto bytes = std::string_view(content).substr(static_cast<std::size_t>(s.offset), static_cast<std::size_t>(s.length));
      sums.push_back({s.offset, s.length, s.inflated ? s.inflated->crc32 : crc32(bytes)});
    }
  }
  throw std::runtime_error("too many rounds");
}

inline std::string little(std::uint64_t value, int width) {
  std::string out;
  for (int i = 0; i < width; ++i) out += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return out;
}

inline std::string safetensors(std::size_t elements, const std::string& padding = "") {
  const std::string header = R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[)" + std::to_string(elements) +
                             R"(],"data_offsets":[0,)" + std::to_string(4 * elements) + R"(]},"b":{"dtype":"I64","shape":[2,3],"data_offsets":[)" +
                             std::to_string(4 * elements) + "," + std::to_string(4 * elements + 48) + "]}}" + padding;
  return little(header.size(), 8) + header + std::string(4 * elements + 48, '\x5a');
}

/// An archive with stored members; zip64 end records as torch.save writes them.
inline std::string zip(const std::vector<std::pair<std::string, std::string>>& members, bool zip64, const std::string& comment = "") {
  std::string out, directory;
  for (const auto& [name, data] : members) {
    const auto offset = out.size();
    out += "PK\x03\x04" + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(crc32(data), 4) + little(data.size(), 4) +
           little(data.size(), 4) + little(name.size(), 2) + little(0, 2) + name + data;
    directory += "PK\x01\x02" + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(crc32(data), 4) +
                 little(data.size(), 4) + little(data.size(), 4) + little(name.size(), 2) + little(0, 2) + little(0, 2) + little(0, 2) +
                 little(0, 2) + little(0, 4) + little(offset, 4) + name;
  }
  const auto start = out.size();
  out += directory;
  if (zip64) {
    const auto record = out.size();
    out += "PK\x06\x06" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 4) + little(0, 4) + little(members.size(), 8) +
           little(members.size(), 8) + little(directory.size(), 8) + little(start, 8);
    out += "PK\x06\x07" + little(0, 4) + little(record, 8) + little(1, 4);
  }
  return out + "PK\x05\x06" + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) + little(directory.size(), 4) +
         little(zip64 ? 0xFFFFFFFF : start, 4) + little(comment.size(), 2) + comment;
}

inline std::string npy(std::size_t elements) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }";
  header.resize((10 + header.size() + 64) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  return std::string("\x93NUMPY\x01\x00", 8) + little(header.size(), 2) + header + std::string(8 * elements, '\x33');
}

/// Two key-value pairs, a tensor of 32-bit numbers and one of blocks. `vocabulary`: bytes of a third pair.
inline std::string gguf(std::size_t vocabulary = 0, bool pad_the_end = true) {
  const auto text = [](const std::string& s) { return little(s.size(), 8) + s; };
  std::string out = "GGUF" + little(3, 4) + little(2, 8) + little(vocabulary > 0 ? 3 : 2, 8);
  out += text("general.name") + little(8, 4) + text("made by a test");
  out += text("a.list") + little(9, 4) + little(8, 4) + little(2, 8) + text("one") + text("two");
  if (vocabulary > 0) out += text("tokens") + little(9, 4) + little(0, 4) + little(vocabulary, 8) + std::string(vocabulary, 'v');
  out += text("w") + little(2, 4) + little(10, 8) + little(3, 8) + little(0, 4) + little(0, 8);  // 120 bytes
  out += text("q") + little(1, 4) + little(64, 8) + little(2, 4) + little(128, 8);               // 36 bytes behind 8 of padding
  out.resize((out.size() + 31) / 32 * 32, '\0');
  out += std::string(120, 'w') + std::string(8, '\0') + std::string(36, 'q');
  return pad_the_end ? out + std::string(28, '\0') : out;
}

inline std::string hdf5(std::size_t size, std::uint32_t flags = 0) {
  std::string out = std::string("\x89HDF\r\n\x1a\n", 8) + std::string(5, '\0') + "\x08\x08" + std::string(1, '\0') + little(4, 2) + little(16, 2) +
                    little(flags, 4);
  out += little(0, 8) + little(~0ULL, 8) + little(size, 8) + little(~0ULL, 8);
  out.resize(size, '\x44');
  return out;
}

/// Blocks as LevelDB builds them: one of data, an empty one, and the index of the first.
inline std::string table(std::size_t data) {
  const auto closed = [](std::string block) {
    block += '\0';
    return block + little(masked_crc32c(block), 4);
  };
  const auto restart = little(0, 4) + little(1, 4);
  std::string out = closed(std::string("\0\0\x05", 3) + std::string(data, 'k') + restart);
  const auto data_length = out.size() - 5;
  const auto meta = out.size();
  out += closed(restart);
  const auto index = out.size();
  const auto varint = [](std::uint64_t v) {
    std::string s;
    for (; v >= 128; v >>= 7U) s += static_cast<char>(0x80U | (v & 0x7FU));
    return s + static_cast<char>(v);
  };
  const std::string handle = varint(0) + varint(data_length);
  out += closed(std::string("\0\x01", 2) + static_cast<char>(handle.size()) + "z" + handle + restart);
  std::string footer = varint(meta) + varint(8) + varint(index) + varint(out.size() - index - 5);
  footer.resize(40, '\0');
  return out + footer + "\x57\xFB\x80\x8B\x24\x75\x47\xDB";
}

}  // namespace trainvigil::test
