// What files that the frameworks write for themselves tell of the progress. Bounded, and total on any bytes: a file may be cut anywhere.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "core/layouts/rules.hpp"

namespace trainvigil::layouts {
namespace {

constexpr std::size_t kMostText = 64 * 1024;  // of one file, from each end

/// Number behind a key, whatever stands around it: `"key": 12`, `key=12`, `key: 12`. The last mention wins when `last` is set.
std::optional<double> number_of(std::string_view text, std::string_view key, bool last = true) {
  std::optional<double> found;
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + key.size())) {
    const bool left = at == 0 || std::string_view("\"' \t\n{,;").find(text[at - 1]) != std::string_view::npos;
    auto rest = text.substr(at + key.size());
    if (rest.starts_with('"') || rest.starts_with('\'')) rest.remove_prefix(1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (!left || rest.empty() || (rest[0] != ':' && rest[0] != '=')) continue;
    rest.remove_prefix(1);
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    // A number that ends with the text may go on in what was not read.
    if (error != std::errc{} || end == rest.data() + rest.size() || !std::isfinite(value) || value < 0 || value > 1e15) continue;
    found = value;
    if (!last) break;
  }
  return found;
}

std::string_view last_line(std::string_view text) {
  // A last line without its newline may be half written.
  const auto end = text.rfind('\n');
  if (end == std::string_view::npos) return text;
  auto body = text.substr(0, end);
  if (const auto rest = text.substr(end + 1); rest.find_last_of("}") != std::string_view::npos) return rest;
  while (!body.empty() && (body.back() == '\n' || body.back() == '\r')) body.remove_suffix(1);
  const auto begin = body.rfind('\n');
  return begin == std::string_view::npos ? body : body.substr(begin + 1);
}

/// First column of the last line of a table that is a number.
std::optional<double> last_row(std::string_view text) {
  while (!text.empty()) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
    const auto begin = text.rfind('\n');
    auto line = begin == std::string_view::npos ? text : text.substr(begin + 1);
    while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error == std::errc{} && end != line.data() && value >= 0) return value;
    if (begin == std::string_view::npos) break;
    text = text.substr(0, begin);
  }
  return std::nullopt;
}

/// "61/299": index of the running unit and of the last.
std::optional<std::pair<double, double>> fraction_of(std::string_view line) {
  const auto slash = line.find('/');
  if (slash == std::string_view::npos || slash == 0) return std::nullopt;
  auto begin = slash;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  double a = 0, b = 0;
  const auto first = std::from_chars(line.data() + begin, line.data() + slash, a);
  const auto second = std::from_chars(line.data() + slash + 1, line.data() + line.size(), b);
  if (first.ec != std::errc{} || second.ec != std::errc{} || begin == slash) return std::nullopt;
  return std::pair(a, b);
}

std::optional<std::int64_t> whole(std::optional<double> v) { return v ? std::optional(static_cast<std::int64_t>(*v)) : std::nullopt; }

using Fill = bool (*)(std::string_view text, FileProgress& out);

bool trainer_state(std::string_view text, FileProgress& p) {
  // Keys are sorted: global_step and epoch stand before the long history, the totals behind it; the history's own entries hold "epoch" and "step"
  // too.
  const auto history = text.find("\"log_history\"");
  const auto begin = text.substr(0, history);
  auto step = number_of(begin, "global_step");
  if (!step) step = number_of(text, "global_step");
  if (!step) return false;
  p.unit = Unit::step;
  p.done = step;
  p.step = whole(step);
  p.total = number_of(text, "max_steps");
  if (p.total && *p.total <= 0) p.total.reset();
  p.total_steps = whole(p.total);
  p.total_epochs = number_of(text, "num_train_epochs");
  return true;
}

bool trainer_log(std::string_view text, FileProgress& p) {
  const auto line = last_line(text);
  const auto step = number_of(line, "current_steps");
  if (!step) return false;
  p.unit = Unit::step;
  p.done = step;
  p.step = whole(step);
  p.total = number_of(line, "total_steps");
  p.total_steps = whole(p.total);
  return true;
}

bool training_state(std::string_view text, FileProgress& p) {
  const auto epoch = number_of(text, "epoch");
  if (!epoch) return false;
  p.unit = Unit::epoch;
  p.done = *epoch + (number_of(text, "local_step").value_or(0) > 0 ? 0 : 1);
  p.step = whole(number_of(text, "global_step"));
  return true;
}

bool keras_metadata(std::string_view text, FileProgress& p) {
  const auto epoch = number_of(text, "epoch");
  if (!epoch) return false;
  p.unit = Unit::epoch;
  p.done = epoch;
  return true;
}

bool kohya_state(std::string_view text, FileProgress& p) {
  const auto epoch = number_of(text, "current_epoch");
  if (!epoch) return false;
  p.unit = Unit::epoch;
  p.done = epoch;
  p.step = whole(number_of(text, "current_step"));
  return true;
}

bool levanter_metadata(std::string_view text, FileProgress& p) {
  const auto step = number_of(text, "step");
  if (!step) return false;
  p.unit = Unit::step;
  p.done = step;
  p.step = whole(step);
  return true;
}

bool running_states(std::string_view text, FileProgress& p) {
  if (!levanter_metadata(text, p)) return false;
  // The step is counted within the epoch.
  const auto epoch = number_of(text, "epoch");
  if (!epoch || *epoch == 0) return true;
  p.unit = Unit::epoch;
  p.done = epoch;
  p.step.reset();
  return true;
}

