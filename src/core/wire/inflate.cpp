#include "core/wire/inflate.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <algorithm>
#include <array>

namespace trainvigil::wire {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;
constexpr std::size_t kPiece = 64 * 1024;  ///< the output grows with what comes, not by what would be allowed

}  // namespace

Inflated inflate_gzip(std::string_view packed, std::size_t most) {
  Inflated result;
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) return result;
  std::array<Bytef, kPiece> piece{};
  for (int status = Z_OK; status == Z_OK;) {
    if (stream.avail_in == 0) {
      const auto given = packed.substr(0, kPiece);
      stream.next_in = reinterpret_cast<const Bytef*>(given.data());
      stream.avail_in = static_cast<uInt>(given.size());
      packed.remove_prefix(given.size());
    }
    // With no room left it may still come to its end: that needs none. A step that can do nothing is Z_BUF_ERROR and ends the loop.
    const std::size_t room = std::min(kPiece, most - result.bytes.size());
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(room);
    status = inflate(&stream, Z_NO_FLUSH);
    result.bytes.append(reinterpret_cast<const char*>(piece.data()), room - stream.avail_out);
    result.whole = status == Z_STREAM_END;
  }
  inflateEnd(&stream);
  return result;
}

}  // namespace trainvigil::wire
