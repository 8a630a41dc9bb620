// Bytes of a watched host as text: JSON wants UTF-8, terminals want no surprises. Defined in src/core/bytes.cpp (trace, formats and wire need them
// alike).
#pragma once

#include <string>
#include <string_view>

namespace trainvigil {

/// Raw bytes → text for JSON: bytes that are not UTF-8 become the four characters \xNN. A backslash that itself precedes `xNN` in the input is
/// written as \x5c, so that unescape_bytes gives the very same bytes back; every other valid UTF-8 text stays as it is.
std::string escape_bytes(std::string_view bytes);
std::string unescape_bytes(std::string_view text);

/// For a terminal: control characters, DEL, C1 controls, bidirectional overrides and invalid UTF-8 become \xNN.
std::string harmless(std::string_view bytes);
/// The same, and of at most so many columns (one a code point): what is left out at the end is marked by three dots.
std::string shortened(std::string_view bytes, std::size_t columns);

}  // namespace trainvigil
