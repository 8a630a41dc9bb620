// What the entries of one save say by themselves.
#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <tuple>

#include "core/layouts/frameworks.hpp"
#include "core/layouts/saves.hpp"

namespace trainvigil::layouts {
namespace {

constexpr std::int64_t kHeavy = 100'000;
constexpr bool digit(char c) { return c >= '0' && c <= '9'; }

/// Inner name → key in which every number is the same; names that are nothing but hexadecimal (content addresses of tensor stores) are all alike.
std::uint64_t shape_key(std::string_view rel) {
  std::uint64_t h = kHashSeed;
  std::size_t begin = 0;
  while (begin <= rel.size()) {
    auto end = rel.find('/', begin);
    if (end == std::string_view::npos) end = rel.size();
    const auto part = rel.substr(begin, end - begin);
    const bool hex = part.size() >= 6 && part.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
                     part.find_first_of("0123456789") != std::string_view::npos;
    if (hex) {
      h = hash_byte(h, '~');
    } else {
      for (std::size_t i = 0; i < part.size(); ++i) {
        if (!digit(part[i])) {
          h = hash_byte(h, static_cast<unsigned char>(part[i]));
        } else if (i == 0 || !digit(part[i - 1])) {
          h = hash_byte(h, '#');
        }
      }
    }
    h = hash_byte(h, '/');
    begin = end + 1;
  }
  return h;
}

std::optional<std::int64_t> number_at(std::string_view name, std::size_t i) {
  if (i < name.size() && name[i] == '_') ++i;
  std::int64_t value = 0;
  const auto begin = i;
  for (; i < name.size() && digit(name[i]) && i < begin + 9; ++i) value = value * 10 + (name[i] - '0');
  return i == begin ? std::nullopt : std::optional(value);
}

std::optional<std::int64_t> number_behind(std::string_view name, std::string_view word) {
  const auto at = name.rfind(word);
  return at == std::string_view::npos ? std::nullopt : number_at(name, at + word.size());
}

/// Shards seen of each set; what the names promise.
class Shards {
 public:
  void add(std::uint64_t set, std::string_view name) {
    if (const auto of = name.find("-of-"); of != std::string_view::npos) {
      auto begin = of;
      while (begin > 0 && digit(name[begin - 1])) --begin;
      const auto total = number_behind(name, "-of-");
      if (begin < of && total) {
        std::int64_t index = 0;
        for (auto i = begin; i < of && i < begin + 9; ++i) index = index * 10 + (name[i] - '0');
        auto& s = sets_[{set, *total}];
        s.total = *total;
        s.seen.insert(index);
        return;
      }
    }
    const auto world = number_behind(name, "world_size");
    // "zero_pp_rank_3_mp_rank_00": each rank is an axis of its own.
    std::uint64_t axis = 0;
    for (auto at = name.find("rank"); at != std::string_view::npos; at = name.find("rank", at + 4)) {
      const auto rank = number_at(name, at + 4);
      if (!rank) continue;
      auto& s = sets_[{set + ++axis, world.value_or(0)}];
      s.total = world.value_or(0);
      s.ranks = true;
      s.seen.insert(*rank);
    }
  }

  [[nodiscard]] std::string hole() const {
    for (const auto& [key, s] : sets_) {
      const auto count = static_cast<std::int64_t>(s.seen.size());
      if (s.total > 0 && count < s.total) return std::to_string(count) + " of " + std::to_string(s.total) + " shards";
      if (s.ranks && s.total == 0 && !s.seen.empty() && *s.seen.rbegin() - *s.seen.begin() + 1 > count) return "a rank is missing between others";
    }
    return {};
  }

 private:
  struct Set {
    std::int64_t total = 0;
    bool ranks = false;
    std::set<std::int64_t> seen;
  };
  std::map<std::pair<std::uint64_t, std::int64_t>, Set> sets_;
};

class Examiner {
 public:
  Examiner(const Listing& listing, const Collected& collected, const Save& save) : listing_(listing), collected_(collected), save_(save) {}

