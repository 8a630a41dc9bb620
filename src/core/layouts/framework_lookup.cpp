// Looks names up in the tables of frameworks.cpp.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/layouts/frameworks.hpp"

namespace trainvigil::layouts {
namespace {

class Interests {
 public:
  Interests() {
    for (std::size_t i = 0; i < certificates().size(); ++i) at(certificates()[i].name).certificates |= bit(i);
    for (std::size_t i = 0; i < unit_rows().size(); ++i)
      if (const auto unit = inside_bit(i)) at(unit_rows()[i].inside).units |= unit;
    for (std::size_t i = 0; i < signatures().size(); ++i) {
      at(signatures()[i].seen).signatures |= bit(i);
      for (auto rest = signatures()[i].needs; !rest.empty();) {
        const auto bar = std::min(rest.find('|'), rest.size());
        at(rest.substr(0, bar)).fulfils |= bit(i);
        rest = rest.substr(std::min(bar + 1, rest.size()));
      }
    }
  }

  [[nodiscard]] Interest of(std::string_view name) const {
    Interest out;
    if (const auto it = exact_.find(name); it != exact_.end()) out = it->second;
    for (const auto& [glob, interest] : globs_) {
      if (!glob_match(glob, name)) continue;
      out.certificates |= interest.certificates;
      out.signatures |= interest.signatures;
      out.fulfils |= interest.fulfils;
      out.units |= interest.units;
    }
    return out;
  }

 private:
  static std::uint64_t bit(std::size_t i) { return 1ULL << i; }
  Interest& at(std::string_view name) {
    if (!name.starts_with('*') && !name.ends_with('*')) return exact_[name];
    for (auto& [glob, interest] : globs_)
      if (glob == name) return interest;
    return globs_.emplace_back(name, Interest{}).second;
  }

  std::unordered_map<std::string_view, Interest> exact_;
  std::vector<std::pair<std::string_view, Interest>> globs_;
};

}  // namespace

Interest interest_of(std::string_view name) {
  static const Interests interests;
  return interests.of(name);
}

std::uint64_t inside_bit(std::size_t row) {
  static const auto bits = [] {
    std::vector<std::uint64_t> out;
    std::size_t used = 0;
    for (const auto& r : unit_rows()) out.push_back(r.inside.empty() ? 0 : 1ULL << used++);
    return out;
  }();
  return bits[row];
}

bool known_inside(std::string_view name) {
  static const std::unordered_set<std::string_view> names(known_names().begin(), known_names().end());
  return names.contains(name);
}

bool glob_match(std::string_view glob, std::string_view name) {
  if (glob.starts_with('*')) return name.ends_with(glob.substr(1));
  if (glob.ends_with('*')) return name.starts_with(glob.substr(0, glob.size() - 1));
  return glob == name;
}

}  // namespace trainvigil::layouts
