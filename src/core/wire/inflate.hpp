// What `gzip` on a host has packed -> the bytes it was given (RFC 1951 and 1952).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainvigil::wire {

struct Inflated {
  std::string bytes;   ///< all that could be unpacked, at most what was asked for
  bool whole = false;  ///< the stream came to its end, and length and CRC are those it tells
};

/// Total: any bytes give a result. `most`: bytes after which it stops, so that a few bytes can not fill the memory.
Inflated inflate_gzip(std::string_view packed, std::size_t most);

}  // namespace trainvigil::wire