  Facts run() {
    for (const auto* piece : save_.pieces) {
      if (piece->directory != kNone && collected_.directories[piece->directory].mtime)
        latest(f_.directory_modified, collected_.directories[piece->directory].mtime);
      for (auto i : piece->entries) add(*piece, listing_.entries[i]);
    }
    finish();
    return std::move(f_);
  }

 private:
  static void latest(std::optional<HostTime>& into, std::optional<HostTime> t) {
    if (t && (!into || *t > *into)) into = t;
  }

  void add(const Piece& piece, const FileEntry& e) {
    const bool inside = piece.directory != kNone;
    const std::string_view path = e.path;
    // piece.path is a prefix of the path, but for a leading "./" of the listing.
    const auto lead = path.starts_with("./") && !piece.path.starts_with("./") ? 2U : 0U;
    const auto rel = inside ? path.substr(std::min(lead + piece.path.size() + 1, path.size())) : base_name(path);
    const auto name = base_name(rel);
    const auto ext = inside ? extension_of(name) : Extension{piece.parsed.ext, piece.parsed.ext_kind};
    const bool weights = ext.kind == ExtKind::weights || (!inside && ext.kind != ExtKind::text);
    ++f_.files;
    if (e.bytes) {
      f_.bytes += *e.bytes;
    } else {
      f_.bytes_known = false;
    }
    f_.expected_bytes += e.expected_bytes.value_or(e.bytes.value_or(0));
    if (e.mtime && (!f_.began || *e.mtime < *f_.began)) f_.began = e.mtime;
    latest(f_.modified, e.mtime);
    if (e.bytes.value_or(0) > f_.heaviest_bytes ||
        (e.bytes.value_or(0) == f_.heaviest_bytes && e.mtime && f_.heaviest_modified && *e.mtime > *f_.heaviest_modified)) {
      f_.heaviest_bytes = e.bytes.value_or(0);
      f_.heaviest_modified = e.mtime;
    }
    if (e.integrity == Integrity::truncated && f_.truncated.empty()) f_.truncated = name;
    if (e.integrity == Integrity::bad && f_.bad.empty()) f_.bad = name;
    if (const auto fault = collected_.part_faults.find(path); fault != collected_.part_faults.end()) {
      if (fault->second.cut && f_.truncated.empty()) f_.truncated = name;
      const auto& missing = fault->second.missing;
      if (!missing.empty() && (f_.missing_shard.empty() || missing < f_.missing_shard)) f_.missing_shard = missing;
    }
    const bool heavy = e.bytes.value_or(0) >= kHeavy;
    if (weights) {
      ++f_.weights_files;
      if (e.integrity == Integrity::ok) ++f_.ok_files;
      if (e.integrity == Integrity::unchecked) ++f_.unchecked_files;
      latest(f_.weights_modified, e.mtime);
      if (heavy) latest(f_.heavy_modified, e.mtime);
      if (e.mtime) times_.push_back(*e.mtime);
      if (e.bytes && *e.bytes == 0 && f_.empty_weights.empty()) f_.empty_weights = name;
    }
    if (inside) {
      inner(rel, name, e);
    } else if (ext.text == ".index") {
      index_ = true;
    } else if (ext.text.starts_with(".data-")) {
      data_ = true;
    }
    if (weights || heavy) shape(inside ? shape_key(rel) : piece.parsed.pattern ^ shape_key(piece.parsed.ext), e, weights, rel);
    if (weights || name.find("-of-") != std::string_view::npos || name.find("rank") != std::string_view::npos)
      shards_.add(inside ? shape_key(rel) : piece.parsed.pattern, name);
  }

