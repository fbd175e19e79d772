#include "train/pull.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "train/testing/updates.h"

namespace souk::train {
namespace {

using testing::counting;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr std::size_t kHead = 24;
constexpr std::size_t kThreeBlocks = 2 * kBlock + 3;  // The last of them has three floats.

// At version 5, with block 1 changed at 4 and block 2 at 5.
Parameters changed() {
  Parameters p(kThreeBlocks, 1);
  p.load(blocks_of(counting(kThreeBlocks)), {blocks_of(std::vector<float>(kThreeBlocks))}, 3);
  p.change(1)[0] = -1;
  p.advance();
  p.change(2)[2] = -2;
  p.advance();
  return p;
}

// What a worker that has `values` has after this message.
std::vector<float> after(std::string_view message, std::vector<float> values,
                         std::int64_t version) {
  const auto got = unpack_changed(message, values);
  EXPECT_TRUE(got);
  EXPECT_EQ(got.value_or(-1), version);
  return values;
}

TEST(Pull, WhatIsTakenIsTheParametersAtOneMoment) {
  auto p = changed();
  const auto taken = take(p);
  p.change(0)[0] = 9;
  p.advance();
  EXPECT_EQ(taken.version, 5);
  EXPECT_THAT(taken.versions, ElementsAre(3, 4, 5));
  EXPECT_EQ(taken.size(), kThreeBlocks);
  EXPECT_EQ((*taken.blocks[0])[0], 0);
  EXPECT_EQ((*taken.blocks[1])[0], -1);
  EXPECT_EQ(ParameterSnapshot().size(), 0u);
}

TEST(Pull, ANewcomerGetsEverything) {
  const auto taken = take(changed());
  const auto message = pack_changed(taken, -1);
  EXPECT_EQ(message.size(), kHead + 16 + kThreeBlocks * sizeof(float));
  auto want = counting(kThreeBlocks);
  want[kBlock] = -1;
  want[kThreeBlocks - 1] = -2;
  EXPECT_TRUE(after(message, std::vector<float>(kThreeBlocks, 99), 5) == want);
  // Also where nothing was folded yet.
  EXPECT_THAT(after(pack_changed(take(Parameters(3, 0)), -1), {1, 2, 3}, 0), Each(0));
}

TEST(Pull, OnlyWhatChangedTravels) {
  const auto taken = take(changed());
  const auto one = sizeof(float) * kBlock;
  const struct {
    std::int64_t since;
    std::size_t bytes;
  } cases[] = {{2, 16 + 2 * one + 12}, {3, 8 + one + 12}, {4, 8 + 12}, {5, 0}, {6, 0}};
  auto want = counting(kThreeBlocks);
  want[kBlock] = -1;
  want[kThreeBlocks - 1] = -2;
  for (const auto& c : cases) {
    const auto message = pack_changed(taken, c.since);
    EXPECT_EQ(message.size(), kHead + c.bytes) << c.since;
    // A worker that had that version has the newest now.
    auto values = counting(kThreeBlocks);
    if (c.since >= 4) values[kBlock] = -1;
    if (c.since >= 5) values[kThreeBlocks - 1] = -2;
    EXPECT_TRUE(after(message, values, 5) == want) << c.since;
  }
}

TEST(Pull, WhatDidNotChangeIsLeftAlone) {
  const auto message = pack_changed(take(changed()), 4);
  const auto got = after(message, std::vector<float>(kThreeBlocks, 7), 5);
  std::vector<float> want(kThreeBlocks, 7);
  std::ranges::copy(std::vector{2.F * kBlock, 2.F * kBlock + 1, -2.F}, want.end() - 3);
  EXPECT_TRUE(got == want);
}

TEST(Pull, FoldsAtOnceAreSeenByWhoeverHasAVersionBefore) {
  const auto rule = testing::rule("downpour", {{"eta", 1}});
  auto p = testing::parameters({1, 2}, *rule);
  rule->fold(p, std::vector{testing::update({1, 1}), testing::update({2, 2})});
  const auto taken = take(p);
  EXPECT_EQ(taken.version, 2);
  EXPECT_THAT(after(pack_changed(taken, 0), {1, 2}, 2), ElementsAre(4, 5));
  EXPECT_THAT(after(pack_changed(taken, 1), {0, 0}, 2), ElementsAre(4, 5));
}

void put(std::string& message, std::size_t at, std::uint64_t value, std::size_t bytes = 8) {
  std::memcpy(message.data() + at, &value, bytes);
}

TEST(Pull, DamagedMessagesChangeNothing) {
  const auto good = pack_changed(take(changed()), 3);  // Blocks 1 and 2.
  const auto refused = [&](std::string_view message, const char* what) {
    std::vector<float> values(kThreeBlocks, 7);
    const auto got = unpack_changed(message, values);
    ASSERT_FALSE(got) << what;
    EXPECT_EQ(got.error().code, base::Code::damaged) << what;
    EXPECT_TRUE(values == std::vector<float>(kThreeBlocks, 7)) << what;
  };
  for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, kHead - 1, kHead, kHead + 7,
                                kHead + 8, good.size() / 2, good.size() - 1})
    refused(std::string_view(good).substr(0, cut), "cut short");
  refused(good + '\0', "too long");
  const auto with = [&](std::size_t at, std::uint64_t value, std::size_t bytes = 8) {
    auto message = good;
    put(message, at, value, bytes);
    return message;
  };
  refused(with(0, ~std::uint64_t{0}), "a version below 0");
  refused(with(8, kThreeBlocks - 1), "a smaller model");
  refused(with(8, kThreeBlocks + 1), "a larger model");
  refused(with(8, 0), "no model");
  refused(with(16, 1), "fewer blocks than follow");
  refused(with(16, 3), "more blocks than follow");
  refused(with(16, 4), "more blocks than there are");
  refused(with(16, ~std::uint64_t{0}), "more blocks than can be counted");
  refused(with(24, 3, 4), "a block that is not there");
  refused(with(24, ~std::uint64_t{0}, 4), "a block far away");
  refused(with(24, 2, 4), "a long block in the place of a short one");
  refused(with(28, 1, 4), "a short block in the place of a long one");
  // As long as it should be, but not one after the other.
  auto swapped = good;
  put(swapped, 24, 2, 4);
  put(swapped, 28, 1, 4);
  refused(swapped, "blocks out of order");
  const auto all = pack_changed(take(changed()), -1);
  auto twice = all;
  put(twice, 28, 0, 4);
  refused(twice, "a block twice");
  EXPECT_TRUE([&] {
    std::vector<float> values(kThreeBlocks);
    return unpack_changed(good, values).has_value();
  }());
}

