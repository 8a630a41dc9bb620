// The log witness. A silent log is weak evidence and a growing one proves no training; what a line may prove is an end, or a cause of death.
#include <regex.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

#include "core/signals/signals.hpp"

namespace trainvigil {
namespace {

struct Phrase {
  std::string_view text;
  std::string_view finding;
};

// Gravest first: the first that is found names the cause. Words as the programs print them.
constexpr std::array kCauses{
    Phrase{"CUDA out of memory", "oom-cuda"},
    Phrase{"OutOfMemoryError", "oom-cuda"},
    Phrase{"CUDA_ERROR_OUT_OF_MEMORY", "oom-cuda"},
    Phrase{"RESOURCE_EXHAUSTED: Out of memory", "oom-cuda"},
    Phrase{"No space left on device", "disk-full"},
    Phrase{"Disk quota exceeded", "disk-full"},
    Phrase{"file write failed", "disk-full"},
    Phrase{"killed by signal: Bus error", "shm-full"},
    Phrase{"insufficient shared memory", "shm-full"},
    Phrase{"uncorrectable ECC error", "gpu-ecc"},
    Phrase{"GPU is lost", "gpu-lost"},
    Phrase{"Watchdog caught collective operation timeout", "nccl-timeout"},
    Phrase{"oom-kill event", "oom-kill"},
    Phrase{"oom_kill event", "oom-kill"},
    Phrase{"Traceback (most recent call last)", "traceback"},
    Phrase{"Segmentation fault", "signal"},
    Phrase{"core dumped", "signal"},
    Phrase{"SIGKILL", "signal"},
    Phrase{"SIGTERM", "signal"},
    Phrase{"SIGHUP", "signal"},
};

constexpr std::array<std::string_view, 5> kPreempted{"DUE TO PREEMPTION", "due to preemption", "DUE TO NODE FAILURE, SEE SLURMCTLD", "job requeued",
                                                     "REQUEUED"};

// End marks that common trainers print once, at the very end of a run that ended well.
constexpr std::array<std::string_view, 9> kEndMarks{
    "Training completed", "Training complete!",    "`Trainer.fit` stopped: `max_epochs=", "`Trainer.fit` stopped: `max_steps=",
    "'train_runtime':",   "FINISHED Optimization", "Program ended successfully",          "epochs completed in",
    "Finished training"};

constexpr std::array<std::string_view, 7> kProgressWords{"step", "Step", "epoch", "Epoch", "loss", "it/s", "iter"};

std::string_view last_line(std::string_view tail) {
  // Progress bars return to the start of the line instead of beginning a new one.
  while (!tail.empty() && (tail.back() == '\n' || tail.back() == '\r' || tail.back() == ' ')) tail.remove_suffix(1);
  const auto cut = tail.find_last_of("\n\r");
  return cut == std::string_view::npos ? tail : tail.substr(cut + 1);
}

bool reports_progress(std::string_view line) {
  const bool word =
      std::any_of(kProgressWords.begin(), kProgressWords.end(), [&](std::string_view w) { return line.find(w) != std::string_view::npos; });
  return word && std::any_of(line.begin(), line.end(), [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; });
}

bool loss_is_nan(std::string_view tail) {
  const std::string_view line = last_line(tail);
  for (std::size_t at = 0; (at = line.find("loss", at)) != std::string_view::npos; at += 4) {
    std::size_t i = at + 4;
    while (i < line.size() && (line[i] == '=' || line[i] == ':' || line[i] == ' ' || line[i] == '\'' || line[i] == '"')) ++i;
    if (i + 3 <= line.size() && std::tolower(line[i]) == 'n' && std::tolower(line[i + 1]) == 'a' && std::tolower(line[i + 2]) == 'n') return true;
  }
  return false;
}

bool matches(const std::string& pattern, std::string_view tail) {
  regex_t regex;
  if (regcomp(&regex, pattern.c_str(), REG_EXTENDED | REG_NOSUB | REG_NEWLINE) != 0) return false;
  const bool found = regexec(&regex, std::string(tail).c_str(), 0, nullptr, 0) == 0;
  regfree(&regex);
  return found;
}

std::size_t find_end(const Job& job, std::string_view tail) {
  if (job.end_mark) return matches(*job.end_mark, tail) ? 0 : std::string_view::npos;
  std::size_t at = std::string_view::npos;
  for (const auto mark : kEndMarks) {
    const auto found = tail.rfind(mark);
    if (found != std::string_view::npos && (at == std::string_view::npos || found > at)) at = found;
  }
  return at;
}

void read_tail(const Job& job, LogMemory& memory, std::string_view tail) {
  const std::size_t end = find_end(job, tail);
  // What stands after an end mark is the teardown: a segmentation fault there does not undo the end.
  const std::string_view before_end = end == std::string_view::npos || job.end_mark ? tail : tail.substr(0, end);
  std::string_view cause;
  std::size_t cause_at = 0;
  for (const Phrase& p : kCauses) {
    const auto found = before_end.find(p.text);
    if (found == std::string_view::npos) continue;
    cause = p.finding;
    cause_at = found;
    break;
  }
  // An error that was survived (logged before the end mark) is none; without the operator's own mark a traceback weighs more than a known phrase.
  memory.end_mark = end != std::string_view::npos && (job.end_mark.has_value() || cause.empty() || cause_at < end);
  memory.cause = memory.end_mark ? std::string{} : std::string(cause);
  for (const auto phrase : kPreempted) {
    if (!memory.end_mark && tail.find(phrase) != std::string_view::npos) memory.cause = "preempted";
  }
  memory.nan_now = loss_is_nan(tail);
}

}  // namespace

void log_signal(const Look& look, const Life& life, RunMemory& run, Statement& out) {
  LogMemory& memory = run.log;
  if (!look.job.log) return;
  if (!look.seen.log || !look.seen.log->bytes) return;
  const LogFacts& log = *look.seen.log;
  const bool known = memory.bytes.has_value();
  const bool shrank = known && *log.bytes < *memory.bytes;
  if (shrank || *log.bytes < memory.base) memory.base = 0;
  const bool grew = known && *log.bytes > *memory.bytes;
  const bool ours = !run.start || !log.mtime || *log.mtime + Seconds{1} >= *run.start;
  Claim claim = Claim::none;
  if ((!known || grew || shrank) && log.tail && ours && run.main) {
    std::string_view tail = *log.tail;
    const auto own = static_cast<std::size_t>(std::max<std::int64_t>(0, *log.bytes - memory.base));
    if (tail.size() > own) tail.remove_prefix(tail.size() - own);
    read_tail(look.job, memory, tail);
    if (!memory.end_mark) memory.marked_at.reset();
    if (memory.end_mark && !memory.marked_at) memory.marked_at = look.now;
    if (grew && reports_progress(last_line(tail))) claim = Claim::progress;
  }
  if (grew) {
    ++memory.growths;
    if (memory.grew_at) memory.longest_silence = std::max(memory.longest_silence, look.now - *memory.grew_at);
    memory.grew_at = look.now;
    memory.silent_looks = 0;
  } else if (known) {
    ++memory.silent_looks;
  }
  if (!memory.grew_at) memory.grew_at = look.now;
  memory.bytes = log.bytes;
  if (memory.nan_now && life.main != nullptr) out.find("nan-loss");

  const Seconds silence = look.now - *memory.grew_at;
  // A log that spoke at nearly every look and has fallen silent is a witness of its own kind; one that never spoke is none.
  const bool talkative = memory.growths >= 10 && memory.longest_silence < Seconds{120};
  if (talkative && claim == Claim::none && silence > std::max(Seconds{180}, 3 * memory.longest_silence)) claim = Claim::still;
  if (memory.growths == 0 && life.main != nullptr && run.first_seen && look.now - *run.first_seen > Seconds{600}) out.find("log-silent", Level::ok);
  std::string detail = grew ? "grew to " + say_bytes(static_cast<double>(*log.bytes)) : "silent for " + say_duration(silence);
  if (memory.end_mark) detail += ", holds the end mark";
  if (!memory.cause.empty()) detail += ", tells of " + memory.cause;
  out.say({.signal = "log",
           .source = Source::log,
           .claim = claim,
           .since = *memory.grew_at,
           .looks = memory.silent_looks,
           .says = memory.end_mark ? "end" : (grew ? "growing" : "silent"),
           .detail = std::move(detail)});
}

}  // namespace trainvigil