bool epoch_counter(std::string_view text, FileProgress& p) {
  const auto row = last_row(text);
  if (!row) return false;
  p.unit = Unit::epoch;
  p.done = row;
  return true;
}

bool json_lines(std::string_view text, FileProgress& p) {
  const auto line = last_line(text);
  if (const auto it = number_of(line, "iteration")) {  // index of the iteration that is finished
    p.unit = Unit::step;
    p.done = *it + 1;
    p.step = whole(p.done);
    return true;
  }
  if (const auto it = number_of(line, "training_iteration")) {
    p.unit = Unit::save;
    p.done = it;
    p.step = whole(number_of(line, "timesteps_total"));
    return true;
  }
  if (const auto epoch = number_of(line, "epoch")) {
    const auto step = number_of(line, "step");
    p.unit = Unit::epoch;
    // With a step beside it the epoch is the running one, counted from 1; alone it is the index of the one just finished.
    p.done = step ? std::max(0.0, *epoch - 1) : *epoch + 1;
    p.step = whole(step);
    return true;
  }
  return false;
}

bool ultralytics(std::string_view text, FileProgress& p) {
  const auto row = last_row(text);
  if (!row) return false;
  p.unit = Unit::epoch;
  // Ultralytics counts epochs from 1; YOLOv5's table, which pads its head with blanks, from 0.
  const auto head = text.substr(0, text.find('\n'));
  const bool from_zero = head.find("               epoch") != std::string_view::npos;
  p.done = *row + (from_zero ? 1 : 0);
  return true;
}

bool timm_summary(std::string_view text, FileProgress& p) {
  const auto row = last_row(text);
  if (!row) return false;
  p.unit = Unit::epoch;
  p.done = *row + 1;
  return true;
}

bool yolov7(std::string_view text, FileProgress& p) {
  const auto f = fraction_of(last_line(text));
  if (!f) return false;
  p.unit = Unit::epoch;
  p.done = f->first + 1;
  p.total = f->second + 1;
  p.total_epochs = p.total;
  return true;
}

struct Row {
  std::string_view name;
  Fill fill;
  int rank;  ///< of several, the highest that can be read; equal: the furthest
};

constexpr std::array kRows{
    Row{"trainer_log.jsonl", trainer_log, 9},
    Row{"trainer_state.json", trainer_state, 8},
    Row{"training_state.json", training_state, 8},
    Row{"training_metadata.json", keras_metadata, 8},
    Row{"running_states.json", running_states, 8},
    Row{"results.csv", ultralytics, 8},
    Row{"results.txt", yolov7, 8},
    Row{"summary.csv", timm_summary, 8},
    Row{"train_state.json", kohya_state, 7},
    Row{"counter.ckpt", epoch_counter, 7},
    Row{"metadata.json", levanter_metadata, 7},
    Row{"metrics.json", json_lines, 6},
    Row{"log.txt", json_lines, 6},
    Row{"scalars.json", json_lines, 6},
    Row{"result.json", json_lines, 6},
    Row{"train_log.jsonl", json_lines, 5},
};

/// `epochs: 100` of args.yaml or opt.yaml.
std::optional<double> yaml_epochs(const Listing& listing) {
  for (const auto& f : listing.state_files) {
    const auto name = base_name(f.path);
    if (name != "args.yaml" && name != "opt.yaml") continue;
    if (const auto n = number_of(std::string_view(f.text).substr(0, kMostText), "epochs", false); n && *n > 0) return n;
  }
  return std::nullopt;
}

}  // namespace

std::optional<FileProgress> read_progress(const Context& c) {
  const auto& listing = c.listing;
  std::optional<FileProgress> best;
  int best_rank = -1;
  std::unordered_map<std::string_view, std::optional<HostTime>> times;
  std::unordered_set<std::string_view> left_over;
  if (!listing.state_files.empty()) {
    for (const auto& f : listing.state_files) times.emplace(f.path, std::nullopt);
    for (const auto& e : listing.entries)
      if (const auto it = times.find(e.path); it != times.end()) it->second = e.mtime;
    for (const auto& s : c.saves)
      if (s.state == CheckpointState::stale)
        for (const auto* piece : s.pieces)
          for (auto i : piece->entries) left_over.insert(c.listing.entries[i].path);
  }
  for (const auto& f : listing.state_files) {
    if (left_over.contains(f.path)) continue;
    const auto name = base_name(f.path);
    const auto row = std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.name == name; });
    if (row == kRows.end()) continue;
    std::string text = f.text.size() <= 2 * kMostText ? f.text : f.text.substr(0, kMostText) + "\n" + f.text.substr(f.text.size() - kMostText);
    text += '\n';
    FileProgress p;
    if (!row->fill(text, p)) continue;
    p.path = f.path;
    if (const auto t = times[f.path]; t && c.in.run_start && *t < *c.in.run_start) {
      // An earlier run's file: how far this one is it does not know, but the plan is often the same.
      p.done.reset();
      p.step.reset();
    }
    if (row->rank < best_rank || (row->rank == best_rank && best && p.done <= best->done)) continue;
    best = std::move(p);
    best_rank = row->rank;
  }
  if (best && best->unit == Unit::epoch && !best->total) {
    best->total = yaml_epochs(listing);
    best->total_epochs = best->total;
  }
  return best;
}

}  // namespace trainvigil::layouts
