// What a look asks the drivers: the GPUs as often as their tool can bear, the kernel's log where something is lost.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "core/wire/conversation.hpp"

namespace trainvigil::wire {

void Probe::ask_gpu(int gap_s) {
  std::string fields;
  for (const std::string& field : gpu_fields_) fields += (fields.empty() ? "" : ",") + field;
  exchange_.request('G', "g", std::to_string(gap_s) + " " + std::to_string(gpu_readings()) + " 1000 " + fields,
                    [this](const Answer& answer) { gpu_answered(answer); });
}

int Probe::gpu_readings() const {
  // One reading a second, as utilisation is a mean of up to a second. A quarter of what the look may take, less where polls follow fast.
  double span = options_.budget.count() / 4;
  for (const Job& job : jobs_) span = std::min(span, job.interval.count() * 0.3);
  return 1 + static_cast<int>(std::clamp(std::isfinite(span) ? span : 0.0, 0.0, 4.0));
}

/// Not asked this time: the answer before still stands and says how old it is, and a failure stays one until the next call.
void Probe::keep_last_gpu() {
  gpu_kept_ = true;
  gpu_ = last_gpu_;
  gpu_report_ = last_gpu_report_;
  gpu_report_.ms.reset();
  if (gpu_ && !gpu_->gpus.empty()) gpu_report_.status = SensorStatus::stale;
}

void Probe::gpu_answered(const Answer& answer) {
  if (answer.status == "early") {
    keep_last_gpu();
    return;
  }
  gpu_report_ = report(answer);
  if (answer.status == "busy") gpu_report_.status = SensorStatus::timeout;  // the call of an earlier look hangs still
  if (!answer.ended || (answer.status != "ok" && answer.lines.empty())) return;
  GpuAnswer result = parse_gpu_answer(answer.lines, gpu_fields_);
  if (answer.from && (result.first_row || answer.to)) {
    // Contract: not more often than every 10 x what one call costs. Below a third of a second the burst itself is longer.
    const double gap = 10 * (result.first_row.value_or(answer.to.value_or(*answer.from)) - *answer.from);
    gpu_gap_s_ = gap > 0.3 && gap < 36000 ? static_cast<int>(std::ceil(gap)) + 1 : 0;
  }
  if (result.refused_field && !exchange_.settling()) {
    const auto refused = std::find(gpu_fields_.begin() + 1, gpu_fields_.end(), *result.refused_field);
    if (refused != gpu_fields_.end()) {
      gpu_fields_.erase(refused);
      ask_gpu(0);
      return;
    }
  }
  if (!result.gpus.empty() && answer.hurried) gpu_report_.status = SensorStatus::cut;
  if (result.gpus.empty() && gpu_report_.status == SensorStatus::ok) gpu_report_.status = SensorStatus::absent;
  std::map<std::int64_t, std::set<int>> holders;
  for (const Gpu& gpu : result.gpus) {
    if (!gpu.pids) continue;
    for (const auto pid : *gpu.pids) holders[pid].insert(gpu.index);
  }
  table_.set_gpu_holders(holders);
  if (result.exit && result.gpus.empty() && !kernel_asked_) ask_kernel();
  gpu_ = std::move(result);
  follow_up();
}

void Probe::ask_kernel() {
  kernel_asked_ = true;
  looks_since_kernel_ = 0;
  kernel_report_ = SensorReport{SensorStatus::timeout, {}, {}};
  exchange_.request('M', "k", mark_, [this](const Answer& answer) {
    kernel_report_ = report(answer);
    kernel_.reset();
    if (answer.good()) {
      auto boot = constants_.boot_time;
      if (host_ && host_->now && host_->uptime) boot = *host_->now - *host_->uptime;
      kernel_ = parse_kernel(answer.lines, boot);
    }
  });
}

}  // namespace trainvigil::wire
