#include "app/overrides.hpp"

#include "app/command.hpp"

namespace trainvigil::app {

Job overridden(Job job, const Job& given) {
  if (given.epochs && given.steps) throw UsageError("both --epochs and --steps are given", "Keep the one that the checkpoints count");
  const auto take = [](auto& into, const auto& from) {
    if (from) into = from;
  };
  if (!given.name.empty()) job.name = given.name;
  take(job.checkpoints, given.checkpoints);
  take(job.process, given.process);
  if (given.epochs || given.steps) {
    job.epochs = given.epochs;
    job.steps = given.steps;
  }
  take(job.log, given.log);
  take(job.end_mark, given.end_mark);
  take(job.expected, given.expected);
  take(job.stall_after, given.stall_after);
  if (given.deadline) {
    job.deadline = given.deadline;
    job.deadline_at.reset();
  }
  return job;
}

}  // namespace trainvigil::app
