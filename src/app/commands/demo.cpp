#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "app/commands/commands.hpp"
#include "app/demo_job.hpp"
#include "app/output.hpp"
#include "app/regex_text.hpp"
#include "app/setup.hpp"

namespace trainvigil::app {
namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = environment("TMPDIR").value_or("/tmp") + "/trainvigil-demo-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr)
      throw UsageError("no temporary folder can be made: " + std::string(std::strerror(errno)), "Set TMPDIR to one that you may write");
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// This very program as the stand-in job, in a session of its own like a job under tmux; it never outlives the demo.
class StandIn {
 public:
  StandIn(const std::string& directory, const std::string& log, int epochs) {
    // Not under the watcher's own name: whatever is called trainvigil is an onlooker and no job.
    std::vector<std::string> words = {"train_demo", "demo-job", directory, "--epochs", std::to_string(epochs)};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ < 0) throw UsageError("the stand-in job can not be started: " + std::string(std::strerror(errno)));
    if (pid_ != 0) {
      // Reaped the moment it ends: a zombie would be a finding.
      reaper_ = std::thread([this] {
        ::waitid(P_PID, static_cast<id_t>(pid_), nullptr, WEXITED | WNOWAIT);
        const std::lock_guard lock(mutex_);
        ::waitpid(pid_, nullptr, 0);
        gone_ = true;
      });
      return;
    }
    ::setsid();
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    const int in = ::open("/dev/null", O_RDONLY);
    if (out < 0 || in < 0 || ::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(out, 2) < 0) ::_exit(126);
    ::execv("/proc/self/exe", argv.data());
    ::_exit(127);
  }
  ~StandIn() {
    {
      const std::lock_guard lock(mutex_);
      if (!gone_) ::kill(pid_, SIGKILL);
    }
    reaper_.join();
  }
  StandIn(const StandIn&) = delete;
  StandIn& operator=(const StandIn&) = delete;

 private:
  pid_t pid_ = -1;
  std::mutex mutex_;
  bool gone_ = false;  ///< its number may be another process's by now
  std::thread reaper_;
};

int run_demo(const Options& options) {
  const TemporaryFolder folder;
  const int epochs = options.epochs.value_or(5);
  const std::string output = folder.path() + "/output";
  const std::string log = folder.path() + "/train.log";
  std::filesystem::create_directory(output);
  if (!options.json) {
    print_line("A stand-in job saves " + std::to_string(epochs) + " epochs into " + output + ". It is watched like a real one, without ssh:");
    print_line("  trainvigil run local --checkpoints " + output + " --process demo-job --epochs " + std::to_string(epochs) +
               " --until-done --interval 1s\n");
  }
  const StandIn job(output, log, epochs);
  Options watch = options;
  watch.no_config = true;
  watch.state_dir = folder.path() + "/state";
  watch.target = "local";
  watch.described.name = "demo";
  watch.described.checkpoints = output;
  watch.described.process = "demo-job " + regex_literal(output);
  watch.described.epochs = epochs;
  watch.described.log = log;
  watch.interval = options.interval.value_or(Seconds{1});
  watch.until_done = true;
  return run_command().run(watch);
}

int run_demo_job(const Options& options) {
  DemoJob job;
  job.directory = options.argument;
  job.epochs = options.epochs.value_or(job.epochs);
  job.epoch = options.interval.value_or(job.epoch);
  return train(job);
}

OptionSpec epochs_option() {
  return {"--epochs", "N", "How many epochs the stand-in job has (5)",
          [](Options& o, const std::string& v) { o.epochs = static_cast<int>(std::min<std::int64_t>(count_value(v), 1000)); }, ""};
}

}  // namespace

Command demo_command() {
  return {"demo",
          "Start a stand-in job on this machine and watch it until it is done",
          "About twenty seconds; everything is in a temporary folder and gone afterwards.\nExample:\n  trainvigil demo",
          {},
          {epochs_option(), interval_option("1s")},
          run_demo};
}

Command demo_job_command() {
  Command out{"demo-job",
              "The stand-in job of demo",
              "",
              {{"DIR", "Where it saves", true, [](Options& o, const std::string& v) { o.argument = v; }}},
              {epochs_option(),
               {"--epoch", "DURATION", "How long an epoch takes (3s)", [](Options& o, const std::string& v) { o.interval = duration_value(v); }, ""}},
              run_demo_job};
  out.hidden = true;
  return out;
}

}  // namespace trainvigil::app
