// Text as a regular expression.
#pragma once

#include <string>
#include <string_view>

namespace trainvigil::app {

/// A POSIX extended regular expression that matches exactly this text.
std::string regex_literal(std::string_view text);

}  // namespace trainvigil::app
