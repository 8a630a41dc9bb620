// Listings as small text blocks (data/*.txt; the format is described at the top of data/frameworks.txt).
#pragma once

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <optional>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "trainvigil/checkpoint.hpp"

namespace trainvigil::test {

inline constexpr double kNow = 1'800'000'000;

struct ExpectedSave {
  std::string value, state, done, unit;
  friend bool operator==(const ExpectedSave&, const ExpectedSave&) = default;
  friend auto operator<=>(const ExpectedSave&, const ExpectedSave&) = default;
  friend std::ostream& operator<<(std::ostream& out, const ExpectedSave& s) {
    return out << s.value << " " << s.state << " done " << s.done << " " << s.unit;
  }
};

struct Fixture {
  std::string name;
  Listing listing;
  std::optional<HostTime> run_start;
  std::optional<bool> alive = true;
  std::optional<std::int64_t> epochs, steps;
  std::string cmdline;
  std::vector<ExpectedSave> numbered;
  std::vector<std::pair<std::string, std::string>> unnumbered;  ///< path, state
  std::vector<std::string> in_progress;
  std::optional<std::string> progress;  ///< "done/total unit"
  std::optional<std::string> end;

  [[nodiscard]] LayoutInput input() const {
    LayoutInput in;
    in.listing = &listing;
    in.now = host_time(kNow);
    in.run_start = run_start;
    in.alive = alive;
    in.epochs = epochs;
    in.steps = steps;
    in.cmdline = cmdline;
    return in;
  }
  friend std::ostream& operator<<(std::ostream& out, const Fixture& f) { return out << f.name; }
};

inline void read_line(Fixture& f, const std::string& line) {
  std::istringstream in(line);
  std::string kind;
  in >> kind;
  if (kind == "f" || kind == "d" || kind == "l") {
    FileEntry e;
    double age = 0;
    in >> age;
    e.mtime = host_time(kNow - age);
    if (kind == "f") {
      std::int64_t bytes = 0;
      in >> bytes;
      e.bytes = bytes;
    } else {
      e.type = kind == "d" ? FileType::directory : FileType::link;
    }
    in >> e.path;
    std::string more;
    in >> more;
    if (more == "->") {
      std::string target;
      in >> target;
      e.target = target;
    }
    if (more == "ok") e.integrity = Integrity::ok;
    if (more == "truncated") e.integrity = Integrity::truncated;
    if (more == "bad") e.integrity = Integrity::bad;
    f.listing.entries.push_back(e);
  } else if (kind == "r") {
    StateFile s;
    in >> s.path;
    std::getline(in >> std::ws, s.text);
    for (std::size_t at = s.text.find("\\n"); at != std::string::npos; at = s.text.find("\\n")) s.text.replace(at, 2, "\n");
    f.listing.state_files.push_back(s);
  } else if (kind == "run") {
    double age = 0;
    in >> age;
    f.run_start = host_time(kNow - age);
  } else if (kind == "gone") {
    f.alive = false;
  } else if (kind == "epochs" || kind == "steps") {
    std::int64_t n = 0;
    in >> n;
    (kind == "epochs" ? f.epochs : f.steps) = n;
  } else if (kind == "cmd") {
    std::getline(in >> std::ws, f.cmdline);
  } else if (kind == "c") {
    ExpectedSave s;
    in >> s.value >> s.state >> s.done >> s.unit;
    f.numbered.push_back(s);
  } else if (kind == "u") {
    std::string path, state;
    in >> path >> state;
    f.unnumbered.emplace_back(path, state);
  } else if (kind == "p") {
    std::string path;
    in >> path;
    f.in_progress.push_back(path);
  } else if (kind == "progress") {
    std::string text;
    std::getline(in >> std::ws, text);
    f.progress = text;
  } else if (kind == "end") {
    std::string path;
    in >> path;
    f.end = path;
  } else {
    throw std::runtime_error("unknown line: " + line);
  }
}

inline std::vector<Fixture> read_fixtures(const std::string& file) {
  std::ifstream in(std::string(TV_SOURCE_DIR) + "/tests/layouts/data/" + file);
  if (!in) throw std::runtime_error("no " + file);
  std::vector<Fixture> out;
  std::string line;
  while (std::getline(in, line)) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("== ")) {
      out.emplace_back();
      out.back().name = line.substr(3);
    } else {
      read_line(out.back(), line);
    }
  }
  return out;
}

inline std::string text_of(const std::optional<std::int64_t>& v) { return v ? std::to_string(*v) : "-"; }
inline std::string text_of(const std::optional<Unit>& u) { return !u ? "-" : *u == Unit::epoch ? "epoch" : *u == Unit::step ? "step" : "save"; }
inline std::string text_of(CheckpointState s) {
  switch (s) {
    case CheckpointState::complete:
      return "complete";
    case CheckpointState::saving:
      return "saving";
    case CheckpointState::partial:
      return "partial";
    case CheckpointState::corrupt:
      return "corrupt";
    case CheckpointState::stale:
      break;
  }
  return "stale";
}

inline std::vector<ExpectedSave> numbered_of(const CheckpointView& view) {
  std::vector<ExpectedSave> out;
  for (const auto& c : view.checkpoints)
    if (c.value) out.push_back({text_of(c.value), text_of(c.state), text_of(c.done), text_of(c.unit)});
  return out;
}

inline std::string describe(const CheckpointView& view) {
  std::string out;
  for (const auto& c : view.checkpoints)
    out += c.path + ": " + text_of(c.value) + " " + text_of(c.state) + " done " + text_of(c.done) + " " + text_of(c.unit) + " (" + c.why + ")\n";
  for (const auto& p : view.in_progress) out += "in progress: " + p.path + " (" + p.why + ")\n";
  return out;
}

}  // namespace trainvigil::test
