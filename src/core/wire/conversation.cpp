#include "core/wire/conversation.hpp"

#include <algorithm>

#include "core/wire/text.hpp"

namespace trainvigil {
namespace wire {

Probe::Probe(std::vector<Job> jobs, std::uint32_t nonce)
    : jobs_(std::move(jobs)),
      mark_("~" + seq_word(nonce ^ 0x9e3779b9U)),
      exchange_(nonce, [this](const std::vector<std::string_view>& parts) { announced(parts); }),
      table_(jobs_) {
  for (const Job& job : jobs_) {
    if (job.checkpoints && !directories_.contains(*job.checkpoints))
      directories_.emplace(*job.checkpoints, Directory{DirectoryView(*job.checkpoints, mark_), {}, {}, {}, {}});
    if (job.log) logs_.try_emplace(*job.log, *job.log);
  }
}

void Probe::opened() {
  exchange_.opened();
  last_pid_ = before_last_pid_ = 0;  // what was started meanwhile has not been seen
  looks_since_scan_ = kFullScanEvery;
  gpu_gap_s_ = 0;
  last_gpu_.reset();
  last_gpu_report_ = SensorReport{SensorStatus::stale, {}, {}};
}

void Probe::ask(const LookOptions& options) {
  options_ = options;
  asked_ = true;
  if (exchange_.ready()) begin();
}

void Probe::announced(const std::vector<std::string_view>& words_of_ready) {
  constants_ = parse_ready(words_of_ready);
  if (asked_) begin();
}

void Probe::begin() {
  exchange_.begin_look();
  host_.reset();
  gpu_.reset();
  gpu_kept_ = false;
  shm_.reset();
  process_report_ = gpu_report_ = SensorReport{SensorStatus::timeout, {}, {}};
  kernel_report_.status = SensorStatus::stale;
  kernel_asked_ = false;
  ++looks_since_scan_;
  ++looks_since_kernel_;
  table_.begin_look();
  // First, so that of the probe's own processes only this one is there to be seen.
  ask_scan();
  ask_facts("p", table_.followed());
  ask_files();
  ask_logs();
  if (options_.quick) {
    keep_last_gpu();
  } else {
    ask_gpu(gpu_gap_s_);
  }
  if (options_.quick || looks_since_kernel_ >= kKernelEvery) ask_kernel();
}

std::size_t Probe::most_bytes() const {
  // Hexadecimal with its blanks takes three bytes for one, and each line of it a number.
  std::int64_t asked = 0;
  for (const auto& [path, directory] : directories_) asked += directory.view.bytes_asked();
  return ProbeConversation::most_bytes() + 4 * static_cast<std::size_t>(asked);
}

bool Probe::settle_for_less() {
  if (!exchange_.ready() || !host_.has_value()) return false;
  exchange_.settle();
  return true;
}

SensorReport Probe::report(const Answer& answer) const {
  SensorReport report{answer.sensor_status(), {}, {}};
  if (answer.from && answer.to && *answer.to >= *answer.from) {
    report.ms = (*answer.to - *answer.from) * 1000;
    if (host_ && host_->now && host_->uptime) report.time = host_time(*host_->now + *answer.to - *host_->uptime);
  }
  return report;
}

Observation Probe::observe(std::size_t index, WatcherTime now) {
  const Job& job = jobs_[index];
  Observation seen;
  seen.watcher_time = now;
  seen.host.cores = constants_.cores;
  if (host_) {
    if (host_->now) seen.host.time = host_time(*host_->now);
    seen.host.boot_id = host_->boot_id;
    if (host_->uptime) seen.host.uptime = Seconds(*host_->uptime);
    seen.host.load1 = host_->load1;
  }
  seen.sensors["host"] = seen.sensors["process"] = process_report_;
  seen.processes = table_.processes(index);
  seen.near_misses = table_.near_misses(index);
  if (!seen.processes && (job.process || job.pid) && process_report_.status == SensorStatus::ok)
    seen.sensors["process"].status = SensorStatus::timeout;
  seen.sensors["gpu"] = gpu_report_;
  if (gpu_) {
    seen.gpu_error = gpu_->error;
    seen.gpu_exit = gpu_->exit;
    if (!gpu_->gpus.empty()) seen.gpus = gpu_->gpus;
    if (seen.gpus && job.gpus) {
      std::erase_if(*seen.gpus, [&job](const Gpu& gpu) { return std::find(job.gpus->begin(), job.gpus->end(), gpu.index) == job.gpus->end(); });
    }
  }
  if (const auto place = job.checkpoints ? directories_.find(*job.checkpoints) : directories_.end(); place != directories_.end()) {
    Directory& directory = place->second;
    seen.files = directory.view.publish();
    if (!seen.files) seen.files_error = directory.view.error().value_or("timeout");
    if (seen.files && seen.files->cut && directory.files.status == SensorStatus::ok) directory.files.status = SensorStatus::cut;
    seen.disk = directory.disk;
    seen.sensors["files"] = directory.files;
    seen.sensors["state"] = directory.state;
    seen.sensors["disk"] = directory.disk_report;
  }
  seen.shm = shm_;
  if (job.log) {
    const LogView& log = logs_.at(*job.log);
    seen.log = log.facts();
    seen.sensors["log"] = log.report();
  }
  seen.kernel = kernel_;
  seen.sensors["kernel"] = kernel_report_;
  return seen;
}

std::vector<Observation> Probe::take(WatcherTime now) {
  asked_ = false;
  if (!gpu_kept_) {
    last_gpu_ = gpu_;
    last_gpu_report_ = gpu_report_;
  }
  std::vector<Observation> observations;
  for (std::size_t index = 0; index < jobs_.size(); ++index) observations.push_back(observe(index, now));
  return observations;
}

}  // namespace wire

std::shared_ptr<ProbeConversation> ProbeConversation::make(std::vector<Job> jobs, std::uint32_t nonce) {
  return std::make_shared<wire::Probe>(std::move(jobs), nonce);
}

Observation unreachable_observation(const Failure& failure, WatcherTime now) {
  Observation seen;
  seen.watcher_time = now;
  seen.reach = failure.reach == Reach::ok ? Reach::shell_failed : failure.reach;
  seen.error = failure.what;
  if (!failure.remedy.empty()) seen.remedy = failure.remedy;
  return seen;
}

}  // namespace trainvigil
