// Which processes a job's pattern means. Matching happens on the watching side: the pattern never reaches the watched host, so that no command line
// of the probe can match it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace trainvigil::wire {

/// A POSIX extended regular expression. One that does not compile matches nothing (config refuses it long before).
class Pattern {
 public:
  explicit Pattern(const std::string& expression);
  [[nodiscard]] bool matches(const std::string& text) const;
  /// Letters of those words of the expression that `text` contains, whatever their case: what a near miss is measured by.
  [[nodiscard]] std::size_t likeness(std::string_view text) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

/// Programs that only look at or hold a file of the job's name: editors, pagers, searchers, copiers, the sshd of a session, trainvigil itself. Shells
/// and launchers are not among them: they may well be what the operator means, and core knows that they are no main process.
bool is_onlooker(std::string_view argv0);

/// `timeout 9m trainvigil wait … --process train`: whoever starts a watcher has the job's pattern in its command line and is none of the job's.
bool starts_a_watcher(std::string_view cmdline);

}  // namespace trainvigil::wire
