// The public face of the store: transactions, and errors as sentences.
#include "trainvigil/history.hpp"

#include <filesystem>
#include <system_error>

#include "store/database.hpp"
#include "store/rows.hpp"
#include "store/schema.hpp"

namespace trainvigil {

using store::Database;
using store::DatabaseError;
using store::Statement;
using store::WriteTransaction;

struct History::Impl {
  Impl(Database opened, std::string path) : database(std::move(opened)), file(std::move(path)) {}

  Database database;
  std::string file;

  [[nodiscard]] tl::unexpected<Error> failed(const DatabaseError& e) const {
    switch (e.code() & 0xFF) {
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
        return fail("another trainvigil holds the history for too long", "Try again, or see which process has the file open", file, true);
      case SQLITE_FULL:
      case SQLITE_IOERR:  // also where a limit of the file size ends a write, and where SQLite can not make its -shm file
        return no_room(e);
      case SQLITE_READONLY:
      case SQLITE_CANTOPEN:
      case SQLITE_PERM:
        return fail("the history can not be written", "Give a directory that you may write with --state-dir", file);
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB:
        return fail("the history is damaged", "Move the file away; a new one begins without what earlier runs taught", file);
      case SQLITE_MISMATCH:
        return fail(e.what(), "Use that version, or another --state-dir", file);
      default:
        return fail(std::string("the history can not be used: ") + e.what(), {}, file);
    }
  }

  [[nodiscard]] tl::unexpected<Error> no_room(const DatabaseError& e) const {
    const bool full = (e.code() & 0xFF) == SQLITE_FULL;
    auto out = fail(full ? std::string("the disk with the history is full") : std::string("the history can not be written: ") + e.what(),
                    "Make room, or give another --state-dir", file, true);
    out.value().no_room = true;
    return out;
  }

  /// Runs `work`; what SQLite has to object becomes an Error.
  template <typename Work>
  auto guarded(Work work) -> Result<decltype(work())> {
    try {
      if constexpr (std::is_void_v<decltype(work())>) {
        work();
        return {};
      } else {
        return work();
      }
    } catch (const DatabaseError& e) {
      return failed(e);
    }
  }

  static void bind_key(Statement& statement, const Job& job) {
    static const std::string none;
    statement.bind(std::string_view(job.name)).bind(std::string_view(job.host));
    statement.bind(std::string_view(job.checkpoints ? *job.checkpoints : none)).bind(std::string_view(job.process ? *job.process : none));
  }

  [[nodiscard]] std::optional<std::int64_t> find(const Job& job) const {
    auto row = database.prepare("SELECT id FROM job WHERE name = ? AND host = ? AND checkpoints = ? AND process = ?");
    bind_key(row, job);
    return row.step() ? std::optional(row.integer(0)) : std::nullopt;
  }

  std::int64_t find_or_make(const Job& job) {
    if (const auto id = find(job)) return *id;
    auto insert = database.prepare("INSERT INTO job (name, host, checkpoints, process) VALUES (?, ?, ?, ?)");
    bind_key(insert, job);
    insert.run();
    return database.last_id();
  }

