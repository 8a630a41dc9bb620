#include "app/logging.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

#include "trainvigil/bytes.hpp"

namespace trainvigil::app {
namespace {

constexpr std::size_t kFileBytes = 5'000'000;
constexpr std::size_t kFiles = 5;

std::shared_ptr<spdlog::sinks::sink> stderr_sink(int verbose) {
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  sink->set_level(verbose >= 2 ? spdlog::level::debug : verbose == 1 ? spdlog::level::info : spdlog::level::warn);
  sink->set_pattern(verbose >= 1 ? "trainvigil: %H:%M:%S %l: %v" : "trainvigil: %l: %v");
  return sink;
}

spdlog::logger& logger() {
  static spdlog::logger fallback("trainvigil", stderr_sink(0));
  auto* chosen = spdlog::default_logger_raw();
  return chosen != nullptr && chosen->name() == "trainvigil" ? *chosen : fallback;
}

// Texts of hosts end up in messages; a log is read on terminals as well.
void log(spdlog::level::level_enum level, const std::string& text) { logger().log(level, "{}", harmless(text)); }

}  // namespace

Result<void> start_logging(int verbose, const std::string& file) {
  std::vector<spdlog::sink_ptr> sinks = {stderr_sink(verbose)};
  try {
    if (!file.empty()) {
      auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file, kFileBytes, kFiles - 1);
      sink->set_pattern("%Y-%m-%dT%H:%M:%S%z %l %v");
      sink->set_level(verbose >= 2 ? spdlog::level::debug : spdlog::level::info);
      // A disk that is full, or /dev/full, opens well: only a line that arrives proves it.
      sink->log({"trainvigil", spdlog::level::info, "the log begins here"});
      sink->flush();
      sinks.push_back(std::move(sink));
    }
  } catch (const spdlog::spdlog_ex& e) {
    return fail(std::string("the log file can not be written: ") + e.what(), "Give another one with --log-file", file);
  }
  auto made = std::make_shared<spdlog::logger>("trainvigil", sinks.begin(), sinks.end());
  made->set_level(spdlog::level::debug);
  made->flush_on(spdlog::level::info);
  // Once: a full disk must not write to stderr at every poll.
  made->set_error_handler([told = false](const std::string& what) mutable {
    if (!std::exchange(told, true)) std::fprintf(stderr, "trainvigil: a line of the log is lost, and more may be: %s\n", harmless(what).c_str());
  });
  spdlog::set_default_logger(std::move(made));
  return {};
}

void log_debug(const std::string& text) { log(spdlog::level::debug, text); }
void log_info(const std::string& text) { log(spdlog::level::info, text); }
void log_warning(const std::string& text) { log(spdlog::level::warn, text); }
void log_error(const std::string& text) { log(spdlog::level::err, text); }

}  // namespace trainvigil::app
