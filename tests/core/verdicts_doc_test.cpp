// Holds the table of docs/verdicts.md true: every row is played, and must end in the phase it names.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "scenario.hpp"

namespace trainvigil::test {
namespace {

struct Row {
  std::string process, gpu, checkpoints, log, phase;
};

std::string trim(const std::string& s) {
  const auto from = s.find_first_not_of(' ');
  return from == std::string::npos ? "" : s.substr(from, s.find_last_not_of(' ') - from + 1);
}

std::vector<Row> rows() {
  std::ifstream in(std::string(TV_SOURCE_DIR) + "/docs/verdicts.md");
  std::vector<Row> out;
  std::string line;
  bool in_table = false;
  while (std::getline(in, line)) {
    if (line.starts_with("| process | gpu |")) in_table = true;
    if (!in_table || line.starts_with("|---") || line.starts_with("| process | gpu |")) continue;
    if (!line.starts_with("|")) break;
    std::vector<std::string> cells;
    std::istringstream text(line.substr(1));
    for (std::string cell; std::getline(text, cell, '|');) cells.push_back(trim(cell));
    if (cells.size() < 5) {
      ADD_FAILURE() << line;
      continue;
    }
    out.push_back({cells[0], cells[1], cells[2], cells[3], cells[4]});
  }
  return out;
}

void set_gpu(Scenario& s, const std::string& gpu) {
  s.gpus_read = gpu != "unread";
  if (gpu == "work") s.work();
  if (gpu == "held" || gpu == "idle") s.hold();
  if (gpu == "spin") s.spin();
  if (gpu == "idle") s.gpus[0].pids = std::vector<std::int64_t>{};
}

void set_process(Scenario& s, const std::string& process) {
  s.processes_read = process != "unread";
  if (process == "gone") s.alive = false;
  if (process == "still" || process == "stopped") s.cpu_rate = s.io_rate = 0;
  if (process == "wait") s.io_rate = 0;
  if (process == "stopped") s.process_state = 'T';
}

TEST(VerdictsDocument, EveryRowOfTheTableHolds) {
  const auto table = rows();
  ASSERT_GE(table.size(), 20U);
  for (const Row& row : table) {
    SCOPED_TRACE(row.process + " | " + row.gpu + " | " + row.checkpoints + " | " + row.log + " -> " + row.phase);
    Scenario s;
    s.job.log = "/log";
    s.log = LogFacts{100, host_time(s.now), "hello\n"};
    if (row.process == "absent") {
      const int epochs = row.checkpoints == "all" ? 5 : (row.checkpoints == "some" ? 2 : 0);
      for (int n = 0; n < epochs; ++n) s.epoch(n, 9000 - 600 * n);
    } else {
      s.healthy(row.checkpoints == "all" ? 5 : 2);
    }
    set_gpu(s, row.gpu);
    set_process(s, row.process);
    std::int64_t bytes = 1'000'000;
    if (row.checkpoints == "growing") s.put("2/model.safetensors", bytes, 0, Integrity::truncated);
    for (int i = 0; i < 80; ++i) {
      if (row.checkpoints == "growing") {
        s.listing.entries.back().bytes = bytes += 1'000'000;
        s.listing.entries.back().mtime = host_time(s.now + 30);
      }
      if (row.log == "progress") s.log = LogFacts{*s.log->bytes + 20, host_time(s.now + 30), "step " + std::to_string(i) + " loss 1.0\n"};
      if (row.log == "end" && i == 0) s.log = LogFacts{200, host_time(s.now + 30), "hello\nTraining completed in 3 h\n"};
      s.look();
    }
    EXPECT_STREQ(to_string(s.last.phase), row.phase.c_str()) << s.last.summary;
  }
}

}  // namespace
}  // namespace trainvigil::test
