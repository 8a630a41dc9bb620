// Small helpers between JSON and optional fields: a field that is null, missing or of another type is "not observed", never an error and never 0.
#pragma once

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "trainvigil/bytes.hpp"
#include "trainvigil/time.hpp"

namespace trainvigil::trace_json {

using Json = nlohmann::ordered_json;

inline const Json* member(const Json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

inline std::optional<double> number(const Json& object, const char* key) {
  const Json* v = member(object, key);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  const double d = v->get<double>();
  return std::isfinite(d) ? std::optional{d} : std::nullopt;
}

/// Whole numbers; a fraction is rounded towards zero, what does not fit 64 bits is not observed.
inline std::optional<std::int64_t> integer(const Json& object, const char* key) {
  const Json* v = member(object, key);
  if (v == nullptr || !v->is_number()) return std::nullopt;
  if (v->is_number_unsigned()) {
    const auto u = v->get<std::uint64_t>();
    return u <= static_cast<std::uint64_t>(INT64_MAX) ? std::optional{static_cast<std::int64_t>(u)} : std::nullopt;
  }
  if (v->is_number_integer()) return v->get<std::int64_t>();
  const double d = v->get<double>();
  return std::abs(d) < 9.0e18 ? std::optional{static_cast<std::int64_t>(d)} : std::nullopt;
}

inline std::optional<int> small_integer(const Json& object, const char* key) {
  const auto v = integer(object, key);
  return v && *v >= INT32_MIN && *v <= INT32_MAX ? std::optional{static_cast<int>(*v)} : std::nullopt;
}

inline std::optional<bool> boolean(const Json& object, const char* key) {
  const Json* v = member(object, key);
  return v != nullptr && v->is_boolean() ? std::optional{v->get<bool>()} : std::nullopt;
}

/// A string, with the \xNN escapes turned back into bytes.
inline std::optional<std::string> bytes(const Json& object, const char* key) {
  const Json* v = member(object, key);
  return v != nullptr && v->is_string() ? std::optional{unescape_bytes(v->get_ref<const std::string&>())} : std::nullopt;
}

inline std::optional<Seconds> seconds(const Json& object, const char* key) {
  const auto v = number(object, key);
  return v ? std::optional{Seconds{*v}} : std::nullopt;
}

inline std::optional<HostTime> host_moment(const Json& object, const char* key) {
  const auto v = number(object, key);
  return v ? std::optional{host_time(*v)} : std::nullopt;
}

/// 99 instead of 99.0: shorter, and what a person expects of a percentage.
inline Json plain(double d) {
  if (!std::isfinite(d)) return nullptr;
  if (std::abs(d) < 1e15 && d == std::floor(d)) return static_cast<std::int64_t>(d);
  return d;
}

template <typename T>
Json or_null(const std::optional<T>& value) {
  if (!value) return nullptr;
  if constexpr (std::is_same_v<T, double>) {
    return plain(*value);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return escape_bytes(*value);
  } else if constexpr (std::is_same_v<T, Seconds>) {
    return plain(value->count());
  } else if constexpr (std::is_same_v<T, HostTime> || std::is_same_v<T, WatcherTime>) {
    return plain(value->time_since_epoch().count());
  } else if constexpr (std::is_same_v<T, char>) {
    return escape_bytes(std::string(1, *value));
  } else {
    return *value;
  }
}

}  // namespace trainvigil::trace_json
