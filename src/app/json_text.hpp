// JSON objects for the answers of commands: keys in the order of the calls, absent values as null. Verdicts have their own format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainvigil::app {

std::string json_string(std::string_view bytes);
std::string json_prose(std::string_view words);

class JsonObject {
 public:
  JsonObject& text(const char* key, std::string_view value) { return raw(key, json_string(value)); }
  /// A name or sentence that is printable by itself: bytes that are no text stand escaped in it already.
  JsonObject& prose(const char* key, std::string_view value) { return raw(key, json_prose(value)); }
  JsonObject& text(const char* key, const std::optional<std::string>& value) {
    return value ? text(key, std::string_view(*value)) : raw(key, "null");
  }
  JsonObject& text(const char* key, const std::string& value) { return text(key, std::string_view(value)); }
  JsonObject& text(const char* key, const char* value) { return text(key, std::string_view(value)); }
  JsonObject& number(const char* key, std::optional<double> value);
  JsonObject& integer(const char* key, std::optional<std::int64_t> value) { return raw(key, value ? std::to_string(*value) : "null"); }
  JsonObject& boolean(const char* key, bool value) { return raw(key, value ? "true" : "false"); }
  /// `value` is JSON already.
  JsonObject& raw(const char* key, std::string_view value);
  JsonObject& list(const char* key, const std::vector<std::string>& values);
  [[nodiscard]] std::string str() const { return body_.empty() ? "{}" : body_ + "}"; }

 private:
  std::string body_;
};

}  // namespace trainvigil::app
