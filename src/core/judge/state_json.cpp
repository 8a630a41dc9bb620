// The job's memory as text, for the history between two calls. Everything that changes a later verdict is in it; caches are not.
#include "core/judge/archive.hpp"
#include "core/judge/memory.hpp"

namespace trainvigil {

constexpr int kStateVersion = 1;

template <typename A>
void describe(A& a, ProcessId& v) {
  a("pid", v.pid);
  a("ticks", v.ticks);
}
template <typename A>
void describe(A& a, Ring& v) {
  a("values", v.values);
  a("next", v.next);
  a("count", v.count);
}
template <typename A>
void describe(A& a, GpuMemory& v) {
  a("index", v.index);
  a("idle_w", v.idle_w);
  a("power", v.power);
  a("util", v.util);
  a("mem_util", v.mem_util);
  a("slow_looks", v.slow_looks);
}
template <typename A>
void describe(A& a, Counter& v) {
  a("id", v.id);
  a("cpu_s", v.cpu_s);
  a("io_bytes", v.io_bytes);
}
template <typename A>
void describe(A& a, UnitEnd& v) {
  a("done", v.done);
  a("at", v.at);
  a("stood_s", v.stood_s);
}
template <typename A>
void describe(A& a, ProcessMemory& v) {
  a("counters", v.counters);
  a("counters_at", v.counters_at);
  a("tree", v.tree);
  a("bystanders", v.bystanders);
  a("last_cpu", v.last_cpu);
  a("last_io", v.last_io);
  a("last_worker_cpu", v.last_worker_cpu);
  a("usual_cpu", v.usual_cpu);
  a("usual_io", v.usual_io);
  a("usual_worker_cpu", v.usual_worker_cpu);
  a("io_steady", v.io_steady);
  a("usual_looks", v.usual_looks);
  a("moved_at", v.moved_at);
  a("io_at", v.io_at);
  a("still_looks", v.still_looks);
  a("wait_looks", v.wait_looks);
  a("busy_looks", v.busy_looks);
  a("stopped_looks", v.stopped_looks);
  a("dstate_looks", v.dstate_looks);
  a("stopped_since", v.stopped_since);
  a("state", v.state);
}
template <typename A>
void describe(A& a, GpusMemory& v) {
  a("gpus", v.gpus);
  a("moved_at", v.moved_at);
  a("still_looks", v.still_looks);
  a("worked", v.worked);
  a("held", v.held);
  a("longest_idle", v.longest_idle);
  a("split_since", v.split_since);
  a("spin_since", v.spin_since);
  a("most_seen", v.most_seen);
  a("unread_looks", v.unread_looks);
}
template <typename A>
void describe(A& a, LayoutMemory::Seen& v) {
  a("bytes", v.bytes);
  a("mtime", v.mtime);
}
template <typename A>
void describe(A& a, LayoutMemory::SeenSave& v) {
  a("files", v.files);
  a("bytes", v.bytes);
  a("modified", v.modified);
  a("same_since", v.same_since);
  a("changed_after", v.changed_after);
  a("same_looks", v.same_looks);
}
template <typename A>
void describe(A& a, LayoutMemory& v) {
  a("files", v.files);
  a("saves", v.saves);
  a("seen_at", v.seen_at);
  a("highest_own", v.highest_own);
  a("rewrites", v.rewrites);
  a("growing_since", v.growing_since);
  a("longest_gap", v.longest_gap);
  a("first_own", v.first_own);
  a("run_start", v.run_start);
}
template <typename A>
void describe(A& a, Checkpoint& v) {
  a("path", v.path);
  a("value", v.value);
  a("done", v.done);
  a("unit", v.unit);
  a("bytes", v.bytes);
  a("modified", v.modified);
  a("began", v.began);
  a("state", v.state);
  a("run", v.run);
  a("why", v.why);
  a("missing_shard", v.missing_shard);
  a("unproven", v.unproven);
  a("being_deleted", v.being_deleted);
  a("implausible_size", v.implausible_size);
}
template <typename A>
void describe(A& a, CheckpointMemory& v) {
  a("layout", v.layout);
  a("judged", v.judged);
  a("judged_at", v.judged_at);
  a("ends", v.ends);
  a("dropped_ends", v.dropped_ends);
  a("first_done", v.first_done);
  a("progressed_at", v.progressed_at);
  a("grew_at", v.grew_at);
  a("growing_bytes", v.growing_bytes);
  a("growing_name", v.growing_name);
  a("quiet_looks", v.quiet_looks);
  a("growth_seen", v.growth_seen);
  a("save_began", v.save_began);
  a("longest_save", v.longest_save);
  a("free_at_save", v.free_at_save);
  a("was_complete", v.was_complete);
  a("seen_new", v.seen_new);
  a("missing_looks", v.missing_looks);
  a("ever_listed", v.ever_listed);
  a("highest_done", v.highest_done);
  a("stood_s", v.stood_s);
  a("stands_since", v.stands_since);
}
template <typename A>
void describe(A& a, LogMemory& v) {
  a("bytes", v.bytes);
  a("base", v.base);
  a("grew_at", v.grew_at);
  a("growths", v.growths);
  a("silent_looks", v.silent_looks);
  a("longest_silence", v.longest_silence);
  a("end_mark", v.end_mark);
  a("marked_at", v.marked_at);
  a("nan_now", v.nan_now);
  a("cause", v.cause);
}
template <typename A>
void describe(A& a, RunMemory& v) {
  a("main", v.main);
  a("boot_id", v.boot_id);
  a("cmdline", v.cmdline);
  a("start", v.start);
  a("first_seen", v.first_seen);
  a("last_seen", v.last_seen);
  a("last_seen_host", v.last_seen_host);
  a("gone_looks", v.gone_looks);
  a("gone_at", v.gone_at);
  a("rebooted", v.rebooted);
  a("zombie", v.zombie);
  a("work_began", v.work_began);
  a("joined_late", v.joined_late);
  a("completed_at", v.completed_at);
  a("completed_by_mark", v.completed_by_mark);
  a("longest_quiet", v.longest_quiet);
  a("quiet_since", v.quiet_since);
  a("stalled", v.stalled);
  a("recovery_looks", v.recovery_looks);
  a("uneasy_looks", v.uneasy_looks);
  a("cause", v.cause);
  a("process", v.process);
  a("gpu", v.gpu);
  a("checkpoint", v.checkpoint);
  a("log", v.log);
}
template <typename A>
void describe(A& a, PastRun& v) {
  a("first_seen", v.first_seen);
  a("ended", v.ended);
  a("done", v.done);
  a("phase", v.phase);
}
template <typename A>
void describe(A& a, Prior& v) {
  a("total", v.total);
  a("unit", v.unit);
  a("save", v.save);
}
template <typename A>
void describe(A& a, Progress& v) {
  a("unit", v.unit);
  a("done", v.done);
  a("total", v.total);
  a("fraction", v.fraction);
  a("estimated", v.estimated);
}
template <typename A>
void describe(A& a, Interval& v) {
  a("p10", v.p10);
  a("p50", v.p50);
  a("p90", v.p90);
}
template <typename A>
void describe(A& a, Eta& v) {
  a("end", v.end);
  a("next_checkpoint", v.next_checkpoint);
  a("basis", v.basis);
}
template <typename A>
void describe(A& a, JobState::Impl& v) {
  a("fresh", v.fresh);
  a("prior", v.prior);
  a("phase", v.phase);
  a("since", v.since);
  a("shown", v.shown);
  a("shown_since", v.shown_since);
  a("looked_at", v.looked_at);
  a("first_look", v.first_look);
  a("unreachable_since", v.unreachable_since);
  a("boot_id", v.boot_id);
  a("runs", v.runs);
  a("past", v.past);
  a("run", v.run);
  a("table_read", v.table_read);
  a("partial_looks", v.partial_looks);
  a("usual_interval", v.usual_interval);
  a("told_p90", v.told_p90);
  a("told_next_p90", v.told_next_p90);
  a("told_done", v.told_done);
  a("last_progress", v.last_progress);
  a("last_eta", v.last_eta);
  a("last_checkpoint", v.last_checkpoint);
  a("last_good", v.last_good);
  a("polls", v.polls);
}

std::string JobState::serialize() const {
  archive::Writer writer;
  describe(writer, *impl_);
  writer.json["version"] = kStateVersion;
  return writer.json.dump(-1, ' ', false, archive::Json::error_handler_t::replace);
}

bool JobState::parse(std::string_view text) {
  const archive::Json json = archive::Json::parse(text, nullptr, false);
  const auto fresh = [&] {
    *impl_ = Impl{};
    return false;
  };
  if (!json.is_object() || json.value("version", 0) != kStateVersion) return fresh();
  *impl_ = Impl{};
  const archive::Reader reader{json};
  describe(reader, *impl_);
  // A state from a damaged store must not index out of its rings.
  for (GpuMemory& g : impl_->run.gpu.gpus) {
    for (Ring* ring : {&g.power, &g.util, &g.mem_util}) {
      ring->next %= ring->values.size();
      ring->count = std::min(ring->count, ring->values.size());
    }
  }
  return true;
}

}  // namespace trainvigil