  void inner(std::string_view rel, std::string_view name, const FileEntry& e) {
    const bool top = rel.size() == name.size();
    const auto folder = rel.substr(0, rel.size() - name.size());
    auto interest = interest_of(name);
    if (!top) {
      const auto first = interest_of(rel.substr(0, rel.find('/')));
      interest.signatures |= first.signatures;
      interest.units |= first.units;
    }
    seen_ |= interest.signatures;
    fulfilled_ |= interest.fulfils;
    f_.inside |= interest.units;
    if (interest.certificates != 0) certificate(interest.certificates, folder, name, top, e);
    if (name.ends_with(".distcp")) folders_to_certify_.insert(folder);
    if (name.ends_with(".metadata.tmp")) f_.temp_inside = name;
    if (!top && (rel.find("orbax-checkpoint-tmp") != std::string_view::npos || rel.find(".tempstate") != std::string_view::npos))
      f_.temp_inside = rel;
    if (name == "latest") f_.inner_pointer = true;
    if (name.starts_with("model") || name.starts_with("pytorch_model") || name == "consolidated.safetensors") {
      if (extension_of(name).kind == ExtKind::weights) model_bytes_ += e.bytes.value_or(0);
    }
    if (name.starts_with("optim")) optimizer_bytes_ = std::max(optimizer_bytes_, e.bytes.value_or(0));
    if (name.ends_with("_states.pt") || name.ends_with(".distcp")) sharded_state_ = true;
  }

  void shape(std::uint64_t key, const FileEntry& e, bool weights, std::string_view rel) {
    raw_.push_back({key, 1, e.bytes.value_or(0), weights, rel});
  }

  void certificate(std::uint64_t rows, std::string_view folder, std::string_view name, bool top, const FileEntry& e) {
    if (certificates()[static_cast<std::size_t>(std::countr_zero(rows))].every_directory) certified_folders_.insert(folder);
    if (!top) return;
    if (e.bytes && *e.bytes == 0 && name.ends_with(".json")) {
      f_.empty_certificate = name;
      return;
    }
    f_.certificates |= rows;
    latest(f_.certificate_modified, e.mtime);
  }

  void finish() {
    std::sort(raw_.begin(), raw_.end(),
              [](const ShapeItem& a, const ShapeItem& b) { return std::tie(a.key, a.example) < std::tie(b.key, b.example); });
    for (const auto& item : raw_) {
      if (!f_.shape.empty() && f_.shape.back().key == item.key) {
        ++f_.shape.back().count;
        f_.shape.back().bytes += item.bytes;
      } else {
        f_.shape.push_back(item);
      }
    }
    std::sort(times_.begin(), times_.end());
    for (std::size_t i = 1; i < times_.size(); ++i) f_.longest_gap = std::max(f_.longest_gap, times_[i] - times_[i - 1]);
    for (auto folder : folders_to_certify_)
      if (!certified_folders_.contains(folder))
        f_.uncertified_directory = folder.empty() ? std::string_view("it") : folder.substr(0, folder.size() - 1);
    const auto signs = signatures();
    for (std::size_t i = 0; i < signs.size(); ++i) {
      if (!(seen_ & (1ULL << i))) continue;
      if (signs[i].needs == "pointer" ? !f_.inner_pointer : !(fulfilled_ & (1ULL << i))) f_.signatures |= 1ULL << i;
    }
    if (f_.missing_shard.empty()) f_.missing_shard = shards_.hole();
    f_.index_without_data = index_ && !data_;
    f_.data_without_index = data_ && !index_;
    f_.tiny_model = model_bytes_ > 0 && model_bytes_ < 1'000'000 && optimizer_bytes_ > 100'000'000 && !sharded_state_;
  }

  const Listing& listing_;
  const Collected& collected_;
  const Save& save_;
  Facts f_;
  Shards shards_;
  std::vector<ShapeItem> raw_;
  std::vector<HostTime> times_;
  std::set<std::string_view> folders_to_certify_, certified_folders_;
  std::uint64_t seen_ = 0, fulfilled_ = 0;
  std::int64_t model_bytes_ = 0, optimizer_bytes_ = 0;
  bool index_ = false, data_ = false, sharded_state_ = false;
};

}  // namespace

Facts examine(const Listing& listing, const Collected& collected, const Save& save) { return Examiner(listing, collected, save).run(); }

}  // namespace trainvigil::layouts
