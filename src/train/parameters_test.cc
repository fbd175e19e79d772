#include "train/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using testing::counting;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Parameters, TheLastBlockHasWhatIsLeft) {
  const Parameters p(2 * kBlock + 5, 1);
  ASSERT_EQ(p.count(), 3);
  EXPECT_EQ(p.block(1).size(), kBlock);
  EXPECT_EQ(p.block(2).size(), 5);
  EXPECT_EQ(p.plane(0, 2).size(), 5);
  EXPECT_THAT(p.block(2), Each(0));
  EXPECT_EQ(p.version(), 0);
  EXPECT_EQ(Parameters(kBlock, 0).count(), 1);
}

TEST(Parameters, AReaderKeepsWhatItSawWhileAFoldGoesOn) {
  Parameters p(3, 0);
  const auto seen = p.blocks();
  p.change(0)[1] = 7;
  EXPECT_THAT(std::vector<float>(seen[0]->begin(), seen[0]->end()), ElementsAre(0, 0, 0));
  EXPECT_THAT(p.block(0), ElementsAre(0, 7, 0));
}

TEST(Parameters, WithoutReadersBlocksAreChangedInPlace) {
  Parameters p(3, 1);
  p.change(0)[0] = 1;  // Until then it shares its zeros.
  p.change_plane(0, 0)[0] = 1;
  const auto* before = p.block(0).data();
  static_cast<void>(p.blocks());  // Dropped at once.
  EXPECT_EQ(p.change(0).data(), before);
  const auto* plane = p.plane(0, 0).data();
  EXPECT_EQ(p.change_plane(0, 0).data(), plane);
}

TEST(Parameters, OnlyChangedBlocksGetTheNewVersion) {
  Parameters p(2 * kBlock, 0);
  p.change(1)[0] = 1;
  p.advance();
  EXPECT_EQ(p.version(), 1);
  EXPECT_EQ(p.version(0), 0);
  EXPECT_EQ(p.version(1), 1);
  p.change(0)[0] = 1;
  p.advance();
  EXPECT_EQ(p.version(0), 2);
  EXPECT_EQ(p.version(1), 1);
}

TEST(Parameters, WhatIsSavedComesBackWithItsPlanesAndVersion) {
  const auto values = counting(kBlock + 3);
  Parameters p(values.size(), 1);
  p.load(blocks_of(values), {blocks_of(values)}, 9);
  EXPECT_EQ(p.version(), 9);
  EXPECT_EQ(p.version(1), 9);
  std::vector<float> out(values.size());
  copy_out(p.blocks(), out);
  EXPECT_EQ(out, values);
  copy_out(p.plane_blocks(0), out);
  EXPECT_EQ(out, values);
}

TEST(Layout, CountsItsNumbersAndBlocks) {
  EXPECT_EQ((Layout{{{"a", {2, 3}}, {"b", {}}, {"c", {4}}}}.size()), 11);
  EXPECT_EQ((Layout{{{"a", {static_cast<std::int64_t>(kBlock) + 1}}}}.blocks()), 2);
}

TEST(Layout, RefusesWhatCannotBeAModel) {
  const struct {
    Layout layout;
    const char* says;
  } cases[] = {
      {{{{"a", {2}}, {"a", {3}}}}, "'a' is given twice"},
      {{{{"a", {2, 0}}}}, "dimension of 0"},
      {{{{"a", {-1}}}}, "dimension of -1"},
      {{{{"a", {1 << 30, 1 << 30, 1 << 30}}}}, "dimension of"},
      {{{{"a", {60}}, {"b", {60}}}}, "more than 100"},
      {{}, "no parameters"},
  };
  for (const auto& c : cases) {
    const auto checked = check_layout(c.layout, 100);
    ASSERT_FALSE(checked) << c.says;
    EXPECT_THAT(checked.error().message, HasSubstr(c.says));
  }
  EXPECT_TRUE(check_layout({{{"a", {10, 10}}}}, 100));
}

TEST(Parameters, ABlockThatWasChangedAsideIsSeenOnlyWhenItIsPut) {
  Parameters p(kBlock + 2, 1);
  auto one = p.only(1);
  EXPECT_EQ(one.size(), 2U);
  one.change(0)[0] = 5;
  one.change_plane(0, 0)[1] = 7;
  EXPECT_EQ(p.block(1)[0], 0);
  const auto before = p.blocks();
  p.put(1, std::move(one));
  p.advance();
  EXPECT_EQ(p.block(1)[0], 5);
  EXPECT_EQ(p.plane(0, 1)[1], 7);
  EXPECT_EQ(p.version(1), 1);
  EXPECT_EQ(p.version(0), 0);
  EXPECT_EQ((*before[1])[0], 0);  // Readers keep what they saw.
}

}  // namespace
}  // namespace souk::train
