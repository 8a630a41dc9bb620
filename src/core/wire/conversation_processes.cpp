// What a look asks about processes, and what follows: the answers bring up processes whose facts, names and owners are asked for next.
#include "core/wire/conversation.hpp"

namespace trainvigil::wire {

void Probe::ask_scan() {
  const bool full = looks_since_scan_ >= kFullScanEvery || table_.misses_one();
  // Twice: a process seen between fork and exec had not its own command line yet.
  exchange_.request('F', "f", std::to_string(full ? 0 : before_last_pid_) + " -", [this](const Answer& answer) {
    const Scan scan = parse_scan(answer.lines);
    const bool complete = answer.good() && !answer.cut && scan.last_pid.has_value();
    table_.add_scan(scan, complete, constants_.shell_pid);
    if (complete) {
      if (scan.full) looks_since_scan_ = 0;
      before_last_pid_ = scan.full ? *scan.last_pid : last_pid_;
      last_pid_ = *scan.last_pid;
    }
    follow_up();
  });
}

void Probe::ask_facts(const std::string& slot, const std::vector<std::int64_t>& pids) {
  std::string list;
  for (const auto pid : pids) list += (list.empty() ? "" : ",") + std::to_string(pid);
  exchange_.request('P', slot, list.empty() ? "-" : list, [this, pids, first = slot == "p"](const Answer& answer) {
    if (answer.good() && !answer.cut) {
      const ProcessFacts facts = parse_process_facts(answer.lines);
      if (first) host_answered(facts);
      table_.add_facts(pids, facts, constants_);
      if (first) process_report_ = report(answer);
    } else if (first) {
      process_report_ = report(answer);
    }
    if (table_.lost_one() && !kernel_asked_) ask_kernel();
    follow_up();
  });
}

void Probe::host_answered(const ProcessFacts& facts) {
  host_ = facts;
  if (!constants_.boot_time && facts.now && facts.uptime) constants_.boot_time = *facts.now - *facts.uptime;
  const std::string boot = facts.boot_id.value_or(boot_id_);
  if (!boot_id_.empty() && boot != boot_id_) {
    table_.forget();
    looks_since_scan_ = kFullScanEvery;
  }
  boot_id_ = boot;
}

/// Asks for what has turned up: facts, names and owners of processes that the look did not know of when it began.
void Probe::follow_up() {
  if (exchange_.settling()) return;
  for (const auto* slot : {"p", "f", "q", "n"}) {
    if (exchange_.busy(slot)) return;  // the last of them comes here again
  }
  if (const auto pids = table_.take_unnamed(); !pids.empty()) {
    std::string list;
    for (const auto pid : pids) list += (list.empty() ? "" : ",") + std::to_string(pid);
    exchange_.request('F', "n", "0 " + list, [this](const Answer& answer) {
      table_.add_scan(parse_scan(answer.lines), false, constants_.shell_pid);
      follow_up();
    });
  }
  if (const auto pids = table_.take_new(); !pids.empty()) ask_facts("q", pids);
  if (exchange_.busy("u")) return;
  const auto uids = table_.unknown_users();
  if (!uids.empty()) {
    exchange_.request('U', "u", std::to_string(uids.front()), [this, uid = uids.front()](const Answer& answer) {
      // Without a name the number is its name.
      if (answer.ended) table_.add_user(uid, answer.lines.empty() ? std::to_string(uid) : answer.lines.front());
      follow_up();
    });
  }
}

}  // namespace trainvigil::wire
