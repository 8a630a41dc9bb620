#include "core/layouts/saves.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace trainvigil::layouts {
namespace {

/// Files of one save are written one after the other; stems whose times lie further apart belong to different jobs.
constexpr Seconds kCompanionGap{600.0};

struct Candidate {
  const Piece* piece = nullptr;
  std::optional<std::int64_t> epoch, step, other, bare;
  std::uint64_t stem = 0;
  std::uint8_t kind = 0;  ///< bit per counter there
  std::optional<HostTime> mtime;

  [[nodiscard]] auto values() const { return std::tie(epoch, step, other, bare); }
};

std::uint8_t kind_of(const Name& n) {
  return static_cast<std::uint8_t>((n.find(Key::epoch) ? 1 : 0) | (n.find(Key::step) ? 2 : 0) | (n.find(Key::other) ? 4 : 0) |
                                   (n.find(Key::bare) ? 8 : 0));
}

std::optional<HostTime> time_of(const Listing& listing, const Piece& piece) {
  std::optional<HostTime> newest;
  for (auto i : piece.entries)
    if (const auto& t = listing.entries[i].mtime; t && (!newest || *t > *newest)) newest = t;
  return newest;
}

std::optional<std::int64_t> value_of(const Counter* c) { return c ? std::optional(c->value) : std::nullopt; }

bool repeated_digits(std::string_view digits) {
  // "2333333", "9999999999": numbers people write for "the latest". Zeros are round numbers, and a short run of nines is an index that begins at 0.
  if (digits.size() < 6) return false;
  const auto tail = digits.substr(1);
  if (tail.find_first_not_of(tail[0]) != std::string_view::npos || tail[0] == '0') return false;
  return tail[0] != '9' || digits.size() > 8;
}

class Assembler {
 public:
  Assembler(const Listing& listing, const Collected& collected) : listing_(listing), collected_(collected) {}

  Assembled run() {
    choose_counters();
    join_stems();
    build_saves();
    build_families();
    build_unnumbered();
    return std::move(out_);
  }

 private:
  void demote(const Piece& piece) {
    if (!piece.thin) loose_.push_back(&piece);
  }

  /// Groups names that differ only in digits and decides which digits count.
  void choose_counters() {
    std::vector<const Piece*> order;
    order.reserve(collected_.numbered.size());
    for (const auto& p : collected_.numbered) {
      const auto cls = p.parsed.cls;
      if (cls == NameClass::best || cls == NameClass::rescue) {
        demote(p);
        continue;
      }
      order.push_back(&p);
    }
    const auto group_key = [](const Piece* p) { return std::tuple(p->container, p->parsed.pattern, p->parsed.count); };
    std::stable_sort(order.begin(), order.end(), [&](const Piece* a, const Piece* b) { return group_key(a) < group_key(b); });
    for (std::size_t i = 0; i < order.size();) {
      std::size_t j = i;
      while (j < order.size() && group_key(order[j]) == group_key(order[i])) ++j;
      choose_in_group({order.begin() + static_cast<std::ptrdiff_t>(i), order.begin() + static_cast<std::ptrdiff_t>(j)});
      i = j;
    }
  }

  void choose_in_group(const std::vector<const Piece*>& group) {
    const auto& first = group.front()->parsed;
    if (first.keyed()) {
      for (const auto* p : group)
        add(*p, value_of(p->parsed.find(Key::epoch)), value_of(p->parsed.find(Key::step)), value_of(p->parsed.find(Key::other)), std::nullopt);
      return;
    }
    std::vector<std::size_t> varying;
    for (std::size_t k = 0; k < first.count; ++k)
      if (std::any_of(group.begin(), group.end(), [&](const Piece* p) { return p->parsed.counters[k].value != first.counters[k].value; }))
        varying.push_back(k);
    const std::size_t last = first.count - 1;
    if (varying.empty()) {
      const auto& c = first.counters[last];
      const auto digits = group.front()->name.substr(c.begin, static_cast<std::size_t>(c.end - c.begin));
      const bool padded = digits.size() > 1 && digits[0] == '0';
      const bool leads = c.begin == 0 && first.store && group.front()->directory == kNone;                       // "5_net_G.pth"
      const bool placed = group.front()->parsed.ext_kind == ExtKind::none && group.front()->directory == kNone;  // taken for its place and size
      const bool folder = group.front()->directory != kNone && !group.front()->thin;
      if (c.weak || repeated_digits(digits) || !(first.strong() || padded || folder || leads || placed)) {
        for (const auto* p : group) demote(*p);
        return;
      }
    }
    // "checkpoint_3_25000": epoch and updates. Scores also vary, but do not grow with the first number.
    const std::size_t e = varying.size() >= 2 ? varying.front() : 0;
    const std::size_t s = varying.size() >= 2 ? varying.back() : last;
    const bool two = first.count >= 2 && (varying.size() >= 2 || (varying.size() <= 1 && first.checkpoint && first.count == 2));
    if (two && pair_grows(group, e, s)) {
      for (const auto* p : group) add(*p, p->parsed.counters[e].value, p->parsed.counters[s].value, std::nullopt, std::nullopt);
      return;
    }
    const std::size_t chosen = varying.empty() ? last : varying.front();
    for (const auto* p : group) add(*p, std::nullopt, std::nullopt, std::nullopt, p->parsed.counters[chosen].value);
  }