  Remembered load(std::int64_t id, const Job& job) {
    Remembered out;
    auto row = database.prepare("SELECT state, generation, deadline, deadline_at, time FROM job WHERE id = ?");
    row.bind(id).step();
    out.state = row.text(0);
    out.generation = static_cast<std::uint64_t>(row.integer(1));
    const auto at = row.maybe_real(3);
    if (at && row.maybe_text(2) == job.deadline) out.deadline_at = watcher_time(*at);
    if (const auto time = row.maybe_real(4)) out.time = watcher_time(*time);
    out.prior = store::prior_of(database, id);
    return out;
  }
};

History::History(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
History::History(History&&) noexcept = default;
History& History::operator=(History&&) noexcept = default;
History::~History() = default;

Result<History> History::open(const std::string& directory) {
  std::error_code fault;
  std::filesystem::create_directories(directory, fault);
  if (fault)
    return fail("the state directory can not be made: " + fault.message(), "Give a directory that you may write with --state-dir", directory);
  const std::string file = directory + "/history.sqlite";
  try {
    auto impl = std::make_unique<Impl>(Database(file), file);
    // Readers and a writer side by side; a commit needs no fsync, and what a power cut takes is the last turns, never the file.
    impl->database.execute("PRAGMA journal_mode = WAL");
    impl->database.execute("PRAGMA synchronous = NORMAL");
    store::migrate(impl->database);
    // A file that only root may write opens well and fails at the first turn: say so now.
    WriteTransaction(impl->database).commit();
    return History(std::move(impl));
  } catch (const DatabaseError& e) {
    return Impl(Database(":memory:"), file).failed(e);
  }
}

Result<History> History::copy_in_memory(const std::string& directory) {
  const std::string file = directory + "/history.sqlite";
  try {
    auto impl = std::make_unique<Impl>(Database(":memory:"), file);
    try {
      impl->database.copy_from(file);
    } catch (const DatabaseError&) {
      impl->database = Database(":memory:");  // nothing of it can be read
    }
    store::migrate(impl->database);
    return History(std::move(impl));
  } catch (const DatabaseError& e) {
    return Impl(Database(":memory:"), file).failed(e);
  }
}

Result<void> History::turn(const Job& job, const Observation& observation, const Judge& judge) {
  return impl_->guarded([&] {
    WriteTransaction transaction(impl_->database);
    const std::int64_t id = impl_->find_or_make(job);
    const Turned turned = judge(impl_->load(id, job));
    auto update =
        impl_->database.prepare("UPDATE job SET state = ?, generation = generation + 1, deadline = ?, deadline_at = ?, time = ? WHERE id = ?");
    const auto deadline_at = turned.deadline_at ? std::optional(epoch_seconds(*turned.deadline_at)) : std::nullopt;
    update.bind_blob(turned.state).bind(job.deadline).bind(deadline_at).bind(epoch_seconds(observation.watcher_time)).bind(id).run();
    store::record_turn(impl_->database, id, observation, turned);
    transaction.commit();
  });
}

Result<Remembered> History::remembered(const Job& job) {
  return impl_->guarded([&] {
    const auto id = impl_->find(job);
    return id ? impl_->load(*id, job) : Remembered{};
  });
}

Result<std::vector<std::string>> History::namesakes(const Job& job) {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare(
        "SELECT host, checkpoints, process FROM job WHERE name = ?1 AND NOT (host = ?2 AND checkpoints = ?3 AND process = ?4) ORDER BY id");
    Impl::bind_key(rows, job);
    std::vector<std::string> out;
    while (rows.step()) {
      std::string words = rows.text(0);
      for (const int column : {1, 2})
        if (const std::string part = rows.text(column); !part.empty()) words += ", " + part;
      out.push_back(std::move(words));
    }
    return out;
  });
}

Result<std::vector<StoredRun>> History::runs(const std::optional<std::string>& job, int limit) {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare(
        "SELECT job.name, job.host, run.key, first_seen, last_seen, run.phase, unit, done, total, fraction, total_s FROM run JOIN job ON job.id = "
        "run.job "
        "WHERE ?1 IS NULL OR job.name = ?1 ORDER BY last_seen DESC, run.id DESC LIMIT ?2");
    rows.bind(job).bind(static_cast<std::int64_t>(limit));
    std::vector<StoredRun> out;
    while (rows.step()) {
      StoredRun& r = out.emplace_back();
      r.job = rows.text(0);
      r.host = rows.text(1);
      r.run = rows.text(2);
      r.first_seen = watcher_time(rows.real(3));
      r.last_seen = watcher_time(rows.real(4));
      r.phase = store::phase_of(rows.text(5));
      r.progress.unit = store::unit_of(rows.maybe_text(6));
      r.progress.done = rows.maybe_real(7);
      r.progress.total = rows.maybe_real(8);
      r.progress.fraction = rows.maybe_real(9);
      if (const auto total = rows.maybe_real(10)) r.total = Seconds{*total};
    }
    return out;
  });
}

