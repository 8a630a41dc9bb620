#include "store/database.hpp"

#include <array>

namespace trainvigil::store {
namespace {

/// How long a process waits for another one's turn, which takes milliseconds. Longer than any that is healthy.
constexpr int kBusyMilliseconds = 15'000;

}  // namespace

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  statement_.reset(raw);
  if (code != SQLITE_OK) throw DatabaseError(sqlite3_extended_errcode(database), sqlite3_errmsg(database));
}

void Statement::check(int code) const {
  if (code == SQLITE_OK) return;
  sqlite3* database = sqlite3_db_handle(statement_.get());
  throw DatabaseError(sqlite3_extended_errcode(database), sqlite3_errmsg(database));
}

Statement& Statement::bind(std::int64_t value) {
  check(sqlite3_bind_int64(statement_.get(), next_++, value));
  return *this;
}

Statement& Statement::bind(double value) {
  check(sqlite3_bind_double(statement_.get(), next_++, value));
  return *this;
}

// The two `64` calls take their destructor as a function pointer; a null one means that the bytes outlive the step, which callers see to by stepping
// within the full expression or with named values.
Statement& Statement::bind(std::string_view text) {
  check(sqlite3_bind_text64(statement_.get(), next_++, text.data() == nullptr ? "" : text.data(), text.size(), nullptr, SQLITE_UTF8));
  return *this;
}

Statement& Statement::bind_blob(std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_.get(), next_++, bytes.data() == nullptr ? "" : bytes.data(), bytes.size(), nullptr));
  return *this;
}

Statement& Statement::bind_null() {
  check(sqlite3_bind_null(statement_.get(), next_++));
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) check(code);
  return false;
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
  next_ = 1;
}

bool Statement::is_null(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }
std::int64_t Statement::integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

std::string Statement::text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string{} : std::string(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

std::optional<std::int64_t> Statement::maybe_integer(int column) const { return is_null(column) ? std::nullopt : std::optional(integer(column)); }
std::optional<double> Statement::maybe_real(int column) const { return is_null(column) ? std::nullopt : std::optional(real(column)); }
std::optional<std::string> Statement::maybe_text(int column) const { return is_null(column) ? std::nullopt : std::optional(text(column)); }

Database::Database(const std::string& path) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(raw);
  if (code != SQLITE_OK) throw DatabaseError(code, raw == nullptr ? "out of memory" : sqlite3_errmsg(raw));
  sqlite3_extended_result_codes(raw, 1);
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
}

void Database::execute(const char* sql) {
  if (sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    throw DatabaseError(sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
}

void Database::copy_from(const std::string& path) {
  // `immutable`: without locks and side files, for which there may be no room. A question mark or percent sign would end the path of a URI.
  std::string uri = "file:";
  for (const char c : path) {
    if (c == '?' || c == '#' || c == '%') {
      constexpr std::string_view kDigits = "0123456789abcdef";
      uri += '%';
      uri += kDigits[static_cast<unsigned char>(c) >> 4U];
      uri += kDigits[static_cast<unsigned char>(c) & 0xFU];
    } else {
      uri += c;
    }
  }
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2((uri + "?immutable=1").c_str(), &raw, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nullptr);
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close_v2)> source(raw, &sqlite3_close_v2);
  if (code != SQLITE_OK) throw DatabaseError(code, raw == nullptr ? "out of memory" : sqlite3_errmsg(raw));
  sqlite3_backup* backup = sqlite3_backup_init(handle_.get(), "main", raw, "main");
  if (backup == nullptr) throw DatabaseError(sqlite3_extended_errcode(handle_.get()), sqlite3_errmsg(handle_.get()));
  sqlite3_backup_step(backup, -1);
  const int copied = sqlite3_backup_finish(backup);
  if (copied != SQLITE_OK) throw DatabaseError(copied, sqlite3_errstr(copied));
}

WriteTransaction::WriteTransaction(Database& database) : database_(database) { database_.execute("BEGIN IMMEDIATE"); }

WriteTransaction::~WriteTransaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const DatabaseError&) {
    // The failure that brought us here may have rolled back already.
  }
}

void WriteTransaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace trainvigil::store
