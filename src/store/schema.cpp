#include "store/schema.hpp"

#include <array>

namespace trainvigil::store {
namespace {

/// Entry n brings a file of version n to n + 1. Entries are never changed once released. Times are seconds since 1970; `host` in a name: by the
/// host's clock.
constexpr std::array<const char*, 1> kSteps = {
    R"sql(
CREATE TABLE job (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL, host TEXT NOT NULL, checkpoints TEXT NOT NULL, process TEXT NOT NULL,
  state BLOB NOT NULL DEFAULT x'', generation INTEGER NOT NULL DEFAULT 0,
  deadline TEXT, deadline_at REAL,
  phase TEXT, level TEXT, findings TEXT, run INTEGER, time REAL,
  UNIQUE (name, host, checkpoints, process)
);
CREATE TABLE run (
  id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id), key TEXT NOT NULL,
  first_seen REAL NOT NULL, last_seen REAL NOT NULL, host_start REAL,
  phase TEXT NOT NULL, unit TEXT, done REAL, total REAL, fraction REAL,
  total_s REAL, unit_s REAL, save_s REAL,
  UNIQUE (job, key)
);
CREATE TABLE change (
  id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id), run INTEGER REFERENCES run (id),
  time REAL NOT NULL, phase TEXT NOT NULL, level TEXT NOT NULL, cause TEXT, findings TEXT NOT NULL, summary TEXT NOT NULL
);
CREATE INDEX change_of_job ON change (job, time);
CREATE TABLE checkpoint (
  id INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES job (id), run INTEGER REFERENCES run (id),
  path BLOB NOT NULL, host_modified REAL NOT NULL, host_began REAL,
  unit TEXT, value INTEGER, done INTEGER, bytes INTEGER, state TEXT NOT NULL, first_seen REAL NOT NULL,
  UNIQUE (job, path, host_modified)
);
CREATE INDEX checkpoint_of_run ON checkpoint (run);
CREATE TABLE observation (
  job INTEGER NOT NULL REFERENCES job (id), time REAL NOT NULL, reach TEXT NOT NULL, phase TEXT NOT NULL, level TEXT NOT NULL,
  done REAL, fraction REAL, gpu_util_pct REAL, gpu_power_w REAL
);
CREATE INDEX observation_of_job ON observation (job, time);
CREATE TABLE silence (name TEXT PRIMARY KEY, until REAL NOT NULL, reason TEXT NOT NULL);
)sql",
};

int version_of(Database& database) {
  Statement ask = database.prepare("PRAGMA user_version");
  ask.step();
  return static_cast<int>(ask.integer(0));
}

}  // namespace

int schema_version() { return static_cast<int>(kSteps.size()); }

void migrate(Database& database) {
  // A reader must not pay for a write lock: look first, and again once the lock is held.
  if (version_of(database) == schema_version()) return;
  WriteTransaction transaction(database);
  const int found = version_of(database);
  if (found > schema_version()) throw DatabaseError(SQLITE_MISMATCH, "the history was written by a newer trainvigil");
  for (int version = found; version < schema_version(); ++version) database.execute(kSteps.at(static_cast<std::size_t>(version)));
  database.execute(("PRAGMA user_version = " + std::to_string(schema_version())).c_str());
  transaction.commit();
}

}  // namespace trainvigil::store
