// When will the run end, and when does the next checkpoint come? An interval from the times at which units were completed; pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/judge/memory.hpp"
#include "trainvigil/verdict.hpp"

namespace trainvigil {

struct EtaInput {
  const std::vector<UnitEnd>* ends = nullptr;  ///< own unit ends, oldest first
  int dropped_ends = 0;
  double began = 0;            ///< when training began (first work), else the process's start; seconds since the epoch, 0: not known
  bool began_is_work = false;  ///< it is the first work, so loading is not in the first unit
  double first_done = 0;       ///< units done before this run (resume)
  std::optional<double> total;
  std::optional<Seconds> expected;    ///< what a whole run takes, told by the operator or by history
  std::optional<Seconds> prior_unit;  ///< what a unit took in earlier runs
  double now = 0;
};

struct Estimate {
  std::optional<Eta> eta;
  std::optional<double> share;       ///< of the running unit (or stretch between two saves), 0..1
  double spacing = 1;                ///< units between two saves
  std::optional<double> level;       ///< seconds a stretch usually takes
  std::optional<double> late_at;     ///< the next checkpoint is later than nine in ten from here on
  std::optional<double> overdue_at;  ///< … and later than real units ever are but for one in hundreds
  bool slowed = false;               ///< the last two stretches took 1.5 times what the ones before took
};

Estimate estimate(const EtaInput& in);

}  // namespace trainvigil
