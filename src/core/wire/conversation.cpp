// ProbeConversation: which questions a look asks, what follows from the answers, and the observations they make.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/wire/directory.hpp"
#include "core/wire/frame.hpp"
#include "core/wire/gpu.hpp"
#include "core/wire/kernel.hpp"
#include "core/wire/log_view.hpp"
#include "core/wire/proc.hpp"
#include "core/wire/process_table.hpp"
#include "core/wire/text.hpp"
#include "trainvigil/wire.hpp"

namespace trainvigil {
namespace {

using namespace wire;

constexpr std::string_view kVersion = "2";
constexpr std::size_t kMostNoise = 256 * 1024;         ///< before READY, and after it of lines that nobody asked for
constexpr int kFullScanEvery = 10, kKernelEvery = 10;  ///< looks
constexpr std::int64_t kListingBytes = 2'500'000;      ///< of the bounded answer, shared by the directories

/// One request that is under way.
struct Request {
  std::string slot;
  bool was_free = false;  ///< we had the end of the slot's answer before
  Answer answer;
  std::function<void(const Answer&)> done;
};

class Probe final : public ProbeConversation {
 public:
  Probe(std::vector<Job> jobs, std::uint32_t nonce) : jobs_(std::move(jobs)), seq_(nonce), mark_("~" + seq_word(nonce ^ 0x9e3779b9U)), table_(jobs_) {
    for (const Job& job : jobs_) {
      if (job.checkpoints && !directories_.contains(*job.checkpoints))
        directories_.emplace(*job.checkpoints, Directory{DirectoryView(*job.checkpoints, mark_), {}, {}, {}, {}});
      if (job.log) logs_.try_emplace(*job.log, *job.log);
    }
  }

  void opened() override {
    lines_.clear();
    script_sent_ = noise_ = 0;
    ready_ = false;
    tail_.clear();
    broken_.reset();
    output_.clear();
    requests_.clear();
    ended_slots_.clear();
    slot_suffix_.clear();
    last_pid_ = before_last_pid_ = 0;  // what was started meanwhile has not been seen
    looks_since_scan_ = kFullScanEvery;
    gpu_gap_s_ = 0;
    last_gpu_.reset();
    last_gpu_report_ = SensorReport{SensorStatus::stale, {}, {}};
  }

  std::string take_output(std::size_t limit) override {
    const auto script = probe_script();
    if (script_sent_ < script.size()) {
      std::string piece(script.substr(script_sent_, limit));
      script_sent_ += piece.size();
      return piece;
    }
    std::string piece = output_.substr(0, limit);
    output_.erase(0, piece.size());
    return piece;
  }

  void received(std::string_view out) override {
    lines_.feed(out, [this](std::string_view line) { take_line(line); });
    if (ready_) return;
    tail_.append(out.substr(out.size() > 4096 ? out.size() - 4096 : 0));
    if (tail_.size() > 200) tail_.erase(0, tail_.size() - 200);
    noise_ += out.size();
    if (noise_ > kMostNoise) break_off("the login shell prints without end and the probe does not start; the last of it: " + tail_);
  }

  void received_error(std::string_view err) override {
    error_tail_.append(err.substr(err.size() > 2048 ? err.size() - 2048 : 0));
    if (error_tail_.size() > 2048) error_tail_.erase(0, error_tail_.size() - 2048);
  }

  [[nodiscard]] bool ready() const override { return ready_; }
  [[nodiscard]] bool answered() const override { return ready_ && asked_ && requests_.empty() && output_.empty(); }
  [[nodiscard]] std::size_t most_bytes() const override {
    // Hexadecimal with its blanks takes three bytes for one, and each line of it a number.
    std::int64_t asked = 0;
    for (const auto& [path, directory] : directories_) asked += directory.view.bytes_asked();
    return ProbeConversation::most_bytes() + 4 * static_cast<std::size_t>(asked);
  }
  [[nodiscard]] std::optional<Failure> broken() const override { return broken_; }