  static bool pair_grows(std::vector<const Piece*> group, std::size_t e, std::size_t s) {
    const auto at = [](const Piece* p, std::size_t k) { return p->parsed.counters[k].value; };
    std::sort(group.begin(), group.end(),
              [&](const Piece* a, const Piece* b) { return std::pair(at(a, e), at(a, s)) < std::pair(at(b, e), at(b, s)); });
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (at(group[i], e) > at(group[i], s)) return false;
      if (i > 0 && at(group[i], s) < at(group[i - 1], s)) return false;
    }
    return true;
  }

  void add(const Piece& p, std::optional<std::int64_t> epoch, std::optional<std::int64_t> step, std::optional<std::int64_t> other,
           std::optional<std::int64_t> bare) {
    Candidate c{&p, epoch, step, other, bare, p.parsed.pattern, kind_of(p.parsed), time_of(listing_, p)};
    // Two bare numbers read as epoch and step are a kind of their own.
    if (epoch && step && !p.parsed.keyed()) c.kind = 16;
    candidates_.push_back(c);
  }

  std::uint64_t root(std::uint64_t id) {
    auto found = parent_.find(id);
    while (found != parent_.end() && found->second != id) {
      id = found->second;
      found = parent_.find(id);
    }
    return id;
  }

  static std::uint64_t stem_id(const Candidate& c) {
    return hash_byte(hash_text(c.stem, std::string_view(reinterpret_cast<const char*>(&c.piece->container), sizeof(Index))), c.kind);
  }

  /// Names that share counters and are written together (G_1000 and D_1000, a model and its replay buffer) are one save.
  void join_stems() {
    std::sort(candidates_.begin(), candidates_.end(), [](const Candidate& a, const Candidate& b) {
      const auto key = [](const Candidate& c) {
        return std::tie(c.piece->container, c.kind, c.epoch, c.step, c.other, c.bare, c.stem, c.piece->path);
      };
      return key(a) < key(b);
    });
    for (auto& c : candidates_) parent_.try_emplace(stem_id(c), stem_id(c));
    struct Votes {
      int near = 0, far = 0;
    };
    std::map<std::pair<std::uint64_t, std::uint64_t>, Votes> votes;
    for (std::size_t i = 1; i < candidates_.size(); ++i) {
      const auto& a = candidates_[i - 1];
      const auto& b = candidates_[i];
      if (a.piece->container != b.piece->container || a.kind != b.kind || a.values() != b.values() || a.stem == b.stem) continue;
      auto& v = votes[std::minmax(stem_id(a), stem_id(b))];
      const bool together =
          !a.mtime || !b.mtime || (*a.mtime < *b.mtime ? *b.mtime - *a.mtime : *a.mtime - *b.mtime) <= kCompanionGap || a.piece->aux || b.piece->aux;
      ++(together ? v.near : v.far);
    }
    for (const auto& [pair, v] : votes)
      if (v.near >= v.far) {
        const auto a = root(pair.first);
        const auto b = root(pair.second);
        parent_[std::max(a, b)] = std::min(a, b);
      }
    for (auto& c : candidates_) c.stem = root(stem_id(c));
  }

