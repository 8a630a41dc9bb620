// Formats that are streams of text: JSON and its binary cousin. Their end tells less than a directory does.
#include <algorithm>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {

IntegrityStep check_json(const Window& w) {
  const auto all = w.at(0, w.size());
  const auto text = all ? *all : w.at(0, std::min(w.size(), kHead)).value_or(std::string_view{});
  constexpr std::string_view byte_order("\xEF\xBB\xBF");
  if (byte_order.starts_with(text)) return verdict(Integrity::truncated, "nothing in it yet");
  const auto mark = text.starts_with(byte_order) ? byte_order.size() : 0;
  const auto first = text.find_first_not_of(" \t\r\n", mark);
  if (first == std::string_view::npos) return verdict(Integrity::truncated, "nothing in it yet");
  if (text[first] != '{' && text[first] != '[') return verdict(Integrity::unchecked, "not an object or list");
  if (!all) {
    const auto tail = w.at(w.size() - kTail, kTail).value_or(std::string_view{});
    const auto end = tail.find_last_not_of(" \t\r\n");
    const char close = text[first] == '{' ? '}' : ']';
    if (end == std::string_view::npos || tail[end] != close) return verdict(Integrity::truncated, "does not end as it begins");
    // Of indented text only the outermost bracket stands at the beginning of a line.
    return end > 0 && tail[end - 1] == '\n' ? verdict(Integrity::ok, "ends as it begins") : verdict(Integrity::unchecked, "too long to read");
  }
  std::string open;
  bool in_string = false;
  std::size_t values = 0;
  for (std::size_t i = first; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '\0') return verdict(Integrity::truncated, "zeros where text should be");
    if (open.empty() && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      if (c != '{' && c != '[') return verdict(Integrity::bad, "not JSON");
      if (values > 0) return verdict(Integrity::unchecked, "more than one value");
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return verdict(Integrity::bad, "brackets do not match");
      open.pop_back();
      if (open.empty()) ++values;
    }
  }
  return open.empty() && !in_string ? verdict(Integrity::ok, "whole JSON") : verdict(Integrity::truncated, "the JSON is cut short");
}

IntegrityStep check_ubjson(const Window& w) {
  const auto first = w.at(0, 1), last = w.at(w.size() - 1, 1);
  if (first && *first == "{" && last && *last != "}") return verdict(Integrity::truncated, "does not end as it begins");
  return verdict(Integrity::unchecked, "its end tells little");
}

}  // namespace trainvigil::formats_of_files
