#include "transport/child_stream.hpp"

#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

namespace trainvigil::transport {
namespace {
constexpr std::size_t kErrTail = 4096;
constexpr std::size_t kMostPerWake = 65536;  ///< then the other hosts have their turn
}  // namespace

std::string signal_name(int number) {
  const char* name = ::sigabbrev_np(number);
  return name != nullptr ? name : std::to_string(number);
}

void ChildStream::launch(StreamOwner& owner, const std::vector<std::string>& argv) {
  owner_ = &owner;
  // Pipes, as sshd gives them to a command: writes up to PIPE_BUF do not interleave there.
  FdPair in = make_pipe();
  FdPair out = make_pipe();
  FdPair err = make_pipe();
  if (!in.valid() || !out.valid() || !err.valid())
    return fail_later(owner, make_fault(Layer::here, "no pipe to a child: " + error_text(errno), argv[0]));
  const auto pid = spawn(argv, {in.first.get(), out.second.get(), err.second.get()});
  if (!pid) return fail_later(owner, make_fault(Layer::here, pid.error().what, argv[0]));
  pid_ = *pid;
  in_ = std::move(in.second);
  out_ = std::move(out.first);
  err_ = std::move(err.first);
  set_nonblocking(in_.get());
  set_nonblocking(out_.get());
  set_nonblocking(err_.get());
  engine_.loop.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->watch_all();
  });
}

void ChildStream::watch_all() {
  if (closed_) return;
  out_watch_ = engine_.loop.watch(out_.get(), EPOLLIN, [this](std::uint32_t) { on_readable(out_, out_watch_, false); });
  err_watch_ = engine_.loop.watch(err_.get(), EPOLLIN, [this](std::uint32_t) { on_readable(err_, err_watch_, true); });
  engine_.children.keep(pid_, [weak = weak_from_this()](int status) {
    if (const auto self = weak.lock()) self->on_exit(status);
  });
  owner_->opened();
}

void ChildStream::fail_later(StreamOwner& owner, Fault fault) {
  owner_ = &owner;
  engine_.loop.post([weak = weak_from_this(), fault = std::move(fault)] {
    const auto self = weak.lock();
    if (self && !self->closed_) self->owner_->ended({StreamEnd::Kind::failed, fault, {}});
  });
}

std::size_t ChildStream::write(std::string_view bytes) {
  if (!in_) return bytes.size();  // into the void: the end is on its way through on_exit
  const ssize_t count = ::write(in_.get(), bytes.data(), bytes.size());
  if (count < 0 && errno != EAGAIN && errno != EINTR) {
    in_watch_.reset();
    in_.reset();
    return bytes.size();
  }
  const std::size_t taken = count < 0 ? 0 : static_cast<std::size_t>(count);
  if (taken < bytes.size() && !in_watch_.active()) {
    in_watch_ = engine_.loop.watch(in_.get(), EPOLLOUT, [this](std::uint32_t) {
      in_watch_.reset();
      owner_->writable();
    });
  }
  return taken;
}

void ChildStream::on_readable(UniqueFd& fd, Watch& watch, bool error) {
  std::array<char, 16384> buffer;
  for (std::size_t total = 0; total < kMostPerWake && !closed_;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN) return;
    }
    if (count <= 0) {
      watch.reset();
      fd.reset();
      // Without its output the child is of no use; it gets a moment to leave a better reason than that.
      constexpr Seconds kLinger{2.0};
      if (!error)
        linger_ = engine_.loop.after(kLinger, [this] {
          engine_.children.end(pid_);
          owner_->ended(explain({}, err_tail_));
        });
      return;
    }
    total += static_cast<std::size_t>(count);
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(count));
    heard_ = heard_ || !error;
    if (error) {
      err_tail_.append(bytes);
      if (err_tail_.size() > kErrTail) err_tail_.erase(0, err_tail_.size() - kErrTail);
      owner_->received_error(bytes);
    } else {
      owner_->received(bytes);
    }
  }
}

void ChildStream::drain() {
  // What the child wrote before it ended. Not to the end of the stream: a grandchild may hold that open for ever.
  if (!closed_ && err_) on_readable(err_, err_watch_, true);
  if (!closed_ && out_) on_readable(out_, out_watch_, false);
}

void ChildStream::on_exit(int wait_status) {
  const auto self = shared_from_this();
  drain();
  pid_ = -1;
  if (closed_) return;
  linger_.reset();
  CommandEnd end;
  if (WIFEXITED(wait_status)) end.exit_status = WEXITSTATUS(wait_status);
  if (WIFSIGNALED(wait_status)) end.signal = signal_name(WTERMSIG(wait_status));
  owner_->ended(explain(end, err_tail_));
}

void ChildStream::close() {
  if (std::exchange(closed_, true)) return;
  linger_.reset();
  in_watch_.reset();
  out_watch_.reset();
  err_watch_.reset();
  in_.reset();
  out_.reset();
  err_.reset();
  if (pid_ > 0) engine_.children.end(pid_);
  pid_ = -1;
}

}  // namespace trainvigil::transport
