#include "app/discovery.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

#include "app/regex_text.hpp"
#include "trainvigil/config.hpp"

namespace trainvigil::app {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& cmdline) {
  Words out;
  for (std::size_t at = 0; at < cmdline.size();) {
    const std::size_t end = std::min(cmdline.find(' ', at), cmdline.size());
    if (end > at) out.push_back(cmdline.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

bool is_launcher(const std::string& cmdline) {
  const Words words = words_of(cmdline);
  if (words.empty()) return true;
  static const std::set<std::string> names = {"sh",    "bash", "dash", "zsh",     "fish", "sudo", "tmux", "screen",
                                              "nohup", "ssh",  "srun", "timeout", "env",  "nice", "time", "setsid"};
  return names.contains(base_name(words.front()));
}

/// The value of the first of these options, as `--name value` or `--name=value`.
std::optional<std::string> option_value(const Words& words, const std::vector<std::string>& names) {
  for (std::size_t i = 0; i < words.size(); ++i)
    for (const std::string& name : names)
      for (const std::string& dashes : {std::string("--"), std::string("-"), std::string("")}) {
        const std::string option = dashes + name;
        if (!dashes.empty() && words[i] == option && i + 1 < words.size()) return words[i + 1];
        if (words[i].rfind(option + "=", 0) == 0) return words[i].substr(option.size() + 1);
      }
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(const std::optional<std::string>& text) {
  std::int64_t out = 0;
  if (!text || std::from_chars(text->data(), text->data() + text->size(), out).ptr != text->data() + text->size() || out < 1) return std::nullopt;
  return out;
}

/// What a person would call it: the script, the module, else the program.
std::string script_of(const Words& words) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-m" && i + 1 < words.size()) return words[i + 1];
    if (words[i].size() > 3 && words[i].ends_with(".py")) return base_name(words[i]);
  }
  return words.empty() ? std::string{} : base_name(words.front());
}

std::map<std::int64_t, std::vector<int>> gpus_by_pid(const Observation& o) {
  std::map<std::int64_t, std::vector<int>> out;
  for (const Gpu& gpu : o.gpus.value_or(std::vector<Gpu>{}))
    for (const std::int64_t pid : gpu.pids.value_or(std::vector<std::int64_t>{})) out[pid].push_back(gpu.index);
  return out;
}

/// The outermost process above `pid` that is no launcher.
std::int64_t main_of(std::int64_t pid, const std::map<std::int64_t, const Process*>& processes) {
  std::int64_t top = pid;
  std::int64_t at = pid;
  for (int depth = 0; depth < 64; ++depth) {
    const auto found = processes.find(at);
    if (found == processes.end()) break;
    if (!is_launcher(found->second->cmdline)) top = at;
    if (!found->second->ppid) break;
    at = *found->second->ppid;
  }
  return top;
}

Job job_of(const std::string& host, const Process& process) {
  const Words words = words_of(process.cmdline);
  Job job;
  job.host = host;
  job.process = regex_literal(script_of(words));
  const auto directory = option_value(words, {"output_dir", "output-dir", "save_dir", "save-dir", "checkpoint_dir", "checkpoint-dir", "ckpt_dir",
                                              "ckpt-dir", "save", "save_path", "output"});
  if (directory && directory->front() == '/') job.checkpoints = *directory;
  job.epochs =
      whole_number(option_value(words, {"num_train_epochs", "num-train-epochs", "num_epochs", "num-epochs", "max_epochs", "max-epochs", "epochs"}));
  if (!job.epochs) job.steps = whole_number(option_value(words, {"max_steps", "max-steps", "train_iters", "train-iters", "num_steps", "num-steps"}));
  job.name = default_job_name(job);
  return job;
}

}  // namespace

Job discovery_job(const std::string& host) {
  Job job;
  job.name = "discover";
  job.host = host;
  job.process = "python[0-9.]* .*[.]py|python[0-9.]* .*-m |torchrun|deepspeed|accelerate";
  return job;
}

std::vector<Discovered> discover(const std::string& host, const Observation& observation) {
  const auto holders = gpus_by_pid(observation);
  std::map<std::int64_t, const Process*> processes;
  if (!observation.processes) return {};
  for (const Process& p : *observation.processes) processes.emplace(p.pid, &p);
  std::map<std::int64_t, std::vector<int>> mains;
  for (const auto& [pid, process] : processes) {
    if (is_launcher(process->cmdline)) continue;
    auto& gpus = mains[main_of(pid, processes)];
    if (const auto held = holders.find(pid); held != holders.end()) gpus.insert(gpus.end(), held->second.begin(), held->second.end());
  }
  // Where the driver tells who holds GPUs, what holds none is an editor, a server, a helper.
  const bool known = std::any_of(mains.begin(), mains.end(), [](const auto& main) { return !main.second.empty(); });
  std::vector<Discovered> out;
  for (auto& [pid, gpus] : mains) {
    if (known && gpus.empty()) continue;
    const Process& process = *processes.at(pid);
    Discovered found{job_of(host, process), process.cmdline, pid};
    std::sort(gpus.begin(), gpus.end());
    gpus.erase(std::unique(gpus.begin(), gpus.end()), gpus.end());
    if (!gpus.empty()) found.job.gpus = gpus;
    out.push_back(std::move(found));
  }
  // Two of one name need two names; GPUs tell them apart for the judge.
  std::map<std::string, int> times;
  for (Discovered& found : out)
    if (const int n = ++times[found.job.name]; n > 1) found.job.name += "-" + std::to_string(n);
  return out;
}

}  // namespace trainvigil::app
