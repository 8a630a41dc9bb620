// The configuration as someone may have written it: either every error has its place, or what it means can be shown and read back.
#include <cstdint>
#include <string_view>

#include "promise.hpp"
#include "trainvigil/config.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace trainvigil;
  const auto config = parse_config({reinterpret_cast<const char*>(data), size}, "fuzzed.toml");
  if (!config) {
    PROMISE(!config.error().empty());
    for (const Error& error : config.error()) PROMISE(error.where.rfind("fuzzed.toml:", 0) == 0 && !error.what.empty());
    return 0;
  }
  const auto again = parse_config(show_config(*config), "shown.toml");
  PROMISE(again.has_value());
  PROMISE(*again == *config);
  return 0;
}