  void hurry() override {
    std::string pids;
    for (auto& [seq, request] : requests_) {
      if (request.answer.tools.empty()) continue;
      request.answer.hurried = true;
      // The last ones only: earlier tools of the same answer have ended long ago.
      const auto& tools = request.answer.tools;
      for (std::size_t i = tools.size() > 4 ? tools.size() - 4 : 0; i < tools.size(); ++i) pids += " " + std::to_string(tools[i]);
    }
    if (ready_ && !pids.empty()) output_ += "TV1 K " + seq_word(next_seq()) + pids + "\n";
  }

  bool settle_for_less() override {
    if (!ready_ || !host_.has_value()) return false;
    // Answers that come later belong to nobody; their slots stay taken on the host until they do.
    auto late = std::move(requests_);
    requests_.clear();
    settling_ = true;
    for (auto& [seq, request] : late) request.done(request.answer);
    settling_ = false;
    output_.clear();
    return true;
  }

  void ask(const LookOptions& options) override {
    options_ = options;
    asked_ = true;
    if (ready_) begin();
  }

  std::vector<Observation> take(WatcherTime now) override;

 private:
  struct Directory {
    DirectoryView view;
    SensorReport files, state, disk_report;
    std::optional<Disk> disk;
  };

  std::uint32_t next_seq() { return ++seq_; }

  void break_off(std::string what) {
    if (broken_) return;
    for (char& c : what) {
      if (static_cast<unsigned char>(c) < 0x20) c = ' ';
    }
    broken_ = Failure{Reach::shell_failed, std::move(what),
                      "let nothing in the start-up files of the login shell read stdin or print without end, or give the key a forced command: "
                      "command=\"exec /bin/sh /path/to/probe.sh\",restrict",
                      true};
  }

  void take_line(std::string_view line) {
    if (consume(line, "TV1 READY ")) {
      start(line);
      return;
    }
    if (!ready_) return;
    const auto record = parse_record(line);
    const auto request = record ? requests_.find(record->seq) : requests_.end();
    if (request == requests_.end()) {
      noise_ += line.size();
      if (noise_ > kMostNoise * 16) break_off("lines that nobody asked for come without end");
      return;
    }
    request->second.answer.add(*record);
    if (!request->second.answer.ended) return;
    auto finished = std::move(request->second);
    requests_.erase(request);
    // "busy" and "early" come from the resident shell: nothing was started, the slot is what it was.
    const bool started = finished.answer.status != "busy" && finished.answer.status != "early";
    if (started || (finished.was_free && finished.answer.status == "early")) ended_slots_.insert(finished.slot);
    finished.done(finished.answer);
  }

  void start(std::string_view words_of_ready);
  void begin();
  void request(char kind, const std::string& slot, const std::string& arguments, std::function<void(const Answer&)> done);
  void ask_scan();
  void ask_facts(const std::string& slot, const std::vector<std::int64_t>& pids);
  void ask_gpu(int gap_s);
  void ask_kernel();
  void ask_list(Directory& directory, const std::string& slot);
  void ask_read(Directory& directory);
  bool ask_sums(Directory& directory);
  void note_reads(Directory& directory, const Answer& answer);
  void follow_up();
  [[nodiscard]] SensorReport report(const Answer& answer) const;
  [[nodiscard]] int gpu_readings() const;
  void host_answered(const ProcessFacts& facts);
  void gpu_answered(const Answer& answer);
  void keep_last_gpu();
  [[nodiscard]] Observation observe(std::size_t index, WatcherTime now);

  std::vector<Job> jobs_;
  std::uint32_t seq_;
  std::string mark_;
  ProcessTable table_;
  std::map<std::string, Directory> directories_;
  std::map<std::string, LogView> logs_;

