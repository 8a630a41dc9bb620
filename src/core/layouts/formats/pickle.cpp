#include "core/layouts/formats/pickle.hpp"

#include <array>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

/// Start of a torch.save file before 1.6: a pickle of its own that holds a magic number. Raw storages follow; nothing marks the end.
constexpr std::string_view kLegacyTorch("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);

/// What follows an opcode (CPython Lib/pickletools.py lists them all).
enum class Follows : std::uint8_t { unknown, nothing, byte1, byte2, byte4, byte8, counted1, counted4, counted8, line, two_lines };

constexpr std::array<Follows, 256> arguments() {
  std::array<Follows, 256> table{};
  const auto set = [&table](std::string_view ops, Follows follows) {
    for (const char op : ops) table[static_cast<unsigned char>(op)] = follows;
  };
  set(".(012NQRabd}elo]st)u\x81\x85\x86\x87\x88\x89\x8f\x90\x91\x92\x93\x94\x97\x98", Follows::nothing);
  set("Khq\x80\x82", Follows::byte1);
  set("M\x83", Follows::byte2);
  set("Jjr\x84", Follows::byte4);
  set("G\x95", Follows::byte8);
  set("UC\x8c\x8a", Follows::counted1);
  set("TXB\x8b", Follows::counted4);
  set("\x8d\x8e\x96", Follows::counted8);
  set("FILSVPgp", Follows::line);
  set("ci", Follows::two_lines);
  return table;
}

}  // namespace

PickleStep PickleWalk::next() {
  static constexpr auto table = arguments();
  if (at_ >= bytes_.size()) return {};
  const auto op = static_cast<unsigned char>(bytes_[at_]);
  const std::string_view rest = bytes_.substr(at_ + 1);
  std::size_t width = 0, length = 0;
  switch (table[op]) {
    case Follows::unknown:
      return {PickleStep::Kind::unknown, op, {}};
    case Follows::nothing:
      break;
    case Follows::byte1:
      length = 1;
      break;
    case Follows::byte2:
      length = 2;
      break;
    case Follows::byte4:
      length = 4;
      break;
    case Follows::byte8:
      length = 8;
      break;
    case Follows::counted1:
      width = 1;
      break;
    case Follows::counted4:
      width = 4;
      break;
    case Follows::counted8:
      width = 8;
      break;
    case Follows::line:
    case Follows::two_lines: {
      const auto end = rest.find('\n');
      const auto last = table[op] == Follows::line || end == std::string_view::npos ? end : rest.find('\n', end + 1);
      if (last == std::string_view::npos) return {PickleStep::Kind::cut, op, {}};
      at_ += 1 + last + 1;
      return {PickleStep::Kind::operation, op, rest.substr(0, end)};
    }
  }
  if (width > 0) {
    if (rest.size() < width) return {PickleStep::Kind::cut, op, {}};
    std::uint64_t n = 0;
    for (std::size_t k = width; k-- > 0;) n = (n << 8U) | static_cast<unsigned char>(rest[k]);
    if (n > rest.size() - width) {
      if (n < (1ULL << 62U)) continues_at_ = at_ + 1 + width + n;
      return {PickleStep::Kind::cut, op, {}};
    }
    length = static_cast<std::size_t>(n);
  }
  if (rest.size() < width + length) return {PickleStep::Kind::cut, op, {}};
  at_ += 1 + width + length;
  return {op == '.' ? PickleStep::Kind::stop : PickleStep::Kind::operation, op, rest.substr(width, length)};
}

namespace {

/// Walks on from where an earlier read ended, at most this often: a large pickle is a few large arrays between small structure.
constexpr int kMostPieces = 30;

/// Follows the opcodes of a large pickle, leaving out what lies inside long strings.
IntegrityStep walk_large(const Window& w) {
  std::int64_t at = 0;
  for (int piece = 0; piece < kMostPieces; ++piece) {
    if (at > w.size()) return verdict(Integrity::truncated, "the pickle is cut short");
    if (at == w.size()) return verdict(Integrity::truncated, "the pickle is cut short");
    const auto length = std::min(kLargestRead, w.size() - at);
    const auto bytes = w.at(at, length);
    if (!bytes) return more({{at, length}});
    PickleWalk walk(*bytes);
    PickleStep step;
    do step = walk.next();
    while (step.kind == PickleStep::Kind::operation);
    if (step.kind == PickleStep::Kind::unknown) return verdict(Integrity::unchecked, "a pickle that is not known here");
    if (step.kind == PickleStep::Kind::stop)
      return at + static_cast<std::int64_t>(walk.position()) == w.size() ? verdict(Integrity::ok, "one whole pickle")
                                                                         : verdict(Integrity::unchecked, "a pickle and more");
    if (walk.continues_at() && *walk.continues_at() > static_cast<std::uint64_t>(w.size() - at))
      return verdict(Integrity::truncated, "the pickle is cut short");
    const auto onward = walk.continues_at() ? static_cast<std::int64_t>(*walk.continues_at()) : static_cast<std::int64_t>(walk.position());
    if (at + length == w.size() && !walk.continues_at()) return verdict(Integrity::truncated, "the pickle is cut short");
    if (onward == 0) return verdict(Integrity::unchecked, "a pickle that is not known here");
    at += onward;
  }
  return verdict(Integrity::unchecked, "a pickle of too many parts to follow");
}

}  // namespace

IntegrityStep check_pickle(const Window& w, bool whole) {
  const auto head = w.at(0, std::min<std::int64_t>(w.size(), static_cast<std::int64_t>(kLegacyTorch.size())));
  if (!head || head->size() < 2) return verdict(Integrity::truncated, "shorter than any pickle");
  if (*head == kLegacyTorch) return verdict(Integrity::unchecked, "an old torch file, which has no end mark");
  if (head->size() < kLegacyTorch.size() && kLegacyTorch.starts_with(*head)) return verdict(Integrity::truncated, "the header is cut short");
  if ((*head)[0] != '\x80' || (*head)[1] < 2 || (*head)[1] > 5) return verdict(Integrity::unchecked, "no pickle of a known protocol");
  const auto last = w.at(w.size() - 1, 1);
  if (!last || *last != ".") return verdict(Integrity::truncated, "does not end as a pickle");
  if (w.size() > kLargestRead) {
    // One cut file in 256 ends so by chance: the last byte can refute, but not prove.
    return whole ? walk_large(w) : verdict(Integrity::unchecked, "ends as a pickle may");
  }
  const auto all = w.at(0, w.size());
  if (!all) return more({{0, w.size()}});
  PickleWalk walk(*all);
  PickleStep step;
  do step = walk.next();
  while (step.kind == PickleStep::Kind::operation);
  if (step.kind == PickleStep::Kind::cut) return verdict(Integrity::truncated, "the pickle is cut short");
  return step.kind == PickleStep::Kind::stop && walk.position() == all->size()
             ? verdict(Integrity::ok, "one whole pickle")
             : verdict(Integrity::unchecked, "a pickle and more, or one not known here");
}

}  // namespace trainvigil::formats_of_files
