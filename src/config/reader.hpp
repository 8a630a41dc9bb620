// Strict reading of one TOML table: what is asked for is checked, what was not asked for is an error. Private to config.
#pragma once

#include <toml++/toml.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "trainvigil/config.hpp"

namespace trainvigil::config {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}
  void add(const toml::source_region& place, std::string what, std::string remedy = {});
  [[nodiscard]] bool empty() const { return found_.empty(); }
  [[nodiscard]] std::size_t count() const { return found_.size(); }
  /// In the order of the file.
  ConfigErrors take();

 private:
  struct Found {
    toml::source_position at;
    Error error;
  };
  std::string file_;
  std::vector<Found> found_;
};

struct Limits {
  Seconds lowest{0.001};
  Seconds highest{86400.0 * 3650};
};

class TableReader {
 public:
  /// `title` names the table in messages: "[[job]]", "the top level".
  TableReader(const toml::table& table, std::string title, Problems& problems) : table_(table), title_(std::move(title)), problems_(problems) {}

  std::optional<std::string> text(const char* key);
  std::optional<std::string> regex(const char* key);
  std::optional<Seconds> duration(const char* key, Limits limits = {});
  std::optional<std::int64_t> integer(const char* key, std::int64_t lowest, std::int64_t highest);
  std::optional<std::vector<int>> integers(const char* key, int lowest, int highest);
  /// The node itself, whatever it is; counts as known.
  const toml::node* node(const char* key);
  void fault(const char* key, std::string what, std::string remedy = {});
  /// Every key that nobody asked for is an error.
  void refuse_the_rest();

 private:
  const toml::node* typed(const char* key, toml::node_type wanted, const char* as_words);

  const toml::table& table_;
  std::string title_;
  Problems& problems_;
  std::vector<std::string> asked_;
};

}  // namespace trainvigil::config
