// Small total functions on text: numbers, words of requests, encodings. None of them throws on any input.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainvigil::wire {

std::optional<std::int64_t> to_integer(std::string_view text);
/// Finite decimal numbers only, as printf and the kernel write them.
std::optional<double> to_number(std::string_view text);
std::string_view trimmed(std::string_view text);
std::vector<std::string_view> split(std::string_view text, char separator);
/// Words between runs of blanks and tabs.
std::vector<std::string_view> words(std::string_view text);
/// Takes `prefix` off `text` and says whether it was there.
bool consume(std::string_view& text, std::string_view prefix);

/// One word of a request: any bytes, with those a line or a shell could mistake written as \0ooo. Empty text is "-".
std::string request_word(std::string_view bytes);

/// Other characters are skipped, what does not make a whole byte is dropped.
std::string decode_base64(std::string_view text);
std::string decode_hex(std::string_view text);

/// The CRC of POSIX `cksum`, so that both sides can name a listing without sending it.
class Cksum {
 public:
  void add(std::string_view bytes);
  /// "CRC:LENGTH"
  [[nodiscard]] std::string text() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t length_ = 0;
};

}  // namespace trainvigil::wire
