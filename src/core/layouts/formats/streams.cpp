// Formats that are streams: pickles, GGUF, JSON. Their end tells less than a directory does.
#include <algorithm>

#include "core/layouts/formats/read_window.hpp"

namespace trainvigil::formats_of_files {
namespace {

/// Start of a torch.save file before 1.6: a pickle of its own that holds a magic number. Raw storages follow; nothing marks the end.
constexpr std::string_view kLegacyTorch("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19\x2e", 15);

/// Walks one pickle's opcodes. 1: ends exactly at the end; 0: cut short; -1: something not known, or more follows.
int walk_pickle(std::string_view s) {
  std::size_t i = 0;
  const auto fixed = [&](std::size_t n) {
    if (s.size() - i < n) return false;
    i += n;
    return true;
  };
  const auto counted = [&](std::size_t width) {
    if (s.size() - i < width) return false;
    std::uint64_t n = 0;
    for (std::size_t k = width; k-- > 0;) n = (n << 8U) | static_cast<unsigned char>(s[i + k]);
    i += width;
    if (n > s.size() - i) return false;
    i += static_cast<std::size_t>(n);
    return true;
  };
  const auto lines = [&](int n) {
    for (; n > 0; --n) {
      const auto end = s.find('\n', i);
      if (end == std::string_view::npos) return false;
      i = end + 1;
    }
    return true;
  };
  while (i < s.size()) {
    bool there = true;
    switch (static_cast<unsigned char>(s[i++])) {
      case '.':
        return i == s.size() ? 1 : -1;
      case 0x80:
      case 'K':
      case 'h':
      case 'q':
      case 0x82:
        there = fixed(1);
        break;
      case 'M':
      case 0x83:
        there = fixed(2);
        break;
      case 'J':
      case 'j':
      case 'r':
      case 0x84:
        there = fixed(4);
        break;
      case 'G':
      case 0x95:
        there = fixed(8);
        break;
      case 'U':
      case 'C':
      case 0x8c:
      case 0x8a:
        there = counted(1);
        break;
      case 'T':
      case 'X':
      case 'B':
      case 0x8b:
        there = counted(4);
        break;
      case 0x8d:
      case 0x8e:
      case 0x96:
        there = counted(8);
        break;
      case 'F':
      case 'I':
      case 'L':
      case 'S':
      case 'V':
      case 'P':
      case 'g':
      case 'p':
        there = lines(1);
        break;
      case 'c':
      case 'i':
        there = lines(2);
        break;
      case '(':
      case '0':
      case '1':
      case '2':
      case 'N':
      case 'Q':
      case 'R':
      case 'a':
      case 'b':
      case 'd':
      case '}':
      case 'e':
      case 'l':
      case ']':
      case 'o':
      case 's':
      case 't':
      case ')':
      case 'u':
      case 0x81:
      case 0x85:
      case 0x86:
      case 0x87:
      case 0x88:
      case 0x89:
      case 0x8f:
      case 0x90:
      case 0x91:
      case 0x92:
      case 0x93:
      case 0x94:
      case 0x97:
      case 0x98:
        break;
      default:
        return -1;
    }
    if (!there) return 0;
  }
  return 0;
}

}  // namespace

IntegrityStep check_pickle(const Window& w) {
  const auto head = w.at(0, std::min<std::int64_t>(w.size(), static_cast<std::int64_t>(kLegacyTorch.size())));
  if (!head || head->size() < 2) return verdict(Integrity::truncated, "shorter than any pickle");
  if (*head == kLegacyTorch) return verdict(Integrity::unchecked, "an old torch file, which has no end mark");
  if (head->size() < kLegacyTorch.size() && kLegacyTorch.starts_with(*head)) return verdict(Integrity::truncated, "the header is cut short");
  if ((*head)[0] != '\x80' || (*head)[1] < 2 || (*head)[1] > 5) return verdict(Integrity::unchecked, "no pickle of a known protocol");
  const auto last = w.at(w.size() - 1, 1);
  if (!last || *last != ".") return verdict(Integrity::truncated, "does not end as a pickle");
  if (w.size() > kLargestRead) {
    // The last byte alone is right by chance in one of 256; what stands before it narrows that.
    const auto before = w.at(w.size() - 2, 1);
    const bool plausible = before && std::string_view("bustaeR)}]\x94\x85\x86\x87l").find((*before)[0]) != std::string_view::npos;
    return plausible ? verdict(Integrity::ok, "ends as a pickle") : verdict(Integrity::unchecked, "ends nearly as a pickle");
  }
  const auto all = w.at(0, w.size());
  if (!all) return more({{0, w.size()}});
  switch (walk_pickle(*all)) {
    case 1:
      return verdict(Integrity::ok, "one whole pickle");
    case 0:
      return verdict(Integrity::truncated, "the pickle is cut short");
    default:
      return verdict(Integrity::unchecked, "a pickle and more, or one not known here");
  }
}

IntegrityStep check_json(const Window& w) {
  const auto all = w.at(0, w.size());
  const auto text = all ? *all : w.at(0, std::min(w.size(), kHead)).value_or(std::string_view{});
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return verdict(Integrity::truncated, "nothing in it yet");
  if (text[first] != '{' && text[first] != '[') return verdict(Integrity::unchecked, "not an object or list");
  if (!all) {
    const auto tail = w.at(w.size() - kTail, kTail).value_or(std::string_view{});
    const auto end = tail.find_last_not_of(" \t\r\n");
    const char close = text[first] == '{' ? '}' : ']';
    if (end == std::string_view::npos || tail[end] != close) return verdict(Integrity::truncated, "does not end as it begins");
    // Of indented text only the outermost bracket stands at the beginning of a line.
    return end > 0 && tail[end - 1] == '\n' ? verdict(Integrity::ok, "ends as it begins") : verdict(Integrity::unchecked, "too long to read");
  }
  std::string open;
  bool in_string = false;
  std::size_t values = 0;
  for (std::size_t i = first; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') {
        ++i;
      } else if (c == '"') {
        in_string = false;
      }
      continue;
    }
    if (c == '\0') return verdict(Integrity::truncated, "zeros where text should be");
    if (open.empty() && c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      if (values > 0) return verdict(Integrity::unchecked, "more than one value");
      if (c != '{' && c != '[') return verdict(Integrity::bad, "not JSON");
    }
    if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      open += c;
    } else if (c == '}' || c == ']') {
      if (open.empty() || open.back() != (c == '}' ? '{' : '[')) return verdict(Integrity::bad, "brackets do not match");
      open.pop_back();
      if (open.empty()) ++values;
    }
  }
  return open.empty() && !in_string ? verdict(Integrity::ok, "whole JSON") : verdict(Integrity::truncated, "the JSON is cut short");
}

IntegrityStep check_gguf(const Window& w, bool /*whole*/) {
  const auto magic = w.at(0, std::min<std::int64_t>(4, w.size()));
  if (magic && !std::string_view("GGUF").starts_with(*magic)) return verdict(Integrity::bad, "does not begin as GGUF");
  const auto version = w.number(4, 4), tensors = w.number(8, 8), pairs = w.number(16, 8);
  if (!version || !tensors || !pairs) return verdict(Integrity::truncated, "the header is cut short");
  constexpr std::uint64_t most = 10'000'000;  // far above any model's tensors or keys
  if (*version > 3) return verdict(Integrity::unchecked, "a version that is not known here");
  if (*version >= 2 && (*tensors > most || *pairs > most)) return verdict(Integrity::bad, "the header's counts are not possible");
  return verdict(Integrity::unchecked, "the header is sane; nothing marks the end");
}

IntegrityStep check_ubjson(const Window& w) {
  const auto first = w.at(0, 1), last = w.at(w.size() - 1, 1);
  if (first && *first == "{" && last && *last != "}") return verdict(Integrity::truncated, "does not end as it begins");
  return verdict(Integrity::unchecked, "its end tells little");
}

}  // namespace trainvigil::formats_of_files
