#include "store/rows.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

namespace trainvigil::store {
namespace {

constexpr double kKeepObservations = 14 * 86400.0;  // in brief, for the curves of a report

template <typename T>
std::optional<std::string> word(const std::optional<T>& value) {
  return value ? std::optional<std::string>(to_string(*value)) : std::nullopt;
}

std::optional<double> seconds(const std::optional<HostTime>& t) { return t ? std::optional(epoch_seconds(*t)) : std::nullopt; }

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

std::optional<HostTime> main_start(const Observation& observation, const Verdict& verdict) {
  if (!observation.processes || !verdict.processes || !verdict.processes->main_pid) return std::nullopt;
  for (const Process& p : *observation.processes)
    if (p.pid == *verdict.processes->main_pid) return p.start;
  return std::nullopt;
}

std::int64_t record_run(Database& database, std::int64_t job, const Observation& observation, const Verdict& v) {
  const double now = epoch_seconds(v.time);
  const std::string phase = to_string(v.last && v.phase == Phase::unreachable ? v.last->phase : v.phase);
  const auto unit = word(v.progress.unit);
  const auto start = seconds(main_start(observation, v));
  auto upsert = database.prepare(
      "INSERT INTO run (job, key, first_seen, last_seen, host_start, phase, unit, done, total, fraction) VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8, "
      "?9) "
      "ON CONFLICT (job, key) DO UPDATE SET last_seen = excluded.last_seen, host_start = coalesce(host_start, excluded.host_start), phase = "
      "excluded.phase, "
      "unit = coalesce(excluded.unit, unit), done = coalesce(excluded.done, done), total = coalesce(excluded.total, total), "
      "fraction = coalesce(excluded.fraction, fraction) RETURNING id");
  upsert.bind(job)
      .bind(std::string_view(*v.run))
      .bind(now)
      .bind(start)
      .bind(std::string_view(phase))
      .bind(unit)
      .bind(v.progress.done)
      .bind(v.progress.total);
  upsert.bind(v.progress.fraction);
  upsert.step();
  const std::int64_t id = upsert.integer(0);
  upsert.run();
  return id;
}

void record_checkpoint(Database& database, std::int64_t job, std::optional<std::int64_t> run, const Checkpoint& c, WatcherTime now) {
  if (!c.modified) return;
  const auto unit = word(c.unit);
  const std::optional<std::int64_t> owner = c.run == CheckpointRun::earlier ? std::nullopt : run;
  auto upsert = database.prepare(
      "INSERT INTO checkpoint (job, run, path, host_modified, host_began, unit, value, done, bytes, state, first_seen) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (job, path, host_modified) DO UPDATE SET run = coalesce(run, excluded.run), "
      "host_began = coalesce(excluded.host_began, host_began), unit = excluded.unit, value = excluded.value, done = excluded.done, bytes = "
      "excluded.bytes, "
      "state = excluded.state WHERE state <> excluded.state OR bytes IS NOT excluded.bytes OR done IS NOT excluded.done");
  upsert.bind(job).bind(owner).bind_blob(c.path).bind(seconds(c.modified)).bind(seconds(c.began)).bind(unit).bind(c.value).bind(c.done).bind(c.bytes);
  upsert.bind(std::string_view(to_string(c.state))).bind(epoch_seconds(now));
  upsert.run();
}

void record_change(Database& database, std::int64_t job, std::optional<std::int64_t> run, const Verdict& v) {
  const std::string phase = to_string(v.phase);
  const std::string level = to_string(v.level);
  const std::string findings = joined(v.findings);
  auto before = database.prepare("SELECT phase, level, findings, run FROM job WHERE id = ?");
  before.bind(job).step();
  const bool changed =
      before.maybe_text(0) != phase || before.maybe_text(1) != level || before.maybe_text(2) != findings || before.maybe_integer(3) != run;
  before.reset();
  if (!changed) return;
  auto insert = database.prepare("INSERT INTO change (job, run, time, phase, level, cause, findings, summary) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(job).bind(run).bind(epoch_seconds(v.time)).bind(std::string_view(phase)).bind(std::string_view(level)).bind(v.cause);
  insert.bind(std::string_view(findings)).bind(std::string_view(v.summary)).run();
  auto update = database.prepare("UPDATE job SET phase = ?, level = ?, findings = ?, run = ? WHERE id = ?");
  update.bind(std::string_view(phase)).bind(std::string_view(level)).bind(std::string_view(findings)).bind(run).bind(job).run();
}

void record_observation(Database& database, std::int64_t job, const Observation& o, const Verdict& v) {
  std::optional<double> util;
  std::optional<double> power;
  for (const GpuSummary& gpu : v.gpus.value_or(std::vector<GpuSummary>{})) {
    if (gpu.util_pct) util = std::max(util.value_or(0), *gpu.util_pct);
    if (gpu.power_w) power = power.value_or(0) + *gpu.power_w;
  }
  auto insert = database.prepare(
      "INSERT INTO observation (job, time, reach, phase, level, done, fraction, gpu_util_pct, gpu_power_w) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  insert.bind(job).bind(epoch_seconds(o.watcher_time)).bind(std::string_view(to_string(o.reach))).bind(std::string_view(to_string(v.phase)));
  insert.bind(std::string_view(to_string(v.level))).bind(v.progress.done).bind(v.progress.fraction).bind(util).bind(power).run();
  auto prune = database.prepare("DELETE FROM observation WHERE job = ? AND time < ?");
  prune.bind(job).bind(epoch_seconds(o.watcher_time) - kKeepObservations).run();
}

/// Once a run is known to have completed, what it teaches is worked out from its own checkpoints; host times only.
void learn(Database& database, std::int64_t run) {
  auto rows = database.prepare("SELECT host_modified, host_began, done FROM checkpoint WHERE run = ? AND state = 'complete' ORDER BY host_modified");
  rows.bind(run);
  std::vector<double> per_unit;
  std::optional<double> last;
  std::optional<double> last_done;
  std::optional<double> first, first_done;
  std::optional<double> save;
  while (rows.step()) {
    const double modified = rows.real(0);
    const auto began = rows.maybe_real(1);
    const auto done = rows.maybe_real(2);
    if (began && modified > *began) save = std::max(save.value_or(0), modified - *began);
    if (last && last_done && done && *done > *last_done) per_unit.push_back((modified - *last) / (*done - *last_done));
    last = modified;
    if (done) last_done = done;
    if (!first) {
      first = modified;
      first_done = done;
    }
  }
  std::optional<double> unit;
  if (!per_unit.empty()) {
    const auto middle = per_unit.begin() + static_cast<std::ptrdiff_t>(per_unit.size() / 2);
    std::nth_element(per_unit.begin(), middle, per_unit.end());
    unit = *middle;
  }
  auto update = database.prepare("UPDATE run SET unit_s = ?1, save_s = ?2 WHERE id = ?3");
  update.bind(unit).bind(save).bind(run).run();
  // A resumed run had its first units from an earlier one: what it took itself is no measure of the whole.
  auto start = database.prepare("SELECT host_start FROM run WHERE id = ?");
  start.bind(run).step();
  const auto began = start.maybe_real(0);
  const bool whole = began && first && (!first_done || !unit || *first - *began > 0.5 * *first_done * *unit);
  if (!whole || *last <= *began) return;
  database.prepare("UPDATE run SET total_s = ?1 WHERE id = ?2").bind(*last - *began).bind(run).run();
}

}  // namespace

Phase phase_of(const std::string& word) {
  for (int i = 0; i <= static_cast<int>(Phase::unknown); ++i)
    if (word == to_string(static_cast<Phase>(i))) return static_cast<Phase>(i);
  return Phase::unknown;
}

Level level_of(const std::string& word) {
  for (const Level level : {Level::ok, Level::warning, Level::critical})
    if (word == to_string(level)) return level;
  return Level::unknown;
}

CheckpointState state_of(const std::string& word) {
  for (const auto state : {CheckpointState::complete, CheckpointState::saving, CheckpointState::corrupt, CheckpointState::stale})
    if (word == to_string(state)) return state;
  return CheckpointState::partial;
}

std::optional<Unit> unit_of(const std::optional<std::string>& word) {
  for (const auto unit : {Unit::epoch, Unit::step, Unit::save})
    if (word && *word == to_string(unit)) return unit;
  return std::nullopt;
}

void record_turn(Database& database, std::int64_t job, const Observation& observation, const Turned& turned) {
  const Verdict& verdict = turned.verdict;
  std::optional<std::int64_t> run;
  if (verdict.run) run = record_run(database, job, observation, verdict);
  if (verdict.checkpoint && verdict.phase != Phase::unreachable) record_checkpoint(database, job, run, *verdict.checkpoint, verdict.time);
  if (verdict.last_good && verdict.phase != Phase::unreachable && (!verdict.checkpoint || verdict.checkpoint->path != verdict.last_good->path))
    record_checkpoint(database, job, run, *verdict.last_good, verdict.time);
  for (const Checkpoint& checkpoint : turned.checkpoints) record_checkpoint(database, job, run, checkpoint, verdict.time);
  record_change(database, job, run, verdict);
  record_observation(database, job, observation, verdict);
  if (run && verdict.phase == Phase::completed) learn(database, *run);
}

Prior prior_of(Database& database, std::int64_t job) {
  Prior out;
  auto rows = database.prepare("SELECT total_s, unit_s, save_s FROM run WHERE job = ? AND phase = 'completed' ORDER BY last_seen DESC LIMIT 20");
  rows.bind(job);
  while (rows.step()) {
    const auto total = rows.maybe_real(0);
    const auto unit = rows.maybe_real(1);
    const auto save = rows.maybe_real(2);
    if (!out.total && total) out.total = Seconds{*total};
    if (!out.unit && unit) out.unit = Seconds{*unit};
    if (save) out.save = std::max(out.save.value_or(Seconds{0}), Seconds{*save});
  }
  return out;
}

}  // namespace trainvigil::store
