#include "core/wire/gpu.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/wire/text.hpp"

namespace trainvigil::wire {
namespace {

constexpr std::string_view kWhitespaceQuote = "[] \t";

/// A cell that says "not told": the value is absent, nothing is wrong.
bool is_gap(std::string_view cell) {
  static constexpr std::array<std::string_view, 8> gaps{"",           "N/A",     "Not Supported", "Insufficient Permissions", "Unknown Error",
                                                        "Not Active", "Unknown", "Not Found"};
  return std::find(gaps.begin(), gaps.end(), cell) != gaps.end();
}

/// A cell that says that the device is in trouble.
bool is_fault(std::string_view cell) {
  return cell == "ERR!" || cell.find("requires reset") != std::string_view::npos || cell.find("is lost") != std::string_view::npos;
}

std::string_view bare(std::string_view cell) {
  const auto from = cell.find_first_not_of(kWhitespaceQuote);
  if (from == std::string_view::npos) return {};
  return cell.substr(from, cell.find_last_not_of(kWhitespaceQuote) - from + 1);
}

/// "97", "97 %", "386.51 W": nounits is asked for, but wrappers and old drivers print units all the same.
std::optional<double> cell_number(std::string_view cell) { return to_number(cell.substr(0, cell.find(' '))); }

/// Sums of the readings of one GPU; what was never told stays without a value.
struct Mean {
  double sum = 0, greatest = -std::numeric_limits<double>::infinity();
  int count = 0;
  void add(std::optional<double> value) {
    if (!value || *value < 0 || *value > 1e9) return;
    sum += *value;
    greatest = std::max(greatest, *value);
    ++count;
  }
  [[nodiscard]] std::optional<double> mean() const { return count > 0 ? std::optional(sum / count) : std::nullopt; }
  [[nodiscard]] std::optional<double> max() const { return count > 0 ? std::optional(greatest) : std::nullopt; }
};

struct Burst {
  Gpu gpu;
  Mean util, mem_util, power, clock;
  int readings = 0;
};

std::optional<std::int64_t> whole(std::string_view cell) {
  const auto value = cell_number(cell);
  if (!value || *value < 0 || *value > 1e12) return std::nullopt;
  return std::llround(*value);
}

void keep(std::optional<std::string>& into, std::string_view cell) {
  if (!cell.empty()) into = std::string(cell);
}

template <typename T>
void keep(std::optional<T>& into, std::optional<T> value) {
  if (value) into = value;
}

void add_cell(Burst& burst, std::string_view field, std::string_view cell) {
  if (is_fault(cell)) {
    burst.gpu.fault = std::string(cell);
    return;
  }
  if (is_gap(cell)) return;
  Gpu& gpu = burst.gpu;
  if (field == "uuid") keep(gpu.uuid, cell);
  if (field == "name") keep(gpu.name, cell);
  if (field == "utilization.gpu") burst.util.add(cell_number(cell));
  if (field == "utilization.memory") burst.mem_util.add(cell_number(cell));
  if (field == "memory.used") keep(gpu.mem_used_mib, whole(cell));
  if (field == "memory.total") keep(gpu.mem_total_mib, whole(cell));
  if (field == "power.draw") burst.power.add(cell_number(cell));
  if (field == "power.limit") keep(gpu.power_limit_w, cell_number(cell));
  if (field == "clocks.sm") burst.clock.add(cell_number(cell));
  if (field == "temperature.gpu") keep(gpu.temp_c, cell_number(cell));
  if (field == "clocks_throttle_reasons.active") keep(gpu.throttle, cell);
}

/// A row has as many cells as fields were asked for and begins with the index; everything else that is printed is a message.
bool add_row(std::map<int, Burst>& bursts, std::string_view row, const std::vector<std::string>& fields) {
  const auto cells = split(row, ',');
  if (cells.size() != fields.size() || fields.empty()) return false;
  const auto index = to_integer(trimmed(cells[0]));
  if (!index || *index < 0 || *index > 1023) return false;
  Burst& burst = bursts[static_cast<int>(*index)];
  burst.gpu.index = static_cast<int>(*index);
  ++burst.readings;
  for (std::size_t i = 1; i < cells.size(); ++i) add_cell(burst, fields[i], bare(cells[i]));
  return true;
}

std::optional<std::string> refused(std::string_view text) {
  const auto quote = text.find("Field \"");
  if (quote == std::string_view::npos || text.find("is not a valid field") == std::string_view::npos) return std::nullopt;
  text.remove_prefix(quote + 7);
  return std::string(text.substr(0, text.find('"')));
}

void add_message(std::optional<std::string>& error, std::string_view text) {
  constexpr std::size_t kLongest = 600;
  text = trimmed(text);
  if (text.empty() || (error && (error->size() > kLongest || error->find(text) != std::string::npos))) return;
  error = error ? *error + "; " : std::string();
  *error += text.substr(0, kLongest);
}

/// Compute processes by GPU. nullopt when the query failed: then nothing is known of them.
struct Apps {
  std::vector<std::string_view> rows;
  bool answered = false;
};

void assign_apps(std::vector<Gpu>& gpus, const Apps& apps) {
  if (!apps.answered) return;
  for (Gpu& gpu : gpus) {
    if (gpu.uuid) gpu.pids.emplace();
  }
  for (const auto row : apps.rows) {
    const auto cells = split(row, ',');
    if (cells.size() != 3) continue;
    const auto pid = to_integer(trimmed(cells[1]));
    if (!pid || *pid <= 0) continue;
    for (Gpu& gpu : gpus) {
      if (gpu.uuid && *gpu.uuid == trimmed(cells[0]) && std::find(gpu.pids->begin(), gpu.pids->end(), *pid) == gpu.pids->end())
        gpu.pids->push_back(*pid);
    }
  }
}

}  // namespace

std::vector<std::string> default_gpu_fields() {
  return {"index", "uuid", "name", "utilization.gpu", "utilization.memory", "memory.used", "memory.total", "power.draw", "power.limit", "clocks.sm",
          // The old name: drivers of today accept it, those of 2020 know no other.
          "temperature.gpu", "clocks_throttle_reasons.active"};
}

GpuAnswer parse_gpu_answer(const std::vector<std::string>& lines, const std::vector<std::string>& fields) {
  GpuAnswer answer;
  std::map<int, Burst> bursts;
  Apps apps;
  for (const std::string& line : lines) {
    std::string_view text = line;
    if (consume(text, "first:")) {
      answer.first_row = to_number(text);
    } else if (consume(text, "row:rc:")) {
      const auto code = to_integer(text);
      if (code && *code > 0 && *code < 256) answer.exit = static_cast<int>(*code);
    } else if (consume(text, "row:")) {
      if (add_row(bursts, text, fields)) continue;
      if (const auto field = refused(text)) answer.refused_field = field;
      add_message(answer.error, text);
    } else if (consume(text, "app:rc:")) {
      apps.answered = text == "0";
    } else if (consume(text, "app:")) {
      apps.rows.push_back(text);
    }
  }
  for (auto& [index, burst] : bursts) {
    Gpu& gpu = burst.gpu;
    gpu.readings = burst.readings;
    gpu.util_pct = burst.util.mean();
    gpu.util_max_pct = burst.util.max();
    gpu.mem_util_pct = burst.mem_util.mean();
    gpu.power_w = burst.power.mean();
    gpu.sm_mhz = burst.clock.mean();
    answer.gpus.push_back(std::move(gpu));
  }
  assign_apps(answer.gpus, apps);
  return answer;
}

}  // namespace trainvigil::wire
