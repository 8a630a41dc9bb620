// Writes a trace while `run` watches one job.
#pragma once

#include <memory>
#include <string>

#include "trainvigil/job.hpp"
#include "trainvigil/observation.hpp"
#include "trainvigil/trace.hpp"

namespace trainvigil::app {

class Recorder {
 public:
  /// Throws UsageError when the file can not be written or holds something already.
  explicit Recorder(const std::string& path);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;
  /// Before the first observation. Throws UsageError when not even this can be written.
  void begin(const TraceHeader& header);
  [[nodiscard]] bool begun() const { return begun_; }
  void add(const Observation& observation);

 private:
  void write(const std::string& line);
  std::string path_;
  int fd_;
  bool begun_ = false;
  bool failed_ = false;
};

}  // namespace trainvigil::app
