// What can be wrong with a value or a job, wherever it was written.
#include <regex.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "trainvigil/bytes.hpp"
#include "trainvigil/config.hpp"

namespace trainvigil {
namespace {

bool printable(std::string_view text) { return harmless(text) == text; }

std::string last_part(std::string_view text) {
  while (text.size() > 1 && text.back() == '/') text.remove_suffix(1);
  const std::size_t slash = text.rfind('/');
  return std::string(slash == std::string_view::npos || slash + 1 == text.size() ? text : text.substr(slash + 1));
}

}  // namespace

std::optional<std::string> regex_fault(const std::string& pattern) {
  if (pattern.empty()) return "an empty regular expression matches everything";
  if (pattern.find('\0') != std::string::npos) return "a regular expression can not hold a NUL byte";
  regex_t compiled{};
  const int code = regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB);
  if (code == 0) {
    regfree(&compiled);
    return std::nullopt;
  }
  std::array<char, 160> words{};
  regerror(code, &compiled, words.data(), words.size());
  return "bad regular expression: " + std::string(words.data());
}

std::optional<std::string> host_fault(std::string_view host) {
  if (host.empty()) return "the host is empty";
  if (host.front() == '-') return "a host can not begin with a dash";
  if (!printable(host) || host.find_first_of(" \t\"'`$;|&<>(){}\\") != std::string_view::npos)
    return "a host can not hold blanks, quotes or shell characters";
  const std::size_t at = host.rfind('@');
  if (at == 0) return "the user before the @ is empty";
  std::string_view name = at == std::string_view::npos ? host : host.substr(at + 1);
  if (name.empty() || name.front() == '-') return "the name after the @ is empty or begins with a dash";
  // More than one colon and no bracket: an IPv6 address without a port.
  const std::size_t colon = name.rfind(':');
  const bool bracketed = name.front() == '[';
  if (colon == std::string_view::npos || (bracketed && name.find(']') > colon) || (!bracketed && name.find(':') != colon)) return std::nullopt;
  const std::string_view port = name.substr(colon + 1);
  int number = 0;
  const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (fault != std::errc{} || end != port.data() + port.size() || number < 1 || number > 65535 || colon == 0)
    return "the port is no number from 1 to 65535";
  return std::nullopt;
}

std::optional<std::string> name_fault(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.size() > 200) return "the name is longer than 200 bytes";
  if (!printable(name)) return "the name holds control characters";
  return std::nullopt;
}

std::optional<Error> job_fault(const Job& job) {
  const auto error = [](std::string what, std::string remedy) { return Error{std::move(what), {}, std::move(remedy), false}; };
  if (!job.checkpoints && !job.process) return error("the job has neither checkpoints nor process", "Give at least one of them");
  if (job.epochs && job.steps) return error("the job has both epochs and steps", "Keep the one that its checkpoints count");
  const auto relative = [](const std::optional<std::string>& path) { return path && (path->empty() || path->front() != '/'); };
  if (relative(job.checkpoints))
    return error("checkpoints \"" + harmless(*job.checkpoints) + "\" is no absolute path", "Write it from / on, as it is on the watched host");
  if (relative(job.log)) return error("log \"" + harmless(*job.log) + "\" is no absolute path", "Write it from / on, as it is on the watched host");
  if (job.end_mark && !job.log) return error("end_mark needs log: it is looked for there", "Give log as well");
  return std::nullopt;
}

std::string default_job_name(const Job& job) {
  const std::string part = last_part(job.checkpoints ? *job.checkpoints : job.process.value_or(""));
  return harmless(job.host + ":" + part).substr(0, 200);
}

}  // namespace trainvigil
