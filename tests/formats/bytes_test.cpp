#include <gtest/gtest.h>

#include <string>

#include "trainvigil/format.hpp"

namespace trainvigil {
namespace {

TEST(EscapeBytes, LeavesUtf8AndEscapesTheRest) {
  EXPECT_EQ(escape_bytes("épöch \xE2\x82\xAC"), "épöch \xE2\x82\xAC");
  EXPECT_EQ(escape_bytes("caf\xE9/0"), "caf\\xe9/0");
  EXPECT_EQ(escape_bytes("new\nline"), "new\nline");
}

TEST(EscapeBytes, RefusesMalformedUtf8) {
  EXPECT_EQ(escape_bytes("\xC0\xAF"), "\\xc0\\xaf");                    // overlong slash
  EXPECT_EQ(escape_bytes("\xED\xA0\x80"), "\\xed\\xa0\\x80");           // surrogate
  EXPECT_EQ(escape_bytes("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");  // beyond U+10FFFF
  EXPECT_EQ(escape_bytes("\xE2\x82"), "\\xe2\\x82");                    // cut short
  EXPECT_EQ(escape_bytes("\x80"), "\\x80");
}

TEST(EscapeBytes, ALiteralBackslashXComesBack) {
  for (const std::string name : {"a\\x41b", "\\x", "\\xg0", "\\\\x41", "\\x4\xFF", "\\x\\x41", "\\xE9\xE9", "\\x5cx41"}) {
    EXPECT_EQ(unescape_bytes(escape_bytes(name)), name) << escape_bytes(name);
  }
  EXPECT_NE(escape_bytes("\\x41"), "\\x41");
}

TEST(EscapeBytes, EveryPairOfBytesComesBack) {
  for (int a = 0; a < 256; ++a)
    for (int b = 0; b < 256; ++b) {
      const std::string name = {'\\', 'x', static_cast<char>(a), static_cast<char>(b), static_cast<char>(a)};
      ASSERT_EQ(unescape_bytes(escape_bytes(name)), name);
    }
}

TEST(Harmless, NothingMovesTheCursorOrTheOrder) {
  EXPECT_EQ(harmless("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(harmless("a\rb\nc\td"), "a\\x0db\\x0ac\\x09d");
  EXPECT_EQ(harmless("\xC2\x9B"
                     "31m"),
            "\\xc2\\x9b"
            "31m");                                                        // C1 CSI
  EXPECT_EQ(harmless("x\xE2\x80\xAEgpj.exe"), "x\\xe2\\x80\\xaegpj.exe");  // right-to-left override
  EXPECT_EQ(harmless("\x7F\xFF"), "\\x7f\\xff");
  EXPECT_EQ(harmless("Straße \xF0\x9F\x94\xA5"), "Straße \xF0\x9F\x94\xA5");
}

TEST(Shortened, IsCutBetweenCharactersAndSaysSo) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefg", 6), "abc...");
  EXPECT_EQ(shortened("ääääääää", 6), "äää...");
  EXPECT_EQ(shortened("\n\n\n", 8), "\\x0a\\...");
  EXPECT_EQ(shortened("abcdef", 2), "..");
  EXPECT_EQ(shortened("", 0), "");
}

}  // namespace
}  // namespace trainvigil
