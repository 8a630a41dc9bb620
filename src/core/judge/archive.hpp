// Reading and writing a state by one description of its fields, so that the two can not drift apart. A field that is missing or of another type keeps
// its default: an older state stays readable as long as the version says so.
#pragma once

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "trainvigil/bytes.hpp"
#include "trainvigil/time.hpp"

namespace trainvigil::archive {

using Json = nlohmann::json;

template <typename T>
struct is_optional : std::false_type {};
template <typename T>
struct is_optional<std::optional<T>> : std::true_type {};
template <typename T>
struct is_vector : std::false_type {};
template <typename T>
struct is_vector<std::vector<T>> : std::true_type {};
template <typename T>
struct is_array : std::false_type {};
template <typename T, std::size_t N>
struct is_array<std::array<T, N>> : std::true_type {};
template <typename T>
struct is_map : std::false_type {};
template <typename T>
struct is_map<std::map<std::string, T>> : std::true_type {};

struct Writer {
  Json json = Json::object();
  template <typename T>
  void operator()(const char* name, const T& value) {
    json[name] = put(value);
  }

  template <typename T>
  static Json put(const T& value) {
    if constexpr (is_optional<T>::value) {
      return value ? put(*value) : Json(nullptr);
    } else if constexpr (is_vector<T>::value || is_array<T>::value) {
      Json list = Json::array();
      for (const auto& v : value) list.push_back(put(v));
      return list;
    } else if constexpr (is_map<T>::value) {
      Json object = Json::object();
      for (const auto& [k, v] : value) object[escape_bytes(k)] = put(v);
      return object;
    } else if constexpr (std::is_same_v<T, std::string>) {
      return escape_bytes(value);
    } else if constexpr (std::is_same_v<T, Seconds>) {
      return value.count();
    } else if constexpr (std::is_same_v<T, HostTime> || std::is_same_v<T, WatcherTime>) {
      return value.time_since_epoch().count();
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, char>) {
      return static_cast<int>(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else {
      Writer inner;
      describe(inner, const_cast<T&>(value));  // describe only reads through a Writer
      return std::move(inner.json);
    }
  }
};

struct Reader {
  const Json& json;
  template <typename T>
  void operator()(const char* name, T& value) const {
    if (!json.is_object()) return;
    const auto at = json.find(name);
    if (at != json.end()) get(*at, value);
  }

  template <typename T>
  static void get(const Json& j, T& value) {
    if constexpr (is_optional<T>::value) {
      if (j.is_null()) {
        value.reset();
      } else {
        typename T::value_type inner{};
        get(j, inner);
        value = std::move(inner);
      }
    } else if constexpr (is_vector<T>::value) {
      if (!j.is_array()) return;
      value.clear();
      for (const Json& v : j) {
        value.emplace_back();
        get(v, value.back());
      }
    } else if constexpr (is_array<T>::value) {
      if (!j.is_array()) return;
      for (std::size_t i = 0; i < value.size() && i < j.size(); ++i) get(j[i], value[i]);
    } else if constexpr (is_map<T>::value) {
      if (!j.is_object()) return;
      value.clear();
      for (const auto& [k, v] : j.items()) get(v, value[unescape_bytes(k)]);
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (j.is_string()) value = unescape_bytes(j.get_ref<const std::string&>());
    } else if constexpr (std::is_same_v<T, Seconds>) {
      if (j.is_number()) value = Seconds{j.get<double>()};
    } else if constexpr (std::is_same_v<T, HostTime> || std::is_same_v<T, WatcherTime>) {
      if (j.is_number()) value = T{Seconds{j.get<double>()}};
    } else if constexpr (std::is_same_v<T, bool>) {
      if (j.is_boolean()) value = j.get<bool>();
    } else if constexpr (std::is_enum_v<T> || std::is_same_v<T, char>) {
      if (j.is_number_integer()) value = static_cast<T>(j.get<int>());
    } else if constexpr (std::is_arithmetic_v<T>) {
      if (j.is_number()) value = j.get<T>();
    } else {
      const Reader inner{j};
      describe(inner, value);
    }
  }
};

}  // namespace trainvigil::archive
