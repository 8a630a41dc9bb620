#include "app/discovery.hpp"

#include <algorithm>
#include <cctype>
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

/// Values of these options in the order of `names`, as `--name value`, `--name=value`, `-name value` or `name=value`.
Words option_values(const Words& words, const Words& names) {
  Words out;
  for (const std::string& name : names)
    for (std::size_t i = 0; i < words.size(); ++i)
      for (const char* dashes : {"--", "-", ""}) {
        // One letter is an option with one dash; `o=5` may be anything.
        const bool letter = name.size() == 1;
        if (letter && std::string_view(dashes) != "-") continue;
        const std::string option = dashes + name;
        if (*dashes != '\0' && words[i] == option && i + 1 < words.size()) out.push_back(words[i + 1]);
        if (!letter && words[i].starts_with(option + "=")) out.push_back(words[i].substr(option.size() + 1));
      }
  return out;
}

std::optional<std::string> option_value(const Words& words, const Words& names) {
  const Words values = option_values(words, names);
  return values.empty() ? std::nullopt : std::optional(values.front());
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

/// Programs and names of scripts that say themselves that they train.
bool looks_like_training(const std::string& cmdline) {
  static const std::set<std::string> launchers = {"torchrun", "accelerate", "deepspeed",     "horovodrun", "composer", "llamafactory-cli",
                                                  "litgpt",   "axolotl",    "fairseq-train", "tune",       "nemo"};
  const Words words = words_of(cmdline);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (launchers.contains(base_name(words[i]))) return true;
    if (words[i] == "-m" && i + 1 < words.size() && (words[i + 1].starts_with("torch.distributed") || words[i + 1].starts_with("accelerate")))
      return true;
  }
  std::string name = script_of(words);
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const char* part : {"train", "finetune", "fine_tune", "fine-tune", "sft", "dpo", "grpo", "ppo", "rlhf", "lora", "distill"})
    if (name.find(part) != std::string::npos) return true;
  return !option_values(words, {"num_train_epochs", "num-train-epochs", "num_epochs", "num-epochs", "max_epochs", "max-epochs", "epochs", "max_steps",
                                "max-steps", "train_iters", "train-iters"})
              .empty();
}

Discovered found_job(const std::string& host, const Process& process) {
  const Words words = words_of(process.cmdline);
  Discovered found;
  found.cmdline = process.cmdline;
  found.pid = process.pid;
  Job& job = found.job;
  job.host = host;
  job.process = regex_literal(script_of(words));
  // Where several are given, what names checkpoints comes before what names all output, and that before what names logs.
  const Words directories = option_values(words, {"checkpoint_dir",
                                                  "checkpoint-dir",
                                                  "checkpoints_dir",
                                                  "ckpt_dir",
                                                  "ckpt-dir",
                                                  "ckpt_path",
                                                  "save_dir",
                                                  "save-dir",
                                                  "save_path",
                                                  "save-path",
                                                  "save_folder",
                                                  "save_checkpoint_path",
                                                  "save",
                                                  "output_dir",
                                                  "output-dir",
                                                  "out_dir",
                                                  "out-dir",
                                                  "outdir",
                                                  "output_path",
                                                  "output",
                                                  "hydra.run.dir",
                                                  "trainer.default_root_dir",
                                                  "default_root_dir",
                                                  "work_dir",
                                                  "work-dir",
                                                  "run_dir",
                                                  "run-dir",
                                                  "workdir",
                                                  "model_dir",
                                                  "log_dir",
                                                  "log-dir",
                                                  "logdir",
                                                  "o"});
  const auto absolute = std::find_if(directories.begin(), directories.end(), [](const std::string& d) { return d.starts_with('/'); });
  if (absolute != directories.end()) {
    job.checkpoints = *absolute;
  } else if (!directories.empty()) {
    found.relative_directory = directories.front();
  }
  job.epochs =
      whole_number(option_value(words, {"num_train_epochs", "num-train-epochs", "num_epochs", "num-epochs", "max_epochs", "max-epochs", "epochs"}));
  if (!job.epochs) job.steps = whole_number(option_value(words, {"max_steps", "max-steps", "train_iters", "train-iters", "num_steps", "num-steps"}));
  // Not the pattern's text, whose backslashes are no part of any name.
  Job named = job;
  named.process = script_of(words);
  job.name = default_job_name(named);
  return found;
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
  std::vector<Discovered> out;
  for (auto& [pid, gpus] : mains) {
    const Process& process = *processes.at(pid);
    // What holds no GPU is an editor, a server, a helper, unless its command line says that it trains.
    if (gpus.empty() && !looks_like_training(process.cmdline)) continue;
    Discovered found = found_job(host, process);
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
