// Directory listings: "TYPE SIZE AGE PATH" a line, TYPE one of f d l o; a blank line begins the next listing of the same directory, 30 s later.
#include <charconv>
#include <cstdint>
#include <set>
#include <string_view>

#include "promise.hpp"
#include "trainvigil/checkpoint.hpp"
#include "trainvigil/format.hpp"

namespace {

using namespace trainvigil;

std::string_view cut(std::string_view& text, char at) {
  const auto end = text.find(at);
  const auto head = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return head;
}

std::optional<std::int64_t> number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

Listing listing(std::string_view& text, double now) {
  Listing out;
  std::set<std::string_view> seen;  // a directory holds a name once
  while (!text.empty()) {
    std::string_view line = cut(text, '\n');
    if (line.empty()) break;
    const std::string_view type = cut(line, ' ');
    FileEntry entry;
    entry.type = type == "d" ? FileType::directory : type == "l" ? FileType::link : type == "o" ? FileType::other : FileType::file;
    entry.bytes = number(cut(line, ' '));
    if (const auto age = number(cut(line, ' '))) entry.mtime = host_time(now - static_cast<double>(*age));
    if (type == "t") {
      out.state_files.push_back({std::string(cut(line, ' ')), std::string(line)});
      continue;
    }
    if (type == "b") entry.integrity = Integrity::truncated;
    if (!seen.insert(line).second) continue;
    entry.path = line;
    out.entries.push_back(std::move(entry));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data + 1), size - 1);
  LayoutMemory memory;
  LayoutInput in;
  in.run_start = (data[0] & 1U) ? std::optional(host_time(1764420000.0)) : std::nullopt;
  in.alive = (data[0] & 2U) != 0;
  if (data[0] & 4U) in.epochs = 5;
  if (data[0] & 8U) in.steps = 20000;
  in.cmdline = (data[0] & 32U) ? "python train.py --resume_from_checkpoint /data/out/checkpoint-500" : "python train.py";
  for (double now = 1764422465.0; !rest.empty(); now += 30.0) {
    const Listing seen = listing(rest, now);
    in.listing = &seen;
    in.now = host_time(now);
    const CheckpointView view = judge_listing(in, memory);
    PROMISE(view.checkpoints.size() <= seen.entries.size());
    std::set<std::string> paths;
    for (const auto& checkpoint : view.checkpoints) PROMISE(paths.insert(checkpoint.path).second);
    if (const Checkpoint* good = last_good(view)) PROMISE(good->state == CheckpointState::complete);
    PROMISE(!format_checkpoints_json(view).empty());
    PROMISE(format_checkpoints_table(view, in.now, {}).find('\x1b') == std::string::npos);
  }
  return 0;
}
