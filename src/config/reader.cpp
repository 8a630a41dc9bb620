#include "config/reader.hpp"

#include <algorithm>
#include <tuple>

#include "trainvigil/bytes.hpp"
#include "trainvigil/duration.hpp"
#include "trainvigil/suggest.hpp"

namespace trainvigil::config {
namespace {

const char* type_words(toml::node_type type) {
  switch (type) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "a list";
    case toml::node_type::string:
      return "a text";
    case toml::node_type::integer:
      return "a whole number";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    case toml::node_type::date:
    case toml::node_type::time:
    case toml::node_type::date_time:
      return "a date or time without quotes";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

std::string quoted(std::string_view text) { return "\"" + harmless(text) + "\""; }

std::string range(std::int64_t lowest, std::int64_t highest) { return "from " + std::to_string(lowest) + " to " + std::to_string(highest); }

}  // namespace

void Problems::add(const toml::source_region& place, std::string what, std::string remedy) {
  const auto& at = place.begin;
  Error error{std::move(what), file_ + ":" + std::to_string(at.line) + ":" + std::to_string(at.column), std::move(remedy), false};
  found_.push_back({at, std::move(error)});
}

ConfigErrors Problems::take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const Found& a, const Found& b) { return std::tie(a.at.line, a.at.column) < std::tie(b.at.line, b.at.column); });
  ConfigErrors out;
  for (Found& found : found_) out.push_back(std::move(found.error));
  return out;
}

const toml::node* TableReader::node(const char* key) {
  asked_.emplace_back(key);
  return table_.get(key);
}

void TableReader::fault(const char* key, std::string what, std::string remedy) {
  const toml::node* value = table_.get(key);
  problems_.add(value != nullptr ? value->source() : table_.source(), std::move(what), std::move(remedy));
}

const toml::node* TableReader::typed(const char* key, toml::node_type wanted, const char* as_words) {
  const toml::node* value = node(key);
  if (value == nullptr || value->type() == wanted) return value;
  fault(key, std::string(key) + " is " + type_words(value->type()) + ", not " + type_words(wanted), std::string("Write ") + as_words);
  return nullptr;
}

std::optional<std::string> TableReader::text(const char* key) {
  const toml::node* value = typed(key, toml::node_type::string, (std::string(key) + " = \"…\"").c_str());
  if (value == nullptr) return std::nullopt;
  std::string out = **value->as_string();
  if (out.empty() || out.find('\0') != std::string::npos) {
    fault(key, std::string(key) + (out.empty() ? " is empty" : " holds a NUL character"), "Leave the key out where it does not apply");
    return std::nullopt;
  }
  return out;
}

std::optional<std::string> TableReader::regex(const char* key) {
  auto out = text(key);
  if (!out) return out;
  if (const auto what = regex_fault(*out)) {
    fault(key, std::string(key) + ": " + *what, "Write a POSIX extended regular expression, as for grep -E");
    return std::nullopt;
  }
  return out;
}

std::optional<Seconds> TableReader::duration(const char* key, Limits limits) {
  const toml::node* value = typed(key, toml::node_type::string, (std::string(key) + " = \"90s\", \"15m\", \"2h30m\" or \"1d\"").c_str());
  if (value == nullptr) return std::nullopt;
  const std::string& words = **value->as_string();
  const auto out = parse_duration(words);
  if (!out) {
    fault(key, std::string(key) + " = " + quoted(words) + " is no duration", "Write it like 90s, 15m, 2h30m, 1d or 500ms");
    return std::nullopt;
  }
  if (*out < limits.lowest || *out > limits.highest) {
    fault(key, std::string(key) + " = " + quoted(words) + " is out of range",
          "Choose from " + format_duration(limits.lowest) + " to " + format_duration(limits.highest));
    return std::nullopt;
  }
  return out;
}

std::optional<std::int64_t> TableReader::integer(const char* key, std::int64_t lowest, std::int64_t highest) {
  const toml::node* value = typed(key, toml::node_type::integer, (std::string(key) + " = 5, without quotes").c_str());
  if (value == nullptr) return std::nullopt;
  const std::int64_t out = **value->as_integer();
  if (out < lowest || out > highest) {
    fault(key, std::string(key) + " = " + std::to_string(out) + " is out of range", "Choose " + range(lowest, highest));
    return std::nullopt;
  }
  return out;
}

std::optional<std::vector<int>> TableReader::integers(const char* key, int lowest, int highest) {
  const toml::node* value = typed(key, toml::node_type::array, (std::string(key) + " = [0, 1]").c_str());
  if (value == nullptr) return std::nullopt;
  std::vector<int> out;
  for (const toml::node& item : *value->as_array()) {
    const auto* number = item.as_integer();
    const bool good = number != nullptr && number->get() >= lowest && number->get() <= highest;
    const int as_int = good ? static_cast<int>(number->get()) : 0;
    if (!good || std::find(out.begin(), out.end(), as_int) != out.end()) {
      problems_.add(item.source(), std::string(key) + " holds something else than different whole numbers", "Choose " + range(lowest, highest));
      return std::nullopt;
    }
    out.push_back(as_int);
  }
  if (out.empty()) {
    fault(key, std::string(key) + " is an empty list", "Leave the key out where it does not apply");
    return std::nullopt;
  }
  return out;
}

void TableReader::refuse_the_rest() {
  for (auto&& [key, value] : table_) {
    const std::string name(key.str());
    if (std::find(asked_.begin(), asked_.end(), name) != asked_.end()) continue;
    const std::string hint = did_you_mean(name, asked_);
    problems_.add(key.source(), "unknown key " + quoted(name) + " in " + title_ + (hint.empty() ? "" : "; " + hint));
  }
}

}  // namespace trainvigil::config