  void build_saves() {
    const auto key = [](const Candidate& c) {
      return std::tuple(c.piece->container, c.stem, c.epoch, c.step, c.other, c.bare, c.piece->parsed.version,
                        static_cast<int>(c.piece->parsed.cls == NameClass::latest));
    };
    std::stable_sort(candidates_.begin(), candidates_.end(), [&](const Candidate& a, const Candidate& b) { return key(a) < key(b); });
    out_.saves.reserve(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size();) {
      auto& save = out_.saves.emplace_back();
      std::size_t j = i;
      bool thin = true;
      for (; j < candidates_.size() && key(candidates_[j]) == key(candidates_[i]); ++j) {
        const auto& p = *candidates_[j].piece;
        (p.aux ? save.companions : save.pieces).push_back(&p);
        thin = thin && p.thin;
      }
      if (save.pieces.empty()) save.pieces.swap(save.companions);
      if (listing_.cut_before && torn_by_cut(save)) {
        out_.saves.pop_back();
        i = j;
        continue;
      }
      lead_first(save);
      const auto& c = candidates_[i];
      save.container = c.piece->container;
      save.lineage = collected_.directories[save.container].lineage;
      save.epoch = c.epoch;
      save.step = c.step;
      save.other = c.other;
      save.bare = c.bare;
      save.version = c.piece->parsed.version;
      save.cls = c.piece->parsed.cls;
      save.stem = c.stem;
      thin_.push_back(thin);
      kinds_.push_back(c.kind);
      names_.push_back(hash_byte(save.pieces.front()->parsed.pattern, c.kind));
      i = j;
    }
  }

  /// The listing leaves out what is older than it can hold. A save from around then lacks files here that it has on the host: nothing can be said of
  /// it.
  [[nodiscard]] bool torn_by_cut(const Save& save) const {
    constexpr Seconds kLongestSave{900.0};
    std::optional<HostTime> first;
    std::size_t entries = 0;
    const auto earlier = [&first](const std::optional<HostTime>& t) {
      if (t && (!first || *t < *first)) first = t;
    };
    for (const auto* p : save.pieces) {
      entries += p->entries.size();
      for (auto i : p->entries) earlier(listing_.entries[i].mtime);
      if (p->directory != kNone) earlier(collected_.directories[p->directory].mtime);
    }
    const bool single = entries == 1 && save.pieces.size() == 1 && save.pieces.front()->directory == kNone;
    return !single && first && *first < *listing_.cut_before + kLongestSave;
  }

  /// The piece a person would name: weights before optimizer states, then the shortest and first name.
  static void lead_first(Save& save) {
    const auto rank = [](const Piece* p) {
      return std::tuple(p->parsed.cls == NameClass::resume || extension_of_state(p->parsed.ext), p->name.size(), p->path);
    };
    std::sort(save.pieces.begin(), save.pieces.end(), [&](const Piece* a, const Piece* b) { return rank(a) < rank(b); });
  }

  void build_families() {
    // Across sibling run directories the family is told by the smallest pattern among its stems.
    std::unordered_map<std::uint64_t, std::uint64_t> smallest;
    for (std::size_t i = 0; i < out_.saves.size(); ++i) {
      auto [it, fresh] = smallest.try_emplace(out_.saves[i].stem, names_[i]);
      if (!fresh) it->second = std::min(it->second, names_[i]);
    }
    std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint8_t>, std::vector<Index>> groups;
    for (std::size_t i = 0; i < out_.saves.size(); ++i) {
      const auto& s = out_.saves[i];
      groups[{s.lineage, smallest[s.stem], kinds_[i]}].push_back(static_cast<Index>(i));
    }
    bool dropped = false;
    for (auto& [group, members] : groups) {
      const bool all_thin = std::all_of(members.begin(), members.end(), [&](Index i) { return thin_[i]; });
      if (all_thin && !plausible_when_thin(members)) {
        dropped = true;
        continue;
      }
      Family family;
      for (Index i : members) {
        auto& s = out_.saves[i];
        family.has_epoch |= s.epoch.has_value();
        family.has_step |= s.step.has_value();
        family.has_other |= s.other.has_value();
        family.has_bare |= s.bare.has_value();
        s.family = static_cast<Index>(out_.families.size());
        family.saves.push_back(i);
        s.facts = examine(listing_, collected_, s);
      }
      std::sort(family.saves.begin(), family.saves.end(), [&](Index a, Index b) { return counter_less(out_.saves[a], out_.saves[b]); });
      out_.families.push_back(std::move(family));
    }
    if (dropped) forget_homeless();
  }

