#include "base/blake3.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace souk::base {
namespace {

// Bytes 0, 1, ... 250, 0, 1, ...: the input of the algorithm's published test vectors.
std::string counting(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i % 251);
  return out;
}

// Expected values from b3sum 1.2, around every border of the tree: a block, a chunk, as many chunks
// as a processor takes at once, and a group of them.
TEST(Blake3, NamesContentAsEveryOtherBlake3Does) {
  const struct {
    std::size_t size;
    std::string_view digest;
  } known[] = {
      {0, "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"},
      {1, "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"},
      {63, "e9bc37a594daad83be9470df7f7b3798297c3d834ce80ba85d6e207627b7db7b"},
      {64, "4eed7141ea4a5cd4b788606bd23f46e212af9cacebacdc7d1f4c6dc7f2511b98"},
      {65, "de1e5fa0be70df6d2be8fffd0e99ceaa8eb6e8c93a63f2d8d1c30ecb6b263dee"},
      {1023, "10108970eeda3eb932baac1428c7a2163b0e924c9a9e25b35bba72b28f70bd11"},
      {1024, "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"},
      {1025, "d00278ae47eb27b34faecf67b4fe263f82d5412916c1ffd97c8cb7fb814b8444"},
      {2048, "e776b6028c7cd22a4d0ba182a8bf62205d2ef576467e838ed6f2529b85fba24a"},
      {2049, "5f4d72f40d7a5f82b15ca2b2e44b1de3c2ef86c426c95c1af0b6879522563030"},
      {5121, "628bd2cb2004694adaab7bbd778a25df25c47b9d4155a55f8fbd79f2fe154cff"},
      {8192, "aae792484c8efe4f19e2ca7d371d8c467ffb10748d8a5a1ae579948f718a2a63"},
      {16384, "f875d6646de28985646f34ee13be9a576fd515f76b5b0a26bb324735041ddde4"},
      {31744, "62b6960e1a44bcc1eb1a611a8d6235b6b4b78f32e7abc4fb4c6cdcce94895c47"},
      {65543, "34e9a3daa12bc6c9e31a96e162ffea0c436609f80cad7169020b48854659b7a0"},
      {102400, "bc3e3d41a1146b069abffad3c0d44860cf664390afce4d9661f7902e7943e085"},
      {131072, "306baba93b1a393cbd35172837c98b0f59a41f64e1b2682ae102d8b2534b9e1c"},
      {131073, "f837d4254d24ba3d50fe3743d46e4af6db5f5d6ab0469197d94e7ba1e906c4d8"},
      {262144, "d57dc906e20d3fd326ffaa85535500486f46a0979f5a323f028dcabfd381fd4a"},
      {4194304, "4e94e6f582581a0f3855f3ce504b153e951e65036fe9e2f010b7e25473c54f98"},
      {4194305, "0460893a0170917e0d568bb27c0287984d4f7e9d59eafb95e6fb3c01ec611eab"},
      {9449529, "2c09a585ec731eaee893eafe061f6f60228526260c78a0837c5f19ef400575a4"},
  };
  for (const auto& [size, digest] : known) {
    const auto input = counting(size);
    EXPECT_EQ(to_string(blake3(input)), digest) << size;
    // What machines with narrower vectors compute.
    for (const int lanes : {1, 4, 8})
      EXPECT_EQ(to_string(blake3(input, lanes)), digest) << size << " bytes, " << lanes << " lanes";
  }
}

TEST(Blake3, BytesMayLieAnywhere) {
  const auto input = counting(70'000);
  const auto expected = blake3(input);
  for (const std::size_t shift : {1u, 3u, 17u})
    EXPECT_EQ(blake3(std::string_view(std::string(shift, 'x') + input).substr(shift)), expected);
}

}  // namespace
}  // namespace souk::base
