// Units done and units in all, in one unit. Steps and epochs are translated only where a file of the framework proves the ratio.
#include <algorithm>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

std::optional<double> steps_per_epoch(const FileProgress& p) {
  if (p.total_steps && p.total_epochs && *p.total_epochs > 0) return static_cast<double>(*p.total_steps) / *p.total_epochs;
  if (p.unit == Unit::step && p.total && p.total_epochs && *p.total_epochs > 0) return *p.total / *p.total_epochs;
  if (p.unit == Unit::epoch && p.done && *p.done > 0 && p.step && *p.step > 0) return static_cast<double>(*p.step) / *p.done;
  return std::nullopt;
}

std::optional<double> told_total(const FileProgress& p, Unit unit) {
  if (unit == Unit::step && p.total_steps) return static_cast<double>(*p.total_steps);
  if (unit == Unit::epoch && p.total_epochs) return p.total_epochs;
  if (p.unit == unit) return p.total;
  return std::nullopt;
}

}  // namespace

Reckoning reckon(const Job& job, const RunMemory& run) {
  const CheckpointView& view = run.checkpoint.view;
  Reckoning r;
  r.done = run.checkpoint.highest_done;
  r.unit = view.unit;
  if (!r.unit && view.progress) r.unit = view.progress->unit;
  const std::optional<Unit> asked = job.epochs ? std::optional{Unit::epoch} : (job.steps ? std::optional{Unit::step} : std::nullopt);
  const std::optional<double> given =
      job.epochs ? std::optional{static_cast<double>(*job.epochs)} : (job.steps ? std::optional{static_cast<double>(*job.steps)} : std::nullopt);
  if (!r.unit || r.unit == Unit::save) {
    // Ordinals of saves, or nothing known yet: the operator's word settles what is counted. In-place files rewritten once an epoch count epochs.
    if (!r.unit || (view.in_place && asked == Unit::epoch)) r.unit = asked;
  }
  if (!r.unit) return r;
  if (asked == r.unit) {
    r.total = given;
  } else if (asked && view.progress && r.unit != Unit::save) {
    if (const auto ratio = steps_per_epoch(*view.progress)) r.total = r.unit == Unit::step ? *given * *ratio : *given / *ratio;
  }
  if (!r.total && view.progress) r.total = told_total(*view.progress, *r.unit);
  r.total_untranslated = asked.has_value() && !r.total;
  return r;
}

}  // namespace trainvigil
