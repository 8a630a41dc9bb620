// The witnesses. Each reads its own facts and its own memory and says what it saw; none decides.
#pragma once

#include <vector>

#include "core/judge/memory.hpp"
#include "core/signals/witness.hpp"

namespace trainvigil {

/// What the process table says about the run's life; the judge needs it besides the testimony.
struct Life {
  bool read = false;              ///< the process table was read at this look
  const Process* main = nullptr;  ///< the live main process; null when gone or never there
  bool zombie = false;
  bool new_run = false;  ///< this look begins a run
  bool rebooted = false;
  int count = 0;                   ///< live processes of the tree
  int leftovers = 0;               ///< workers alive without their main process
  std::vector<std::int64_t> pids;  ///< of the tree, sorted
  std::optional<double> cpu_rate;  ///< cores
  bool matched_any = false;
};

/// Finds the main process and tells lives apart (run_identity.cpp). May begin a new run in `state`.
Life find_life(const Look& look, JobState::Impl& state);

struct Statement {
  std::vector<Testimony> testimonies;
  std::vector<Finding> findings;
  void say(Testimony t) { testimonies.push_back(std::move(t)); }
  void find(std::string_view name, Level level = Level::warning) { findings.push_back({name, level}); }
};

void process_signal(const Look& look, const Life& life, RunMemory& run, Statement& out);
/// The rates of the last look were those of training: they become part of what is usual.
void learn_process_rhythm(ProcessMemory& memory);
void gpu_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out, std::vector<GpuSummary>* summary);
void checkpoint_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out);
void log_signal(const Look& look, const Life& life, RunMemory& run, Statement& out);
void host_signal(const Look& look, const Life& life, JobState::Impl& state, Statement& out);

/// The gravest cause of death that is proven by the log, the kernel, the disk or the driver; empty when nothing is.
std::string_view proven_cause(const Look& look, const Life& life, const JobState::Impl& state);

/// Totals and progress in one unit (progress.cpp).
struct Reckoning {
  std::optional<Unit> unit;
  std::optional<double> done;  ///< of this run (resumed units counted)
  std::optional<double> total;
  bool total_untranslated = false;  ///< --epochs on a step layout without a state file
};
Reckoning reckon(const Job& job, const RunMemory& run);

}  // namespace trainvigil
