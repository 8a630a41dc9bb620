// The words of the contract, in one place: every enum's name and the level of every finding.
#include <array>
#include <string_view>
#include <utility>

#include "trainvigil/verdict.hpp"

namespace trainvigil {

const char* to_string(Phase phase) {
  switch (phase) {
    case Phase::waiting:
      return "waiting";
    case Phase::starting:
      return "starting";
    case Phase::training:
      return "training";
    case Phase::saving:
      return "saving";
    case Phase::stalled:
      return "stalled";
    case Phase::crashed:
      return "crashed";
    case Phase::completed:
      return "completed";
    case Phase::ended:
      return "ended";
    case Phase::unreachable:
      return "unreachable";
    case Phase::unknown:
      break;
  }
  return "unknown";
}

const char* to_string(Level level) {
  switch (level) {
    case Level::ok:
      return "ok";
    case Level::warning:
      return "warning";
    case Level::critical:
      return "critical";
    case Level::unknown:
      break;
  }
  return "unknown";
}

const char* to_string(Confidence confidence) {
  switch (confidence) {
    case Confidence::high:
      return "high";
    case Confidence::medium:
      return "medium";
    case Confidence::low:
      break;
  }
  return "low";
}

const char* to_string(Reach reach) {
  switch (reach) {
    case Reach::ok:
      return "ok";
    case Reach::resolve_failed:
      return "resolve-failed";
    case Reach::connect_failed:
      return "connect-failed";
    case Reach::auth_failed:
      return "auth-failed";
    case Reach::host_key_unknown:
      return "host-key-unknown";
    case Reach::host_key_changed:
      return "host-key-changed";
    case Reach::host_key_revoked:
      return "host-key-revoked";
    case Reach::probe_timeout:
      return "probe-timeout";
    case Reach::shell_failed:
      break;
  }
  return "shell-failed";
}

const char* to_string(Unit unit) {
  switch (unit) {
    case Unit::epoch:
      return "epoch";
    case Unit::step:
      return "step";
    case Unit::save:
      break;
  }
  return "save";
}

const char* to_string(CheckpointState state) {
  switch (state) {
    case CheckpointState::complete:
      return "complete";
    case CheckpointState::saving:
      return "saving";
    case CheckpointState::partial:
      return "partial";
    case CheckpointState::corrupt:
      return "corrupt";
    case CheckpointState::stale:
      break;
  }
  return "stale";
}

const char* to_string(CheckpointRun run) {
  switch (run) {
    case CheckpointRun::this_run:
      return "this";
    case CheckpointRun::earlier:
      return "earlier";
    case CheckpointRun::unknown:
      break;
  }
  return "unknown";
}

const char* to_string(FileType type) {
  switch (type) {
    case FileType::file:
      return "f";
    case FileType::directory:
      return "d";
    case FileType::link:
      return "l";
    case FileType::other:
      break;
  }
  return "o";
}

const char* to_string(Integrity integrity) {
  switch (integrity) {
    case Integrity::ok:
      return "ok";
    case Integrity::truncated:
      return "truncated";
    case Integrity::bad:
      return "bad";
    case Integrity::unchecked:
      break;
  }
  return "unchecked";
}

const char* to_string(SensorStatus status) {
  switch (status) {
    case SensorStatus::ok:
      return "ok";
    case SensorStatus::timeout:
      return "timeout";
    case SensorStatus::denied:
      return "denied";
    case SensorStatus::cut:
      return "cut";
    case SensorStatus::absent:
      return "absent";
    case SensorStatus::stale:
      break;
  }
  return "stale";
}

Level level_of_finding(std::string_view finding) {
  // Contract section 4, "Findings": notes leave the level alone, reach findings are unknown, the rest warn. Words that only ever explain a crash or a
  // stall (oom-kill, traceback …) get their urgency from the phase, and warn while the run lives.
  static constexpr std::array notes{
      std::string_view{"log-silent"},       std::string_view{"checkpoint-stale"}, std::string_view{"gpu-unreadable"},
      std::string_view{"gpu-ghost"},        std::string_view{"gpu-dark"},         std::string_view{"clock-skew"},
      std::string_view{"probe-slow"},       std::string_view{"probe-partial"},    std::string_view{"listing-cut"},
      std::string_view{"restarted"},        std::string_view{"preempted"},        std::string_view{"checkpoint-rotated"},
      std::string_view{"kernel-unreadable"}};
  static constexpr std::array reach{std::string_view{"resolve-failed"},   std::string_view{"connect-failed"},   std::string_view{"auth-failed"},
                                    std::string_view{"host-key-unknown"}, std::string_view{"host-key-changed"}, std::string_view{"host-key-revoked"},
                                    std::string_view{"probe-timeout"},    std::string_view{"shell-failed"}};
  for (const auto note : notes) {
    if (note == finding) return Level::ok;
  }
  for (const auto word : reach) {
    if (word == finding) return Level::unknown;
  }
  return Level::warning;
}

}  // namespace trainvigil
