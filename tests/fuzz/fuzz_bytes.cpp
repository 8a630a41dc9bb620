// Bytes of a watched host as text: nothing is lost on the way through JSON, and nothing reaches a terminal that moves its cursor.
#include <algorithm>
#include <cstdint>

#include "promise.hpp"
#include "trainvigil/bytes.hpp"
#include "trainvigil/duration.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainvigil;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const std::string escaped = escape_bytes(bytes);
  PROMISE(unescape_bytes(escaped) == bytes);
  PROMISE(escape_bytes(unescape_bytes(escaped)) == escaped);
  const std::string shown = harmless(bytes);
  PROMISE(std::none_of(shown.begin(), shown.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }));
  if (const auto duration = parse_duration(bytes)) PROMISE(duration->count() >= 0);
  return 0;
}
