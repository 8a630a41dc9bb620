#include "core/wire/state_files.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/wire/text.hpp"
#include "trainvigil/part_list.hpp"

namespace trainvigil::wire {
namespace {

enum class Reading { none, small, whole, json, table, lines, parts };

constexpr std::int64_t kPiece = 4096;
constexpr std::int64_t kWhole = 32 * 1024;
constexpr std::int64_t kLongestParts = kLargestRead;  ///< the index of a model of 405 billion parameters is 100 kB; longer ones are not read

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

template <std::size_t N>
bool one_of(std::string_view name, const std::array<std::string_view, N>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Reading reading_of(std::string_view path) {
  const auto name = base_name(path);
  // JSON that may be long: its own members stand before and after a history (transformers sorts the keys).
  static constexpr std::array<std::string_view, 12> json{
      "trainer_state.json",    "training_state.json",  "running_states.json", "train_state.json",   "training_metadata.json", "metadata.json",
      "training_options.json", "_CHECKPOINT_METADATA", "all_results.json",    "train_results.json", "val_metrics.json",       ".metadata.json"};
  static constexpr std::array<std::string_view, 5> whole{"args.yaml", "opt.yaml", "hparams.yaml", "CKPT.yaml", "counter.ckpt"};
  static constexpr std::array<std::string_view, 4> table{"results.csv", "metrics.csv", "summary.csv", "progress.csv"};
  static constexpr std::array<std::string_view, 9> lines{"trainer_log.jsonl", "metrics.json", "metrics.jsonl", "log.txt",    "stats.jsonl",
                                                         "scalars.json",      "result.json",  "progress.txt",  "results.txt"};
  if (one_of(name, json)) return Reading::json;
  if (one_of(name, whole)) return Reading::whole;
  if (one_of(name, table)) return Reading::table;
  if (one_of(name, lines) || name == "train_log.txt") return Reading::lines;
  // Pointers: the name of the newest checkpoint in a few bytes. Anything bigger of such a name is a checkpoint itself.
  if (is_part_list(name)) return Reading::parts;
  if (name == "checkpoint" || name.starts_with("latest") || name.starts_with("last_checkpoint")) return Reading::small;
  return Reading::none;
}

std::string piece_at(const std::vector<ByteChunk>& chunks, std::int64_t offset) {
  const auto chunk = std::find_if(chunks.begin(), chunks.end(), [offset](const ByteChunk& c) { return c.offset == offset; });
  return chunk == chunks.end() ? std::string() : chunk->bytes;
}

/// Members `"key": scalar` of the outermost object, told by its indent: that of the first member.
void add_members(nlohmann::json& object, std::string_view text, std::string_view indent) {
  for (auto line : split(text, '\n')) {
    if (!consume(line, indent) || !line.starts_with('"')) continue;
    line = trimmed(line);
    if (line.ends_with(',')) line.remove_suffix(1);
    const auto member = nlohmann::json::parse("{" + std::string(line) + "}", nullptr, false);
    if (!member.is_object()) continue;
    for (const auto& [key, value] : member.items()) {
      if (!value.is_structured()) object[key] = value;
    }
  }
}

std::string digest(const std::string& head, const std::string& tail) {
  const auto quote = head.find('"');
  const auto newline = head.rfind('\n', quote);
  if (quote == std::string::npos || newline == std::string::npos) return head;
  const std::string indent = head.substr(newline + 1, quote - newline - 1);
  nlohmann::json object = nlohmann::json::object();
  add_members(object, head, indent);
  // The tail begins in the middle of a line.
  add_members(object, std::string_view(tail).substr(std::min(tail.find('\n'), tail.size())), indent);
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string after_newline(const std::string& text) {
  const auto newline = text.find('\n');
  return newline == std::string::npos ? std::string() : text.substr(newline + 1);
}

}  // namespace

std::optional<std::vector<ByteRange>> state_file_ranges(std::string_view path, std::int64_t bytes) {
  const Reading reading = reading_of(path);
  if (reading == Reading::none || bytes <= 0) return std::nullopt;
  if (reading == Reading::small) return bytes <= 4 * kPiece ? std::optional(std::vector<ByteRange>{{0, bytes}}) : std::nullopt;
  if (reading == Reading::parts) return bytes <= kLongestParts ? std::optional(std::vector<ByteRange>{{0, bytes}}) : std::nullopt;
  if (bytes <= (reading == Reading::json ? kWhole : 2 * kPiece)) return std::vector<ByteRange>{{0, bytes}};
  switch (reading) {
    case Reading::whole:
      return std::vector<ByteRange>{{0, 2 * kPiece}};
    case Reading::lines:
      return std::vector<ByteRange>{{bytes - kPiece, kPiece}};
    default:
      return std::vector<ByteRange>{{0, kPiece}, {bytes - kPiece, kPiece}};
  }
}

std::string state_file_text(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks) {
  const auto ranges = state_file_ranges(path, bytes);
  if (!ranges) return {};
  if (reading_of(path) == Reading::parts) {
    const auto parts = read_part_list(path, piece_at(chunks, 0));
    return parts ? part_list_digest(*parts) : std::string();
  }
  if (ranges->size() == 1) {
    const auto text = piece_at(chunks, ranges->front().offset);
    return ranges->front().offset == 0 ? text : after_newline(text);
  }
  const auto head = piece_at(chunks, 0), tail = piece_at(chunks, bytes - kPiece);
  if (reading_of(path) == Reading::json) return digest(head, tail);
  return head.substr(0, std::min(head.find('\n'), head.size() - 1) + 1) + after_newline(tail);
}

bool state_file_has_a_format(std::string_view path) {
  // Lines may be appended to a log at any time.
  return reading_of(path) != Reading::lines && reading_of(path) != Reading::table;
}

}  // namespace trainvigil::wire
