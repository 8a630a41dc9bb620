#include "app/regex_text.hpp"

namespace trainvigil::app {

std::string regex_literal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\.[](){}*+?^$|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace trainvigil::app
