// The stream to and from the resident shell of a host: the script and requests go out, the answers come in and find who asked.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/wire/frame.hpp"
#include "trainvigil/transport.hpp"

namespace trainvigil::wire {

class Exchange {
 public:
  using Done = std::function<void(const Answer&)>;
  using Announced = std::function<void(const std::vector<std::string_view>&)>;

  /// `before_first`: requests are numbered from here. `announced` gets the words behind READY, each time that a shell announces itself.
  Exchange(std::uint32_t before_first, Announced announced) : seq_(before_first), announced_(std::move(announced)) {}

  /// A new stream: the script is to be sent, nothing has been asked.
  void opened();
  std::string take_output(std::size_t limit);
  void received(std::string_view out);

  /// `slot`: at most one child of it is alive on the host. `done` comes at the end of the answer, or by settle() with what there is.
  void request(char kind, const std::string& slot, const std::string& arguments, Done done);
  /// A new look: answers to what was asked before belong to nobody.
  void begin_look();
  /// Asks the host to end the tools that the open requests run.
  void hurry();
  /// Every open request is done with what has come; nothing more is asked meanwhile.
  void settle();

  [[nodiscard]] bool ready() const { return ready_; }
  [[nodiscard]] bool idle() const { return requests_.empty() && output_.empty(); }
  [[nodiscard]] bool busy(std::string_view slot) const;
  [[nodiscard]] bool settling() const { return settling_; }
  [[nodiscard]] const std::optional<Failure>& broken() const { return broken_; }

 private:
  /// One request that is under way.
  struct Request {
    std::string slot;
    bool was_free = false;  ///< we had the end of the slot's answer before
    Answer answer;
    Done done;
  };

  void take_line(std::string_view line);
  void start(std::string_view text);
  void break_off(std::string what);

  std::uint32_t seq_;
  Announced announced_;
  LineCutter lines_;
  std::size_t script_sent_ = 0, noise_ = 0;
  bool ready_ = false, settling_ = false;
  std::string tail_, output_;
  std::optional<Failure> broken_;
  std::map<std::uint32_t, Request> requests_;
  std::set<std::string> ended_slots_;
  std::string slot_suffix_;
};

}  // namespace trainvigil::wire
