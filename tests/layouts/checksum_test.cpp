// Check values of the CRC catalogue (reveng.sourceforge.io) and of lookup3.c's own driver; what cksum prints is turned into the CRC of zip.
#include "trainvigil/checksum.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <string>

namespace trainvigil {
namespace {

TEST(Checksum, CheckValues) {
  EXPECT_EQ(crc32("123456789"), 0xCBF43926);
  EXPECT_EQ(std::rotl(masked_crc32c("123456789") - 0xA282EAD8U, 15), 0xE3069283);
  EXPECT_EQ(lookup3(""), 0xDEADBEEF);
  EXPECT_EQ(lookup3("Four score and seven years ago"), 0x17770551U);
}

TEST(Checksum, JoinsParts) {
  std::string all;
  for (int i = 0; i < 5000; ++i) all += static_cast<char>(i * 31);
  for (const std::size_t cut : {0U, 1U, 7U, 4096U, 5000U})
    EXPECT_EQ(crc32_joined(crc32(all.substr(0, cut)), crc32(all.substr(cut)), all.size() - cut), crc32(all)) << cut;
}

TEST(Checksum, FromWhatCksumPrints) {
  // printf 123456789 | tr '\000-\377' "$turned" | cksum, and the same of nothing and of 70000 bytes 0x93.
  EXPECT_EQ(crc32_from_cksum(4294967295U, 0), crc32(""));
  EXPECT_EQ(crc32_from_cksum(559512887U, 9), crc32("123456789"));
  EXPECT_EQ(crc32_from_cksum(2459745738U, 70000), crc32(std::string(70000, '\x93')));
}

}  // namespace
}  // namespace trainvigil