Result<std::vector<StoredChange>> History::changes(const std::optional<std::string>& job, int limit) {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare(
        "SELECT job.name, job.host, run.key, change.time, change.phase, change.level, cause, summary FROM change JOIN job ON job.id = change.job "
        "LEFT JOIN run ON run.id = change.run WHERE ?1 IS NULL OR job.name = ?1 ORDER BY change.time DESC, change.id DESC LIMIT ?2");
    rows.bind(job).bind(static_cast<std::int64_t>(limit));
    std::vector<StoredChange> out;
    while (rows.step()) {
      StoredChange& c = out.emplace_back();
      c.job = rows.text(0);
      c.host = rows.text(1);
      c.run = rows.maybe_text(2);
      c.time = watcher_time(rows.real(3));
      c.phase = store::phase_of(rows.text(4));
      c.level = store::level_of(rows.text(5));
      c.cause = rows.maybe_text(6);
      c.summary = rows.text(7);
    }
    return out;
  });
}

Result<std::vector<StoredCheckpoint>> History::checkpoints(const std::optional<std::string>& job, int limit) {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare(
        "SELECT job.name, job.host, run.key, path, checkpoint.done, bytes, checkpoint.unit, host_modified, checkpoint.first_seen, checkpoint.state "
        "FROM checkpoint JOIN job ON job.id = checkpoint.job LEFT JOIN run ON run.id = checkpoint.run WHERE ?1 IS NULL OR job.name = ?1 "
        "ORDER BY checkpoint.first_seen DESC, checkpoint.id DESC LIMIT ?2");
    rows.bind(job).bind(static_cast<std::int64_t>(limit));
    std::vector<StoredCheckpoint> out;
    while (rows.step()) {
      StoredCheckpoint& c = out.emplace_back();
      c.job = rows.text(0);
      c.host = rows.text(1);
      c.run = rows.maybe_text(2);
      c.path = rows.text(3);
      c.done = rows.maybe_integer(4);
      c.bytes = rows.maybe_integer(5);
      c.unit = store::unit_of(rows.maybe_text(6));
      c.modified = host_time(rows.real(7));
      c.first_seen = watcher_time(rows.real(8));
      c.state = store::state_of(rows.text(9));
    }
    return out;
  });
}

Result<std::vector<std::string>> History::job_names() {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare("SELECT DISTINCT name FROM job ORDER BY name");
    std::vector<std::string> out;
    while (rows.step()) out.push_back(rows.text(0));
    return out;
  });
}

Result<void> History::silence(const Silence& silence) {
  return impl_->guarded([&] {
    auto upsert = impl_->database.prepare(
        "INSERT INTO silence (name, until, reason) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET until = excluded.until, reason = "
        "excluded.reason");
    upsert.bind(std::string_view(silence.job)).bind(epoch_seconds(silence.until)).bind(std::string_view(silence.reason)).run();
  });
}

Result<bool> History::end_silence(const std::string& job) {
  return impl_->guarded([&] {
    auto remove = impl_->database.prepare("DELETE FROM silence WHERE name = ?");
    remove.bind(std::string_view(job)).run();
    return impl_->database.changed() > 0;
  });
}

Result<std::vector<Silence>> History::silences(WatcherTime now) {
  return impl_->guarded([&] {
    auto rows = impl_->database.prepare("SELECT name, until, reason FROM silence WHERE until > ? ORDER BY name");
    rows.bind(epoch_seconds(now));
    std::vector<Silence> out;
    while (rows.step()) out.push_back({rows.text(0), watcher_time(rows.real(1)), rows.text(2)});
    return out;
  });
}

}  // namespace trainvigil
