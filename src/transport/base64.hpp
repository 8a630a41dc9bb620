// RFC 4648, as OpenSSH writes keys.
#pragma once

#include <string>
#include <string_view>

namespace trainvigil::transport {

std::string base64_encode(std::string_view bytes);
/// Stops at the first byte that is none of the alphabet.
std::string base64_decode(std::string_view text);

}  // namespace trainvigil::transport
