#pragma once

#include <string_view>

#include "core/layouts/name.hpp"

namespace trainvigil::layouts {

struct Unfinished {
  NameKind kind = NameKind::plain;
  std::string_view target;  ///< the name without what makes it unfinished
};

/// `lower` is `name` in lower case, byte for byte.
Unfinished unfinished_name(std::string_view name, std::string_view lower);

}  // namespace trainvigil::layouts
