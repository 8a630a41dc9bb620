// From what the witnesses say to a phase. Knows claims and sources, no signal by name.
#pragma once

#include <string>
#include <vector>

#include "core/eta/estimate.hpp"
#include "core/signals/signals.hpp"

namespace trainvigil {

/// Limits of patience, with where they come from.
struct Patience {
  static constexpr Seconds spin{180};        ///< no healthy run waited so long in a collective inside training (54,697 readings)
  static constexpr Seconds idle{300};        ///< longest healthy stretch with all GPUs idle: 241 s
  static constexpr Seconds most{1800};       ///< contract: the learned limit ends here
  static constexpr double quiet_gaps = 3;    ///< times this run's longest healthy quiet gap
  static constexpr int looks = 3;            ///< fresh readings that agree
  static constexpr Seconds start{1800};      ///< starting without CPU and I/O
  static constexpr Seconds lingering{300};   ///< contract: a process still there after completion
  static constexpr Seconds unused_gpu{900};  ///< GPU idle while the CPU computes
};

struct Ruling {
  Phase phase = Phase::unknown;
  std::string cause;  ///< empty: null
  Confidence confidence = Confidence::low;
  std::optional<Seconds> look_again_in;
  std::optional<WatcherTime> since;  ///< when the phase began, where it is known better than "at this look"
  std::string because;               ///< for --explain: what decided
  std::string otherwise;             ///< for --explain: what would have changed it
};

struct Facts {
  const Look& look;
  const Life& life;
  const Reckoning& reckoning;
  const Estimate& estimate;
  std::vector<Testimony>& testimonies;
};

/// How long two witnesses must agree that nothing moves before it is an alarm.
Seconds stall_limit(const Job& job, const JobState::Impl& state, bool spinning);

Ruling triangulate(const Facts& facts, JobState::Impl& state, Statement& out);

}  // namespace trainvigil
