// SQLite, spoken to safely: handles are owned, every failure is an exception that ends in history.cpp. Private to store.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace trainvigil::store {

class DatabaseError : public std::runtime_error {
 public:
  DatabaseError(int code, const std::string& what) : std::runtime_error(what), code_(code) {}
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
};

class Database;

/// A prepared statement. Parameters are bound in order from 1.
class Statement {
 public:
  Statement(sqlite3* database, std::string_view sql);

  Statement& bind(std::int64_t value);
  Statement& bind(double value);
  Statement& bind(std::string_view text);
  Statement& bind_blob(std::string_view bytes);
  Statement& bind_null();
  Statement& bind(const std::optional<std::string>& value) { return value ? bind(std::string_view(*value)) : bind_null(); }
  Statement& bind(std::optional<std::int64_t> value) { return value ? bind(*value) : bind_null(); }
  Statement& bind(std::optional<double> value) { return value ? bind(*value) : bind_null(); }

  /// True while there is a row.
  bool step();
  /// For statements without rows.
  void run() {
    while (step()) {
    }
  }
  void reset();

  [[nodiscard]] bool is_null(int column) const;
  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] double real(int column) const;
  [[nodiscard]] std::string text(int column) const;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer(int column) const;
  [[nodiscard]] std::optional<double> maybe_real(int column) const;
  [[nodiscard]] std::optional<std::string> maybe_text(int column) const;

 private:
  void check(int code) const;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int next_ = 1;
};

class Database {
 public:
  explicit Database(const std::string& path);

  void execute(const char* sql);
  /// Becomes a copy of what the file holds; the file is read only, and what its write-ahead log holds besides is left out.
  void copy_from(const std::string& path);
  [[nodiscard]] Statement prepare(std::string_view sql) const { return {handle_.get(), sql}; }
  [[nodiscard]] std::int64_t last_id() const { return sqlite3_last_insert_rowid(handle_.get()); }
  [[nodiscard]] int changed() const { return sqlite3_changes(handle_.get()); }

 private:
  struct Close {
    void operator()(sqlite3* d) const { sqlite3_close_v2(d); }
  };
  std::unique_ptr<sqlite3, Close> handle_;
};

/// Takes the write lock at once, so that what is read inside can not be overtaken; rolls back unless committed.
class WriteTransaction {
 public:
  explicit WriteTransaction(Database& database);
  ~WriteTransaction();
  WriteTransaction(const WriteTransaction&) = delete;
  WriteTransaction& operator=(const WriteTransaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace trainvigil::store
