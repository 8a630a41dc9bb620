// A world that follows a script: every look has its answer, and time passes only when somebody waits.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/world.hpp"

namespace trainvigil::app {

class ScriptedWorld : public World {
 public:
  using Answer = std::function<std::vector<Observation>()>;
  struct Look {
    std::string host;
    WatcherTime at;
    bool quick;
  };

  /// What the next look at `host` brings and how long it takes. The last answer is given again and again.
  void script(const std::string& host, Seconds takes, Answer answer) { scripts_[host].push_back({takes, std::move(answer)}); }
  std::vector<Look> looks;
  std::function<void()> on_wait;
  bool stop = false;

  WatcherTime now() override { return now_; }
  std::unique_ptr<HostWatch> watch(const HostTarget& target, const std::vector<Job>&) override { return std::make_unique<Watch>(*this, target.name); }
  void wait(WatcherTime until) override {
    WatcherTime next = until;
    for (const WatcherTime end : running_)
      if (end > now_) next = std::min(next, end);
    now_ = std::max(now_ + Seconds{0.001}, next);
    if (on_wait) on_wait();
  }
  [[nodiscard]] bool stopping() const override { return stop; }

 private:
  struct Scripted {
    Seconds takes;
    Answer answer;
  };
  class Watch : public HostWatch {
   public:
    Watch(ScriptedWorld& world, std::string host) : world_(world), host_(std::move(host)) {}
    void begin(const LookOptions& options, Seconds) override {
      world_.looks.push_back({host_, world_.now_, options.quick});
      auto& script = world_.scripts_.at(host_);
      current_ = script.front();
      if (script.size() > 1) script.pop_front();
      ends_ = world_.now_ + current_.takes;
      world_.running_.push_back(ends_);
    }
    [[nodiscard]] bool finished() const override { return world_.now_ >= ends_; }
    std::vector<Observation> take(WatcherTime now) override {
      auto out = current_.answer();
      for (Observation& o : out) o.watcher_time = now;
      return out;
    }

   private:
    ScriptedWorld& world_;
    std::string host_;
    Scripted current_{};
    WatcherTime ends_{};
  };

  WatcherTime now_ = watcher_time(1'000'000);
  std::map<std::string, std::deque<Scripted>> scripts_;
  std::vector<WatcherTime> running_;
};

}  // namespace trainvigil::app
