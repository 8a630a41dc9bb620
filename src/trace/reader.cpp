#include <filesystem>
#include <fstream>
#include <system_error>

#include "trainvigil/trace.hpp"

namespace trainvigil {

struct TraceReader::Impl {
  std::string path;
  std::ifstream in;
  TraceHeader header;
  std::size_t line = 1;
  Observation previous;
  bool has_previous = false;

  tl::unexpected<Error> at_line(Error error) const {
    error.where = path + ":" + std::to_string(line);
    return tl::unexpected<Error>(std::move(error));
  }
};

TraceReader::TraceReader() : impl_(std::make_unique<Impl>()) {}
TraceReader::TraceReader(TraceReader&&) noexcept = default;
TraceReader::~TraceReader() = default;

Result<TraceReader> TraceReader::open(const std::string& path) {
  TraceReader reader;
  Impl& impl = *reader.impl_;
  impl.path = path;
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return fail("this is a directory and no trace", "Give a file that `run --record` wrote", path);
  impl.in.open(path, std::ios::binary);
  if (!impl.in) return fail("the trace can not be opened", "Check the path and its permissions", path);
  std::string text;
  if (!std::getline(impl.in, text)) return fail("the trace is empty", "Give a file that `run --record` wrote", path);
  auto header = decode_trace_header(text);
  if (!header) return impl.at_line(header.error());
  impl.header = std::move(*header);
  return reader;
}

const TraceHeader& TraceReader::header() const { return impl_->header; }

Result<bool> TraceReader::next(Observation& out) {
  std::string text;
  do {
    if (!std::getline(impl_->in, text)) return false;
    ++impl_->line;
  } while (text.empty());
  auto observation = decode_observation(text, impl_->has_previous ? &impl_->previous : nullptr);
  if (!observation) return impl_->at_line(observation.error());
  if (impl_->has_previous && observation->watcher_time < impl_->previous.watcher_time) {
    return impl_->at_line({"watcher_time runs backwards", {}, "The trace was put together from several; replay them one by one"});
  }
  impl_->previous = *observation;
  impl_->has_previous = true;
  out = std::move(*observation);
  return true;
}

}  // namespace trainvigil
