#include "app/json_text.hpp"

#include <array>
#include <cmath>
#include <cstdio>

#include "trainvigil/bytes.hpp"

namespace trainvigil::app {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", static_cast<unsigned>(c));
      out += escape.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

std::string json_string(std::string_view bytes) { return quoted(escape_bytes(bytes)); }

std::string json_prose(std::string_view words) {
  std::string text = harmless(words);
  return text == words ? quoted(text) : json_string(words);
}

JsonObject& JsonObject::number(const char* key, std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return raw(key, "null");
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.15g", *value);
  return raw(key, text.data());
}

JsonObject& JsonObject::raw(const char* key, std::string_view value) {
  body_ += (body_.empty() ? "{" : ",") + json_string(key) + ":";
  body_ += value;
  return *this;
}

JsonObject& JsonObject::list(const char* key, const std::vector<std::string>& values) {
  std::string all;
  for (const std::string& value : values) all += (all.empty() ? "" : ",") + value;
  return raw(key, "[" + all + "]");
}

}  // namespace trainvigil::app
