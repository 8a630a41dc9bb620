// Result<T>: how the edges (transport, trace, store, config) report failure. The core is total and does not use it.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace trainvigil {

/// What went wrong, where, and what mends it. `what` is one clear sentence without a trailing full stop.
struct Error {
  std::string what;
  std::string where;     ///< file:line:column, path, host … ; empty when it adds nothing
  std::string remedy;    ///< an imperative sentence; empty when there is none
  bool retry = false;    ///< the same call may succeed later
  bool no_room = false;  ///< a disk is full

  /// "where: what. remedy" for stderr; parts that are empty are left out.
  [[nodiscard]] std::string text() const {
    std::string out = where.empty() ? what : where + ": " + what;
    if (!remedy.empty()) out += ". " + remedy;
    return out;
  }
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string what, std::string remedy = {}, std::string where = {}, bool retry = false) {
  return tl::unexpected<Error>(Error{std::move(what), std::move(where), std::move(remedy), retry});
}

}  // namespace trainvigil