  /// Takes out the saves that got no family.
  void forget_homeless() {
    std::vector<Save> kept;
    std::vector<Index> moved(out_.saves.size(), kNone);
    for (std::size_t i = 0; i < out_.saves.size(); ++i) {
      if (out_.saves[i].family == kNone) continue;
      moved[i] = static_cast<Index>(kept.size());
      kept.push_back(std::move(out_.saves[i]));
    }
    out_.saves = std::move(kept);
    for (auto& family : out_.families)
      for (auto& i : family.saves) i = moved[i];
  }

  /// Nothing but small files: a save that has just begun looks so, and so does a folder of pictures.
  [[nodiscard]] bool plausible_when_thin(const std::vector<Index>& members) const {
    if (members.size() > 1) return false;
    const auto& p = *out_.saves[members.front()].pieces.front();
    return p.directory != kNone && (p.parsed.checkpoint || p.parsed.keyed()) && !collected_.directories[p.directory].files_below;
  }

  void build_unnumbered() {
    std::map<std::tuple<Index, std::uint64_t, bool>, std::size_t> shards;
    const auto place = [&](const Piece& p) {
      if (p.parsed.shard || p.parsed.shard_total) {
        const auto [it, fresh] = shards.try_emplace({p.container, p.parsed.pattern, p.parsed.shard_total.has_value()}, out_.unnumbered.size());
        if (!fresh) {
          out_.unnumbered[it->second].pieces.push_back(&p);
          return;
        }
      }
      Save s;
      s.pieces.push_back(&p);
      s.container = p.container;
      s.lineage = collected_.directories[p.container].lineage;
      s.cls = p.parsed.cls;
      s.stem = p.parsed.pattern;
      s.timestamp = p.parsed.timestamp;
      out_.unnumbered.push_back(std::move(s));
    };
    for (const auto& p : collected_.unnumbered) place(p);
    join_sentinels(place);
    std::map<std::pair<Index, std::uint64_t>, std::vector<Index>> dated;
    for (std::size_t i = 0; i < out_.unnumbered.size(); ++i) {
      auto& s = out_.unnumbered[i];
      s.facts = examine(listing_, collected_, s);
      if (s.timestamp) dated[{s.container, s.stem}].push_back(static_cast<Index>(i));
    }
    for (auto& [key, members] : dated) out_.dated.push_back(std::move(members));
  }

  /// G_2333333 and D_2333333 are halves of one in-place save.
  void join_sentinels(auto&& place) {
    std::map<std::pair<Index, std::int64_t>, std::size_t> pairs;
    for (const auto* p : loose_) {
      const bool plain = p->parsed.cls == NameClass::none && p->parsed.count > 0 && !p->parsed.keyed();
      if (!plain) {
        place(*p);
        continue;
      }
      const auto [it, fresh] = pairs.try_emplace({p->container, p->parsed.counters[p->parsed.count - 1].value}, out_.unnumbered.size());
      if (fresh) {
        place(*p);
      } else {
        out_.unnumbered[it->second].pieces.push_back(p);
      }
    }
  }

  const Listing& listing_;
  const Collected& collected_;
  Assembled out_;
  std::vector<const Piece*> loose_;
  std::vector<Candidate> candidates_;
  std::unordered_map<std::uint64_t, std::uint64_t> parent_;
  std::vector<bool> thin_;
  std::vector<std::uint8_t> kinds_;
  std::vector<std::uint64_t> names_;
};

}  // namespace

bool counter_equal(const Save& a, const Save& b) { return std::tie(a.epoch, a.step, a.other, a.bare) == std::tie(b.epoch, b.step, b.other, b.bare); }

bool counter_less(const Save& a, const Save& b) {
  const auto counters = [](const Save& s) { return std::tie(s.epoch, s.step, s.other, s.bare); };
  if (counters(a) != counters(b)) return counters(a) < counters(b);
  return std::pair(written_at(a), a.path()) < std::pair(written_at(b), b.path());
}

Assembled assemble(const Listing& listing, const Collected& collected) { return Assembler(listing, collected).run(); }

}  // namespace trainvigil::layouts
