// A stream whose other end is the stdio of a child: the local sh itself, or an ssh that leads to one.
#pragma once

#include <string>
#include <vector>

#include "transport/engine.hpp"
#include "transport/stream.hpp"

namespace trainvigil::transport {

class ChildStream : public Stream, public std::enable_shared_from_this<ChildStream> {
 public:
  explicit ChildStream(Engine& engine) : engine_(engine) {}
  ~ChildStream() override { ChildStream::close(); }
  std::size_t write(std::string_view bytes) override;
  void close() override;

 protected:
  /// Starts the child and reads it; tells the owner that it is open, or why not.
  void launch(StreamOwner& owner, const std::vector<std::string>& argv);
  /// What a child that ended by itself means.
  [[nodiscard]] virtual StreamEnd explain(CommandEnd end, std::string_view err_tail) const = 0;
  void fail_later(StreamOwner& owner, Fault fault);
  [[nodiscard]] std::string_view error_tail() const { return err_tail_; }
  [[nodiscard]] bool heard() const { return heard_; }
  Engine& engine() { return engine_; }
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  void watch_all();
  void on_readable(UniqueFd& fd, Watch& watch, bool error);
  void on_exit(int wait_status);
  void drain();

  Engine& engine_;
  StreamOwner* owner_ = nullptr;
  UniqueFd in_, out_, err_;
  Watch in_watch_, out_watch_, err_watch_;
  Timer linger_;
  std::string err_tail_;
  pid_t pid_ = -1;
  bool closed_ = false;
  bool heard_ = false;
};

/// Name of a signal without SIG.
std::string signal_name(int number);

}  // namespace trainvigil::transport
