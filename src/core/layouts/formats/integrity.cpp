// Chooses the format by extension and first bytes. What can not be told stays unchecked: no whole file is ever called broken.
#include "trainvigil/integrity.hpp"

#include <algorithm>
#include <array>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil {
namespace {

using namespace formats_of_files;

enum class Kind { none, safetensors, zip, torch, numpy, hdf5, table, pickle, gguf, json, tar, ubjson };

struct Row {
  std::string_view ending;
  Kind kind;
};

constexpr std::array kRows{
    Row{".safetensors", Kind::safetensors},
    Row{".pth.tar", Kind::torch},
    Row{".keras", Kind::zip},
    Row{".npz", Kind::zip},
    Row{".zip", Kind::zip},
    Row{".pt", Kind::torch},
    Row{".pth", Kind::torch},
    Row{".ckpt", Kind::torch},
    Row{".bin", Kind::torch},
    Row{".pt.tar", Kind::torch},
    Row{".th", Kind::torch},
    Row{".npy", Kind::numpy},
    Row{".h5", Kind::hdf5},
    Row{".hdf5", Kind::hdf5},
    Row{".index", Kind::table},
    Row{".pkl", Kind::pickle},
    Row{".pickle", Kind::pickle},
    Row{".gguf", Kind::gguf},
    Row{".json", Kind::json},
    Row{".nemo", Kind::tar},
    Row{".pdparams", Kind::pickle},
    Row{".pdopt", Kind::pickle},
    Row{".ubj", Kind::ubjson},
    Row{".metadata", Kind::pickle},
    Row{".tar", Kind::tar},
};

Kind kind_of(std::string_view path) {
  const auto slash = path.rfind('/');
  std::string name(slash == std::string_view::npos ? path : path.substr(slash + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const auto& row : kRows)
    if (name.ends_with(row.ending)) return row.kind;
  return Kind::none;
}

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

/// The head decides where extensions are shared by several formats.
IntegrityStep by_head(const Window& w, std::string_view head, bool whole) {
  constexpr std::int64_t shortest = 4;  // the pickle of None
  if (w.size() < shortest) return verdict(Integrity::truncated, "shorter than any format");
  if (head.starts_with("PK\x03\x04")) return check_zip(w, whole, true);
  if (head.starts_with("\x89HDF\r\n\x1a\n")) return check_hdf5(w);
  if (head.starts_with("\x93NUMPY")) return check_numpy(w);
  if (head.starts_with("GGUF")) return check_gguf(w, whole);
  if (head.size() >= 2 && head[0] == '\x80' && head[1] >= 2 && head[1] <= 5) return check_pickle(w, whole);
  if (head.size() > 262 && head.substr(257, 5) == "ustar") return check_tar(w);
  if (ends_like_zip(w)) return verdict(Integrity::bad, "ends like a zip archive and does not begin like one");
  return verdict(Integrity::unchecked, "a format that is not known here");
}

}  // namespace

bool integrity_readable(std::string_view path, std::int64_t bytes) { return bytes >= 0 && kind_of(path) != Kind::none; }

static IntegrityStep check(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks, bool whole_format,
                           const std::vector<StretchSum>& sums) {
  const auto kind = kind_of(path);
  if (kind == Kind::none || bytes < 0) return verdict(Integrity::unchecked, "no format that tells");
  if (bytes == 0) return verdict(Integrity::truncated, "empty");
  const Window w(bytes, chunks, sums);
  if (chunks.empty()) {
    const bool text = kind == Kind::json && bytes <= kLargestRead;
    if (text || bytes <= kHead + kTail) return more({{0, bytes}});
    return more({{0, kHead}, {bytes - kTail, kTail}});
  }
  const auto head = w.at(0, std::min(bytes, kHead));
  const auto tail = w.at(std::max<std::int64_t>(0, bytes - kTail), std::min(bytes, kTail));
  if (!head || !tail) return verdict(Integrity::truncated, "shorter than it was a moment ago");
  if (all_zero(*head) && (all_zero(*tail) || (kind != Kind::table && kind != Kind::hdf5)))
    return verdict(Integrity::truncated, "nothing but zeros where its format begins");
  switch (kind) {
    case Kind::safetensors:
      return check_safetensors(w, whole_format);
    case Kind::zip:
      return check_zip(w, whole_format, true);
    case Kind::numpy:
      return check_numpy(w);
    case Kind::hdf5:
      return head->starts_with("PK\x03\x04") ? check_zip(w, whole_format, true) : check_hdf5(w);
    case Kind::table:
      return check_table(w, whole_format);
    case Kind::gguf:
      return check_gguf(w, whole_format);
    case Kind::json:
      return check_json(w);
    case Kind::ubjson:
      return check_ubjson(w);
    case Kind::torch:
    case Kind::pickle:
      return by_head(w, *head, whole_format);
    case Kind::tar:
      if (bytes < kHead) return verdict(Integrity::truncated, "shorter than the header of a member");
      return by_head(w, *head, whole_format);
    case Kind::none:
      break;
  }
  return verdict(Integrity::unchecked, "no format that tells");
}

IntegrityStep check_integrity(std::string_view path, std::int64_t bytes, const std::vector<ByteChunk>& chunks, bool whole_format,
                              const std::vector<StretchSum>& sums) {
  auto step = check(path, bytes, chunks, whole_format, sums);
  // Asking again for what was read already, and came back short, would never end: the file has shrunk meanwhile.
  for (const auto& range : step.more) {
    const auto reads = std::count_if(chunks.begin(), chunks.end(), [&](const ByteChunk& c) { return c.offset == range.offset; });
    if (reads >= (range.offset == 0 ? 2 : 1)) return verdict(Integrity::truncated, "shorter than it was a moment ago");
  }
  return step;
}

}  // namespace trainvigil
