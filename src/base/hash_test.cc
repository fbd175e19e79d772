#include "base/hash.h"

#include <gtest/gtest.h>

namespace souk::base {
namespace {

// Expected values from Python's hashlib.blake2b(digest_size=32).
TEST(Hash, NamesContentAsEveryOtherBlake2bDoes) {
  EXPECT_EQ(to_string(blake2b("")),
            "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
  EXPECT_EQ(to_string(blake2b("abc")),
            "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
}

TEST(Hash, AKeyChangesTheDigest) {
  Digest key;
  for (unsigned char i = 0; i < 32; ++i) key.bytes[i] = i;
  EXPECT_EQ(to_string(blake2b("abc", key)),
            "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f");
  EXPECT_NE(blake2b("abc", key), blake2b("abc", Digest{}));
}

TEST(Hash, BytesAreShownAsLowerCaseHex) {
  EXPECT_EQ(to_hex(""), "");
  EXPECT_EQ(to_hex(std::string_view("\x00\x7f\xff\x0a", 4)), "007fff0a");
}

TEST(Hash, ShortHashesTellContentsApart) {
  EXPECT_EQ(short_hash("a"), short_hash("a"));
  EXPECT_NE(short_hash("a"), short_hash("b"));
}

}  // namespace
}  // namespace souk::base
