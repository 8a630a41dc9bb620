// The job's log and the file systems: answers of requests L and S.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/wire/frame.hpp"
#include "trainvigil/observation.hpp"

namespace trainvigil::wire {

/// One log file, its tail remembered: it is sent again only when size or time have changed.
class LogView {
 public:
  explicit LogView(std::string path) : path_(std::move(path)) {}
  void begin_look();
  [[nodiscard]] std::string arguments() const;
  void answered(const Answer& answer, bool base64, SensorReport report);
  /// Absent when this look could not read it.
  [[nodiscard]] const std::optional<LogFacts>& facts() const { return facts_; }
  [[nodiscard]] const SensorReport& report() const { return report_; }

 private:
  std::string path_;
  std::string version_ = "0 0";  ///< size and time in the host's own words
  std::string tail_;
  std::optional<LogFacts> facts_;
  SensorReport report_;
};

struct DiskAnswer {
  std::optional<Disk> disk, shm;
};
DiskAnswer parse_disks(const std::vector<std::string>& lines);

}  // namespace trainvigil::wire
