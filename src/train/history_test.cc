#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "train/testing/updates.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::SizeIs;

TEST(Stats, TheNormIsThatOfAllBlocksWhateverTheirScale) {
  EXPECT_EQ(stats_of(testing::update({3, 4})).norm, 5);
  for (const auto scale : {1e-30F, 1e-3F, 1.F, 1e30F}) {
    const auto values = testing::noise(kBlock + 4099, 1, scale);
    double sum = 0;
    for (const auto v : values) sum += static_cast<double>(v) * static_cast<double>(v);
    const auto stats = stats_of(testing::update(values));
    EXPECT_TRUE(stats.finite);
    EXPECT_NEAR(stats.norm / std::sqrt(sum), 1, 1e-5) << scale;
  }
}

double length_of(const Direction& d) {
  double sum = 0;
  for (const auto v : d) sum += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(sum);
}

TEST(DirectionOf, ASmallUpdateIsAllOfItAtLengthOne) {
  EXPECT_THAT(direction_of(testing::update({3, 0, -4})), ElementsAre(0.6F, 0, -0.8F));
  for (const auto scale : {1e-38F, 1e-6F, 1.F, 1e37F}) {
    const auto d = direction_of(testing::update(testing::noise(5'000, 1, scale)));
    EXPECT_THAT(d, SizeIs(5'000));
    EXPECT_NEAR(length_of(d), 1, 1e-5) << scale;
  }
}

TEST(DirectionOf, NothingPointsNowhere) {
  EXPECT_THAT(direction_of(testing::update(std::vector<float>(5'000))), IsEmpty());
  for (const auto bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    std::vector<float> values(5'000, 1);
    values[4'321] = bad;
    EXPECT_THAT(direction_of(testing::update(values)), IsEmpty());
  }
}

// The chunks that are looked at, told by values that name their chunk.
std::vector<std::size_t> chunks_seen(std::size_t size) {
  std::vector<float> values(size);
  for (std::size_t i = 0; i < size; ++i) values[i] = static_cast<float>(i / kChunk + 1);
  const auto d = direction_of(testing::update(values));
  EXPECT_LE(d.size(), kDirection);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < d.size(); i += kChunk)
    out.push_back(static_cast<std::size_t>(std::lround(d[i] / d[0])) - 1);
  return out;
}

TEST(DirectionOf, ALargeUpdateIsSeenFromEndToEnd) {
  const auto most = kDirection / kChunk;
  for (const std::size_t chunks : {1, 15, 16, 17, 24, 31, 32, 33, 47, 65, 100, 200}) {
    const auto seen = chunks_seen(chunks * kChunk - 5);
    EXPECT_EQ(seen.size(), std::min(most, chunks)) << chunks;
    EXPECT_TRUE(std::ranges::is_sorted(seen));
    // No stretch is passed over, at the end no more than in the middle.
    const auto apart = (chunks + most - 1) / most;
    auto next = std::size_t{0};
    for (const auto c : seen) {
      EXPECT_LT(c, next + apart) << chunks;
      next = c + 1;
    }
    EXPECT_LE(chunks - next, apart) << chunks;
  }
}

TEST(DirectionOf, IsTheSamePlacesForEveryCodec) {
  const auto values = testing::noise(3 * kBlock + 4099, 1, 0.01F);
  const auto plain = direction_of(testing::update(values));
  for (const auto name : codec_names()) {
    const auto codec = *make_codec(name);
    std::vector<float> residual(codec->keeps_residual() ? values.size() : 0);
    const auto update = *Update::read(pack(values, *codec, residual), *codec, values.size());
    const auto d = direction_of(update);
    ASSERT_EQ(d.size(), plain.size()) << name;
    EXPECT_NEAR(length_of(d), 1, 1e-5) << name;
    double agreed = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      agreed += static_cast<double>(d[i]) * static_cast<double>(plain[i]);
    // What sparse codecs leave out is missing; what they send is in its place.
    EXPECT_GT(agreed, codec->keeps_residual() ? 0.2 : 0.99) << name;
  }
}

Evidence pointing(Direction direction, std::int64_t worker = 1) {
  return {.stats = {.norm = 1}, .steps = 1, .direction = std::move(direction), .worker = worker};
}

TEST(History, AgreementIsTheCosineWithWhatWasAcceptedLately) {
  History h;
  EXPECT_EQ(h.agreement(pointing({1, 0})), std::nullopt);
  h.accept(pointing({1, 0}, 9));
  EXPECT_THAT(h.agreement(pointing({1, 0})), Optional(DoubleNear(1, 1e-6)));
  EXPECT_THAT(h.agreement(pointing({-1, 0})), Optional(DoubleNear(-1, 1e-6)));
  EXPECT_THAT(h.agreement(pointing({0, 1})), Optional(DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.agreement(pointing({0.6F, 0.8F})), Optional(DoubleNear(0.6, 1e-6)));
  h.accept(pointing({0, 1}, 9));
  // The last one counts for a little more.
  EXPECT_GT(h.agreement(pointing({0, 1})), h.agreement(pointing({1, 0})));
  // What was long ago, hardly.
  for (int i = 0; i < 60; ++i) h.accept(pointing({0, 1}, 9));
  EXPECT_THAT(h.agreement(pointing({1, 0})), Optional(DoubleNear(0, 1e-2)));
}

TEST(History, WhatPointsNowhereNeitherAgreesNorCounts) {
  History h;
  h.accept(pointing({1, 0}, 9));
  h.accept(pointing({}, 9));
  EXPECT_EQ(h.size(), 2u);
  EXPECT_EQ(h.agreement(pointing({})), std::nullopt);
  EXPECT_THAT(h.agreement(pointing({1, 0})), Optional(DoubleNear(1, 1e-6)));
  EXPECT_EQ(h.agreement(pointing({1, 0, 0})), std::nullopt) << "of another model";
  h.note(pointing({}));
  EXPECT_THAT(h.record(1), IsEmpty());
}

TEST(History, EachWorkerHasARecordOfItsLastUpdates) {
  History h;
  h.note(pointing({1, 0}, 7));
  EXPECT_THAT(h.record(7), IsEmpty()) << "there was nothing to agree with";
  h.accept(pointing({1, 0}, 9));
  h.note(pointing({1, 0}, 7));
  h.note(pointing({-1, 0}, 8));
  h.note(pointing({0, 1}, 7));
  EXPECT_THAT(h.record(7), ElementsAre(DoubleNear(1, 1e-6), DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.record(8), ElementsAre(DoubleNear(-1, 1e-6)));
  EXPECT_THAT(h.record(9), IsEmpty());
  for (int i = 0; i < 100; ++i) h.note(pointing({-1, 0}, 7));
  EXPECT_THAT(h.record(7), SizeIs(16));
  EXPECT_THAT(h.record(7), Each(DoubleNear(-1, 1e-6)));
}

TEST(History, OthersAreThoseWhoWorkedAtTheSameTime) {
  History h;
  h.accept(pointing({1, 0}, 9));
  h.note(pointing({-1, 0}, 1));  // Long ago.
  for (int i = 0; i < 3; ++i) h.note(pointing({1, 0}, 2));
  h.note(pointing({0, 1}, 3));
  h.note(pointing({1, 0}, 2));
  EXPECT_THAT(h.others(2, 2, 1), ElementsAre(DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.others(2, 3, 1), ElementsAre(DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.others(2, 9, 1), ElementsAre(DoubleNear(-1, 1e-6), DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.others(3, 1, 1), ElementsAre(DoubleNear(1, 1e-6)));
  EXPECT_THAT(h.others(4, 1, 1), SizeIs(6)) << "to a newcomer, all";
  for (int i = 0; i < 1'000; ++i) h.note(pointing({1, 0}, 2));
  EXPECT_THAT(h.others(4, 1, 1), SizeIs(kNotes));
  EXPECT_THAT(h.others(2, 6, 1), IsEmpty()) << "it works alone now";
}

TEST(History, AMachinesOwnUpdatesAreNoMeasureOfIt) {
  History h;
  h.accept(pointing({0, 1}, 1));
  for (int i = 0; i < 5; ++i) h.accept(pointing({1, 0}, 2));
  EXPECT_THAT(h.agreement(pointing({1, 0}, 2)), Optional(DoubleNear(0, 1e-6)));
  EXPECT_THAT(h.agreement(pointing({1, 0}, 1)), Optional(DoubleNear(1, 1e-6)));
}

TEST(History, OfManyWorkersTheNewestHaveRecords) {
  History h;
  h.accept(pointing({1, 0}, 9));
  for (std::int64_t worker = 1; worker <= 3'000; ++worker) h.note(pointing({1, 0}, worker));
  EXPECT_THAT(h.record(1), IsEmpty());
  EXPECT_THAT(h.record(2'500), SizeIs(1));
  EXPECT_THAT(h.record(3'000), SizeIs(1));
}

TEST(History, RemembersTheLastAndTheirMedians) {
  History h;
  EXPECT_EQ(h.usual_norm(1), 0);
  EXPECT_FALSE(h.enough());
  for (int i = 1; i <= 1000; ++i)
    h.accept({.stats = {.norm = 2.0 * i}, .steps = 4, .loss = static_cast<double>(-i)});
  EXPECT_EQ(h.size(), kRemembered);
  EXPECT_EQ(h.sizes().front().norm, 937);
  EXPECT_EQ(h.usual_norm(4), 968);
  EXPECT_EQ(h.median_loss(), -969);
  EXPECT_EQ(h.spread_loss(), 16);
}

TEST(History, ComesBackFromASnapshot) {
  History h, again;
  for (int i = 0; i < 20; ++i)
    h.accept({.stats = {.norm = 1.0 * i}, .steps = 1 + i, .loss = 2.0 * i});
  again.restore(h.sizes(), h.losses());
  for (const auto steps : {1, 10, 100}) EXPECT_EQ(again.usual_norm(steps), h.usual_norm(steps));
  EXPECT_EQ(again.median_loss(), h.median_loss());
  again.restore(std::deque<Size>(1000, {1, 1}), std::deque<double>(1000, 1));
  EXPECT_EQ(again.size(), kRemembered);
}

TEST(History, LongerUnitsAreComparedWithWhatTheirStepsWouldAddUpTo) {
  History h;
  for (int i = 0; i < 9; ++i) h.accept({.stats = {.norm = 2}, .steps = i < 4 ? 1 : 4});
  EXPECT_EQ(h.usual_norm(1), 1) << "per root of steps, as it is";
  EXPECT_EQ(h.usual_norm(4), 1);
  EXPECT_EQ(h.usual_norm(16), 2);
  EXPECT_EQ(h.usual_norm(64), 4);
}

Evidence of_size(double norm, std::int64_t worker) {
  return {.stats = {.norm = norm}, .steps = 1, .worker = worker};
}

TEST(History, WhatMostMachinesSendIsUsualThoughItWasRefused) {
  History h;
  for (int i = 0; i < 20; ++i) h.accept(of_size(1, i % 3));
  for (const std::int64_t worker : {0, 1, 2}) h.note(of_size(1, worker));
  // One that sends often is one.
  for (int i = 0; i < 50; ++i) h.note(of_size(100, 2));
  EXPECT_EQ(h.usual_norm(1), 1);
  h.note(of_size(50, 1));
  EXPECT_EQ(h.usual_norm(1), 50);
  h.note({.stats = {.finite = false}, .worker = 0});
  EXPECT_EQ(h.usual_norm(1), 50);
}

TEST(History, OfTwoMachinesWhatBothSendIsUsual) {
  History h;
  for (int i = 0; i < 20; ++i) h.accept(of_size(1, i % 2));
  h.note(of_size(1, 0));
  for (int i = 0; i < 50; ++i) h.note(of_size(100, 1));
  EXPECT_EQ(h.usual_norm(1), 1);
  h.note(of_size(50, 0));
  EXPECT_EQ(h.usual_norm(1), 50);
}

TEST(History, OfOneMachineTheLastFiveSayWhatIsUsual) {
  History h;
  for (int i = 0; i < 20; ++i) h.accept(of_size(1, 1));
  for (const auto norm : {1, 1, 100, 100}) h.note(of_size(norm, 1));
  EXPECT_EQ(h.usual_norm(1), 1);
  h.note(of_size(100, 1));
  EXPECT_EQ(h.usual_norm(1), 100);
}

TEST(History, OfShorterUnitsItExpectsThatTheyAgreeLess) {
  History h;
  h.accept(pointing({1, 0}, 9));
  auto longer = pointing({0.8F, 0.6F}, 1);
  longer.steps = 16;
  h.note(longer);
  EXPECT_THAT(h.others(2, 1, 16), ElementsAre(DoubleNear(0.8, 1e-6)));
  EXPECT_THAT(h.others(2, 1, 64), ElementsAre(DoubleNear(0.8, 1e-6)));
  // A step of it: a sixteenth of the signal, a quarter of the noise.
  EXPECT_THAT(h.others(2, 1, 1), ElementsAre(DoubleNear(1 / std::sqrt(1 + 9.0), 1e-6)));
}

TEST(History, WhatIsForgottenIsNoYardstick) {
  History h;
  for (int i = 0; i < 20; ++i) h.accept(pointing({1, 0}, 9));
  h.forget();
  EXPECT_EQ(h.usual_norm(1), 0);
  EXPECT_FALSE(h.enough());
  EXPECT_EQ(h.agreement(pointing({0, 1})), std::nullopt);
}

}  // namespace
}  // namespace souk::train