TEST(Pieces, PutTogetherAreWhatChanged) {
  const auto taken = take(changed());
  for (const std::int64_t since : {-1, 3, 4, 100}) {
    for (const std::size_t most : {std::size_t{1}, kBlock * sizeof(float), kMostPiece}) {
      std::vector<float> values(kThreeBlocks, -1), whole(kThreeBlocks, -1);
      std::size_t from = 0, rounds = 0;
      while (from < count_blocks(kThreeBlocks)) {
        const auto message = pack_piece(taken, since, from, most);
        const auto piece = read_piece(message, kThreeBlocks, from);
        ASSERT_TRUE(piece);
        EXPECT_EQ(piece->version, taken.version);
        for (const auto& block : piece->blocks)
          std::memcpy(values.data() + block.at, block.floats.data(), block.floats.size());
        ASSERT_GT(piece->next, from);
        from = piece->next;
        ASSERT_LE(++rounds, count_blocks(kThreeBlocks));
      }
      ASSERT_TRUE(unpack_changed(pack_changed(taken, since), whole));
      EXPECT_EQ(values, whole) << since << " " << most;
    }
  }
}

TEST(Pieces, WhatIsNoPieceOrDoesNotGetOnIsRefused) {
  const auto good = pack_piece(take(changed()), -1, 0, 1);  // Block 0; the next begins at 1.
  ASSERT_TRUE(read_piece(good, kThreeBlocks, 0));
  EXPECT_FALSE(read_piece(good, kThreeBlocks, 1)) << "another piece than was asked for";
  EXPECT_FALSE(read_piece(good, kThreeBlocks - 1, 0)) << "another model";
  for (std::size_t length = 0; length < 100; ++length)
    EXPECT_FALSE(read_piece(std::string_view(good).substr(0, length), kThreeBlocks, 0));
  EXPECT_FALSE(read_piece(good + "x", kThreeBlocks, 0));
  const auto with = [&](std::size_t at, std::uint64_t number) {
    auto bad = good;
    std::memcpy(bad.data() + at * sizeof number, &number, sizeof number);
    return read_piece(bad, kThreeBlocks, 0).has_value();
  };
  EXPECT_FALSE(with(0, std::uint64_t{1} << 63)) << "a version below zero";
  EXPECT_FALSE(with(2, std::uint64_t{1} << 62)) << "more blocks than there are";
  EXPECT_FALSE(with(3, 0)) << "the same again, for ever";
  EXPECT_FALSE(with(3, 1000)) << "beyond the end";
}

}  // namespace
}  // namespace souk::train
