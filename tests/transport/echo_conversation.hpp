// A conversation with a sh that answers one line to one line; and a link that can be waited for.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "trainvigil/transport.hpp"

namespace trainvigil::test {

/// Requests: `E text` echoes, `P` prints the pid of the sh, `S n` sleeps in the foreground, `X n` exits, `N` makes noise on stderr first, `F` floods.
class EchoConversation final : public Conversation {
 public:
  void ask(const std::string& request) {
    request_ = request + "\n";
    answer_.clear();
    hurried_ = false;
  }
  [[nodiscard]] std::string answer() const { return answer_.substr(0, answer_.find('\n')); }
  [[nodiscard]] std::string errors() const { return errors_; }
  [[nodiscard]] int opens() const { return opens_; }
  [[nodiscard]] bool hurried() const { return hurried_; }
  void settles(bool settles) { settles_ = settles; }

  void opened() override {
    ++opens_;
    ready_ = false;
    input_.clear();
    answer_.clear();
    script_ = kScript;
    sent_ = {};
  }
  std::string take_output(std::size_t limit) override {
    if (!script_.empty()) {
      std::string part = script_.substr(0, limit);
      script_.erase(0, part.size());
      return part;
    }
    if (!ready_ || sent_ == request_) return {};
    return sent_ = request_;
  }
  void received(std::string_view out) override {
    input_ += out;
    for (std::size_t end = input_.find('\n'); end != std::string::npos; end = input_.find('\n')) {
      const std::string line = input_.substr(0, end);
      input_.erase(0, end + 1);
      if (line == "TVECHO READY") ready_ = true;
      if (ready_ && line.rfind("A ", 0) == 0) {
        answer_ = line.substr(2) + "\n";
        sent_ = request_ = {};
      }
    }
    if (input_.size() > 65536) input_.erase(0, input_.size() - 65536);
  }
  void received_error(std::string_view err) override {
    errors_ += err;
    if (errors_.size() > 4096) errors_.erase(0, errors_.size() - 4096);
  }
  [[nodiscard]] bool ready() const override { return ready_; }
  [[nodiscard]] bool answered() const override { return !answer_.empty(); }
  [[nodiscard]] std::optional<Failure> broken() const override { return std::nullopt; }
  void hurry() override { hurried_ = true; }
  bool settle_for_less() override { return settles_; }

 private:
  // The first line may be eaten by a start-up file that reads; the loop is in a function so that no sh reads on behind it. Padding makes it need
  // several writes.
  inline static const std::string kScript = "# eaten\ntv_main() {\n" + std::string(9000, '#') + R"(
printf 'TVECHO READY\n'
while read -r verb word; do
  case $verb in
    E) printf 'A %s\n' "$word" ;;
    P) printf 'A %s\n' "$$" ;;
    S) sleep "$word"; printf 'A slept\n' ;;
    B) sleep "$word" >/dev/null 2>&1 & printf 'A %s\n' "$!" ;;
    X) exit "$word" ;;
    N) i=0; while [ $i -lt 2000 ]; do printf 'noise noise noise noise noise noise noise %s\n' "$i" >&2; i=$((i+1)); done; printf 'A quiet\n' ;;
    F) while :; do printf 'flood flood flood flood flood flood flood flood flood flood flood flood flood flood flood flood flood flood\n'; done ;;
    L) printf 'A later\n'; sleep 0.2; printf 'late record\n' ;;
  esac
done
}
tv_main
)";
  std::string request_, sent_, answer_, script_, input_, errors_;
  int opens_ = 0;
  bool ready_ = false;
  bool hurried_ = false;
  bool settles_ = false;
};

/// Looks and waits for the end of it. Thread-safe towards the loop by the mutex alone.
inline std::optional<Failure> look(HostLink& link, const std::shared_ptr<Conversation>& conversation, Seconds limit = Seconds{30}) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable changed;
    int calls = 0;
    std::optional<Failure> failure;
  };
  const auto waiting = std::make_shared<Waiting>();
  link.look(conversation, limit, [waiting](std::optional<Failure> failure) {
    const std::lock_guard lock(waiting->mutex);
    ++waiting->calls;
    waiting->failure = std::move(failure);
    waiting->changed.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  if (!waiting->changed.wait_for(lock, std::chrono::duration<double>(limit.count() + 30), [&] { return waiting->calls > 0; })) {
    return Failure{Reach::ok, "the link never reported", {}, false};
  }
  return waiting->failure;
}

inline std::string text(const std::optional<Failure>& failure) { return failure ? failure->what + " | " + failure->remedy : "no failure"; }

}  // namespace trainvigil::test
