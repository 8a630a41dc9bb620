// A stand-in for a watched job: tests turn its knobs and look again. It makes observations, never verdicts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "trainvigil/judge.hpp"

namespace trainvigil::test {

class Scenario {
 public:
  Scenario() {
    job.name = "job";
    job.host = "gpu1";
    job.checkpoints = "/out";
    job.process = "train";
    job.epochs = 5;
    job.interval = Seconds{30};
  }

  Job job;
  Prior prior;
  JobState state;
  double now = 1'764'400'000;
  double skew = 0;                       // host clock minus watcher clock
  double cpu_rate = 1.0, io_rate = 4e6;  // of the main process
  int workers = 0;
  double worker_cpu_rate = 0.3;
  double worker_start = 0;  // watcher time; 0: a second after the main process
  bool alive = false, workers_alive = true;
  char process_state = 'R';
  std::int64_t pid = 4242, ticks = 100'000;
  double started = 0;  // watcher time
  std::string boot = "boot-1";
  std::string cmdline = "python train.py";
  std::vector<Gpu> gpus;
  bool gpus_read = true;
  std::optional<std::string> gpu_error;
  Listing listing;
  std::optional<std::string> files_error;
  std::optional<LogFacts> log;
  std::optional<std::vector<KernelEvent>> kernel = std::vector<KernelEvent>{};
  std::optional<Disk> disk;
  std::optional<Disk> shm;
  bool processes_read = true;
  std::vector<Process> others;  // further processes of the host
  std::map<std::string, SensorReport, std::less<>> sensors;

  void start() {
    alive = true;
    started = now;
  }
  void one_gpu(double util, double power, double mem_util = 40) { gpus.assign(1, gpu(0, util, power, mem_util)); }
  [[nodiscard]] Gpu gpu(int index, double util, double power, double mem_util = 40) const {
    Gpu g;
    g.index = index;
    g.util_pct = util;
    g.power_w = power;
    g.power_limit_w = 400;
    g.mem_util_pct = mem_util;
    g.mem_used_mib = 40'000;
    g.mem_total_mib = 81'920;
    g.pids = std::vector<std::int64_t>{pid};
    return g;
  }
  void work() { one_gpu(98, 330, 45); }
  void spin() { one_gpu(100, 92, 0); }
  void hold() { one_gpu(0, 75, 0); }

  void put(const std::string& path, std::int64_t bytes, double age_s = 0, Integrity integrity = Integrity::ok) {
    listing.entries.push_back({path, FileType::file, bytes, host_time(now + skew - age_s), std::nullopt, integrity, std::nullopt});
  }
  /// A whole epoch directory as the speculators trainer leaves it.
  void epoch(int n, double age_s = 0) {
    const std::string d = std::to_string(n) + "/";
    put(d + "config.json", 1400, age_s + 3, Integrity::unchecked);
    put(d + "model.safetensors", 1'700'000'000, age_s + 2);
    put(d + "optimizer_state_dict.pt", 3'000'000'000, age_s + 1);
    put(d + "scheduler_state_dict.pt", 1500, age_s);
    put(d + "training_state.json", 120, age_s);
    listing.entries.push_back(
        {std::to_string(n), FileType::directory, std::nullopt, host_time(now + skew - age_s), std::nullopt, Integrity::unchecked, std::nullopt});
  }

  Observation observe() {
    Observation o;
    o.watcher_time = watcher_time(now);
    o.host = {host_time(now + skew), boot, Seconds{1e6}, 64, 3.0};
    if (processes_read) {
      o.processes = others;
      if (alive) o.processes->push_back(process(pid, 1, ticks, started, cpu_, io_, process_state, cmdline));
      for (int i = 0; i < workers && workers_alive && started > 0; ++i) {
        o.processes->push_back(
            process(pid + 10 + i, alive ? pid : 1, ticks + 50, worker_start > 0 ? worker_start : started + 1, worker_cpu_, io_ / 2, 'S', cmdline));
      }
    }
    if (gpus_read) o.gpus = gpus;
    o.gpu_error = gpu_error;
    if (!files_error) o.files = std::make_shared<Listing>(listing);
    o.files_error = files_error;
    o.log = log;
    o.kernel = kernel;
    o.disk = disk;
    o.shm = shm;
    o.sensors = sensors;
    return o;
  }

  Verdict look(double after = 30) {
    now += after;
    if (alive) {
      cpu_ += cpu_rate * after;
      io_ += io_rate * after;
      worker_cpu_ += worker_cpu_rate * after;
    }
    return last = advance(job, prior, state, observe());
  }
  /// Looks for `span` seconds and gives the last verdict.
  Verdict looks(double span, double every = 30) {
    for (double t = 0; t < span; t += every) look(every);
    return last;
  }
  Verdict outage(double span, Reach reach = Reach::connect_failed) {
    for (double t = 0; t < span; t += 30) {
      now += 30;
      Observation o;
      o.watcher_time = watcher_time(now);
      o.reach = reach;
      last = advance(job, prior, state, o);
    }
    return last;
  }
  /// A healthy run that has finished `epochs` epochs of ten minutes each.
  void healthy(int epochs = 1) {
    look();
    start();
    hold();
    looks(60);
    work();
    for (int n = 0; n < epochs; ++n) {
      looks(600);
      epoch(n);
      look();
    }
  }
  [[nodiscard]] bool found(const std::string& name) const {
    for (const auto& f : last.findings) {
      if (f == name) return true;
    }
    return false;
  }

  Verdict last;

 private:
  [[nodiscard]] Process process(std::int64_t id, std::int64_t parent, std::int64_t at, double begin, double cpu, double io, char st,
                                std::string line) const {
    Process p;
    p.pid = id;
    p.ppid = parent;
    p.state = st;
    p.start = host_time(begin + skew);
    p.start_ticks = at;
    p.cpu_s = cpu;
    p.read_bytes = static_cast<std::int64_t>(io);
    p.write_bytes = 0;
    p.matched = true;
    p.comm = "python";
    p.cmdline = std::move(line);
    return p;
  }
  double cpu_ = 10, io_ = 1e9, worker_cpu_ = 1;
};

}  // namespace trainvigil::test
