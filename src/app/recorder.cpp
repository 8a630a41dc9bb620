#include "app/recorder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/command.hpp"
#include "app/logging.hpp"
#include "trainvigil/bytes.hpp"

namespace trainvigil::app {

Recorder::Recorder(const std::string& path) : path_(path), fd_(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND, 0644)) {
  if (fd_ < 0) throw UsageError("--record: " + harmless(path) + " can not be written: " + std::strerror(errno), "Give another FILE");
  struct stat info {};
  if (::fstat(fd_, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > 0) {
    ::close(fd_);
    throw UsageError("--record: " + harmless(path) + " holds something already", "Give the name of a new file");
  }
}

Recorder::~Recorder() { ::close(fd_); }

void Recorder::write(const std::string& line) {
  if (failed_) return;
  const std::string text = line + '\n';
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = ::write(fd_, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const std::string why = std::strerror(errno);
      failed_ = true;
      // Nothing is recorded yet and nothing will be: whoever asked for it wants to know now.
      if (!begun_) throw UsageError("--record: " + harmless(path_) + " can not be written: " + why, "Give a FILE on a disk with room");
      // The watch is worth more than its record; a line cut short is what replay knows how to end at.
      log_error("the record stops here: " + path_ + ": " + why);
      return;
    }
    done += static_cast<std::size_t>(n);
  }
}

void Recorder::begin(const TraceHeader& header) {
  write(encode_trace_header(header));
  begun_ = true;
}

void Recorder::add(const Observation& observation) { write(encode_observation(observation)); }

}  // namespace trainvigil::app
