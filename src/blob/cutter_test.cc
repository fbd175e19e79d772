#include "blob/cutter.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

std::vector<std::string_view> cut_all(std::string_view rest) {
  std::vector<std::string_view> out;
  while (!rest.empty()) {
    const auto bytes = cut(rest);
    out.push_back(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  return out;
}

// If these change, everybody's next version of a data set is sent whole.
TEST(Cutter, CutsWhereItAlwaysDid) {
  std::vector<std::size_t> lengths;
  for (const auto chunk : cut_all(testing::noise(16 << 20))) lengths.push_back(chunk.size());
  EXPECT_EQ(lengths, (std::vector<std::size_t>{1473797, 2463079, 2819543, 2285523, 2079854, 2210241,
                                               768086, 2677093}));
}

TEST(Cutter, EveryChunkIsWithinBoundsWhateverTheContent) {
  const auto zeros = std::string(20 << 20, '\0');
  for (const auto& content : {testing::noise(20 << 20, 7), testing::prose(20 << 20), zeros}) {
    const auto chunks = cut_all(content);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      EXPECT_LE(chunks[i].size(), kChunkBytes);
      if (i + 1 < chunks.size()) EXPECT_GT(chunks[i].size(), kLeastCut);
    }
  }
  EXPECT_EQ(cut("abc"), 3u);
  EXPECT_EQ(cut(std::string(kLeastCut, 'x')), kLeastCut);
}

TEST(Cutter, LooksNoFurtherThanAChunk) {
  const auto content = testing::noise(12 << 20, 3);
  for (std::string_view rest = content; rest.size() > kChunkBytes; rest.remove_prefix(cut(rest)))
    ASSERT_EQ(cut(rest), cut(rest.substr(0, kChunkBytes)));
}

TEST(Cutter, BytesPutIntoTheMiddleChangeAChunkOrTwo) {
  const auto before = testing::noise(64 << 20, 5);
  std::map<std::string_view, int> known;
  for (const auto chunk : cut_all(before)) known[chunk] = 1;
  for (const std::size_t at : {1u << 20, 30u << 20, 50u << 20}) {
    auto after = before;
    after.insert(at, "a few new bytes");
    std::size_t fresh = 0;
    for (const auto chunk : cut_all(after)) fresh += known.contains(chunk) ? 0 : chunk.size();
    EXPECT_LE(fresh, 3 * kChunkBytes) << at;
    EXPECT_GT(fresh, 0u);
  }
}

}  // namespace
}  // namespace souk::blob