  // the stream
  LineCutter lines_;
  std::size_t script_sent_ = 0, noise_ = 0;
  bool ready_ = false;
  std::string tail_, error_tail_, output_;
  std::optional<Failure> broken_;
  std::map<std::uint32_t, Request> requests_;
  std::set<std::string> ended_slots_;
  std::string slot_suffix_;
  HostConstants constants_;

  // the look
  LookOptions options_;
  bool asked_ = false, settling_ = false, kernel_asked_ = false;
  std::optional<ProcessFacts> host_;
  SensorReport process_report_, gpu_report_, kernel_report_;
  std::optional<GpuAnswer> gpu_;
  std::optional<Disk> shm_;

  // remembered
  std::string boot_id_;
  std::int64_t last_pid_ = 0, before_last_pid_ = 0;
  int looks_since_scan_ = kFullScanEvery, looks_since_kernel_ = kKernelEvery;
  std::vector<std::string> gpu_fields_ = default_gpu_fields();
  int gpu_gap_s_ = 0;
  bool gpu_kept_ = false;  ///< this look did not ask: gpu_ is the answer of an earlier one
  std::optional<GpuAnswer> last_gpu_;
  SensorReport last_gpu_report_{SensorStatus::stale, {}, {}};
  std::optional<std::vector<KernelEvent>> kernel_;
};

void Probe::start(std::string_view text) {
  const auto parts = words(text);
  if (parts.empty() || parts[0] != kVersion) {
    break_off("the probe on the host is of version " + std::string(parts.empty() ? "?" : parts[0]) + ", this program speaks version " +
              std::string(kVersion));
    if (broken_) broken_->remedy = "Put the output of `trainvigil probe-script` where the forced command of the key runs it";
    if (broken_) broken_->retry = false;
    return;
  }
  // A second announcement means that the first was noise. What was asked is lost, or is waiting to be read: new slots, so that it takes none of ours.
  if (ready_) slot_suffix_ += 'x';
  requests_.clear();
  ended_slots_.clear();
  output_.clear();
  ready_ = true;
  noise_ = 0;
  constants_ = HostConstants{};
  for (std::string_view part : parts) {
    if (consume(part, "pid=")) constants_.shell_pid = to_integer(part).value_or(0);
    if (consume(part, "ticks=")) constants_.ticks_per_s = std::clamp(to_number(part).value_or(100), 1.0, 1e6);
    if (consume(part, "page=")) constants_.page_bytes = std::clamp<std::int64_t>(to_integer(part).value_or(4096), 1024, 1 << 20);
    if (consume(part, "btime=")) constants_.boot_time = to_number(part);
    if (consume(part, "encode=")) constants_.base64 = part == "base64";
    if (consume(part, "cores=")) {
      const auto cores = to_integer(part);
      if (cores && *cores > 0 && *cores < 1'000'000) constants_.cores = static_cast<int>(*cores);
    }
  }
  if (asked_) begin();
}

void Probe::request(char kind, const std::string& slot, const std::string& arguments, std::function<void(const Answer&)> done) {
  if (settling_) return;
  const auto seq = next_seq();
  const bool was_free = ended_slots_.erase(slot) > 0;
  output_ += std::string("TV1 ") + kind + " " + seq_word(seq) + " " + slot + (slot == "g" ? "" : slot_suffix_) + (was_free ? " w" : " -");
  output_ += (arguments.empty() ? "" : " ") + arguments + "\n";
  requests_.emplace(seq, Request{slot, was_free, {}, std::move(done)});
}

void Probe::begin() {
  requests_.clear();
  noise_ = 0;
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
  bool shm = true;
  std::size_t number = 0;
  for (auto& [path, directory] : directories_) {
    const std::string slot = std::to_string(number++);
    Directory* const place = &directory;
    directory.view.begin_look(options_.verify_all, options_.catch_up);
    directory.disk.reset();
    directory.files = directory.state = directory.disk_report = SensorReport{SensorStatus::timeout, {}, {}};
    ask_list(directory, "d" + slot);
    request('S', "s" + slot, request_word(path) + (shm ? " shm" : " -"), [this, place](const Answer& answer) {
      const DiskAnswer disks = parse_disks(answer.lines);
      place->disk = disks.disk;
      if (disks.shm) shm_ = disks.shm;
      place->disk_report = report(answer);
    });
    shm = false;
  }
  if (shm) {
    request('S', "s0", "- shm", [this](const Answer& answer) { shm_ = parse_disks(answer.lines).shm; });
  }
  number = 0;
  for (auto& [path, log] : logs_) {
    LogView* const view = &log;
    view->begin_look();
    request('L', "l" + std::to_string(number++), view->arguments(),
            [this, view](const Answer& answer) { view->answered(answer, constants_.base64, report(answer)); });
  }
  if (options_.quick) {
    keep_last_gpu();
  } else {
    ask_gpu(gpu_gap_s_);
  }
  if (options_.quick || looks_since_kernel_ >= kKernelEvery) ask_kernel();
}

void Probe::ask_scan() {
  const bool full = looks_since_scan_ >= kFullScanEvery || table_.misses_one();
  // Twice: a process seen between fork and exec had not its own command line yet.
  request('F', "f", std::to_string(full ? 0 : before_last_pid_) + " -", [this](const Answer& answer) {
    const Scan scan = parse_scan(answer.lines);
    const bool complete = answer.good() && !answer.cut && scan.last_pid.has_value();
    table_.add_scan(scan, complete, constants_.shell_pid);
    if (complete) {
      if (scan.full) looks_since_scan_ = 0;
      before_last_pid_ = scan.full ? *scan.last_pid : last_pid_;
      last_pid_ = *scan.last_pid;
    }
    follow_up();
  });
}

void Probe::ask_facts(const std::string& slot, const std::vector<std::int64_t>& pids) {
  std::string list;
  for (const auto pid : pids) list += (list.empty() ? "" : ",") + std::to_string(pid);
  request('P', slot, list.empty() ? "-" : list, [this, pids, first = slot == "p"](const Answer& answer) {
    if (answer.good() && !answer.cut) {
      const ProcessFacts facts = parse_process_facts(answer.lines);
      if (first) host_answered(facts);
      table_.add_facts(pids, facts, constants_);
      if (first) process_report_ = report(answer);
    } else if (first) {
      process_report_ = report(answer);
    }
    if (table_.lost_one() && !kernel_asked_) ask_kernel();
    follow_up();
  });
}

void Probe::host_answered(const ProcessFacts& facts) {
  host_ = facts;
  if (!constants_.boot_time && facts.now && facts.uptime) constants_.boot_time = *facts.now - *facts.uptime;
  const std::string boot = facts.boot_id.value_or(boot_id_);
  if (!boot_id_.empty() && boot != boot_id_) {
    table_.forget();
    looks_since_scan_ = kFullScanEvery;
  }
  boot_id_ = boot;
}

/// Asks for what has turned up: facts, names and owners of processes that the look did not know of when it began.
void Probe::follow_up() {
  const auto busy = [this](std::string_view slot) {
    return std::any_of(requests_.begin(), requests_.end(), [slot](const auto& item) { return item.second.slot == slot; });
  };
  if (settling_ || busy("p") || busy("f") || busy("q") || busy("n")) return;  // the last of them comes here again
  if (const auto pids = table_.take_unnamed(); !pids.empty()) {
    std::string list;
    for (const auto pid : pids) list += (list.empty() ? "" : ",") + std::to_string(pid);
    request('F', "n", "0 " + list, [this](const Answer& answer) {
      table_.add_scan(parse_scan(answer.lines), false, constants_.shell_pid);
      follow_up();
    });
  }
  if (const auto pids = table_.take_new(); !pids.empty()) ask_facts("q", pids);
  if (busy("u")) return;
  const auto uids = table_.unknown_users();
  if (!uids.empty()) {
    request('U', "u", std::to_string(uids.front()), [this, uid = uids.front()](const Answer& answer) {
      // Without a name the number is its name.
      if (answer.ended) table_.add_user(uid, answer.lines.empty() ? std::to_string(uid) : answer.lines.front());
      follow_up();
    });
  }
}

int Probe::gpu_readings() const {
  // One reading a second, as utilisation is a mean of up to a second. A quarter of what the look may take, less where polls follow fast.
  double span = options_.budget.count() / 4;
  for (const Job& job : jobs_) span = std::min(span, job.interval.count() * 0.3);
  return 1 + static_cast<int>(std::clamp(std::isfinite(span) ? span : 0.0, 0.0, 4.0));
}

void Probe::ask_gpu(int gap_s) {
  std::string fields;
  for (const std::string& field : gpu_fields_) fields += (fields.empty() ? "" : ",") + field;
  request('G', "g", std::to_string(gap_s) + " " + std::to_string(gpu_readings()) + " 1000 " + fields,
          [this](const Answer& answer) { gpu_answered(answer); });
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
  if (result.refused_field && !settling_) {
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
  request('M', "k", mark_, [this](const Answer& answer) {
    kernel_report_ = report(answer);
    kernel_.reset();
    if (answer.good()) {
      auto boot = constants_.boot_time;
      if (host_ && host_->now && host_->uptime) boot = *host_->now - *host_->uptime;
      kernel_ = parse_kernel(answer.lines, boot);
    }
  });
}

void Probe::ask_list(Directory& directory, const std::string& slot) {
  Directory* const place = &directory;
  request('D', slot, directory.view.list_arguments(kListingBytes / static_cast<std::int64_t>(directories_.size())),
          [this, place, slot](const Answer& answer) {
            place->view.listed(answer);
            if (place->view.wants_again()) {
              ask_list(*place, slot);
              return;
            }
            place->files = report(answer);
            if (place->view.error() == "missing") place->files.status = SensorStatus::absent;
            if (place->view.error() == "denied") place->files.status = SensorStatus::denied;
            if (place->view.error() == "timeout" && place->files.status == SensorStatus::ok) place->files.status = SensorStatus::timeout;
            place->state = place->files;
            ask_read(*place);
          });
}

void Probe::ask_read(Directory& directory) {
  if (settling_) return;
  // What has been begun is brought to its end first: its bytes need not be kept any longer, and should time run out, the newest files are done.
  if (ask_sums(directory)) return;
  const auto arguments = directory.view.read_arguments();
  if (!arguments) return;
  Directory* const place = &directory;
  // A slot of its own for each directory: one dead file system blocks one.
  const std::string slot = "r" + std::to_string(std::distance(directories_.begin(), directories_.find(directory.view.path())));
  request('R', slot, *arguments, [this, place](const Answer& answer) {
    place->view.read(answer, constants_.base64);
    note_reads(*place, answer);
    if (answer.good()) ask_read(*place);
  });
}

void Probe::note_reads(Directory& directory, const Answer& answer) {
  directory.state = report(answer);
  if (directory.view.unverified() && directory.state.status == SensorStatus::ok) directory.state.status = SensorStatus::absent;
}

bool Probe::ask_sums(Directory& directory) {
  const auto arguments = directory.view.sum_arguments();
  if (!arguments) return false;
  Directory* const place = &directory;
  const std::string slot = "v" + std::to_string(std::distance(directories_.begin(), directories_.find(directory.view.path())));
  request('V', slot, *arguments, [this, place](const Answer& answer) {
    place->view.summed(answer);
    note_reads(*place, answer);
    // Without the tools for sums, archives stay unverified and everything else is read all the same.
    if (answer.good() || answer.status == "absent") ask_read(*place);
  });
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

}  // namespace

std::shared_ptr<ProbeConversation> ProbeConversation::make(std::vector<Job> jobs, std::uint32_t nonce) {
  return std::make_shared<Probe>(std::move(jobs), nonce);
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
