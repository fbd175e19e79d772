#include "train/statistics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace souk::train {
namespace {

// Two weights, three of state, a weight, one of state.
const Layout kLayout{
    {{"w", {2}, false}, {"mean", {3}, true}, {"v", {1}, false}, {"variance", {1}, true}}};

ParameterSnapshot ones(std::size_t size) {
  ParameterSnapshot out{.blocks = blocks_of(std::vector<float>(size, 1)), .version = 5};
  out.versions.assign(out.blocks.size(), 5);
  return out;
}

base::Result<std::vector<float>> measured(const std::vector<float>& change) {
  const auto codec = make_codec("fp32");
  const auto update = Update::read(pack(change, **codec, {}), **codec, change.size());
  return measured_state(state_runs(kLayout), ones(change.size()), *update);
}

TEST(Statistics, StateIsFoundAmongTheTensors) {
  const auto runs = state_runs(kLayout);
  ASSERT_EQ(runs.runs.size(), 2);
  EXPECT_EQ(runs.runs[0].at, 2);
  EXPECT_EQ(runs.runs[0].size, 3);
  EXPECT_EQ(runs.runs[1].at, 6);
  EXPECT_EQ(runs.size(), 4);
  EXPECT_TRUE(state_runs({{{"w", {4}, false}}}).empty());
}

TEST(Statistics, OnlyTheStateIsTakenFromAChange) {
  const auto state = measured({9, 9, 1, 2, 3, 9, 4});
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(*state, (std::vector<float>{2, 3, 4, 5}));
  const auto base = ones(7);
  const auto out = with_state(base, state_runs(kLayout), *state, 77);
  std::vector<float> values(7);
  copy_out(out.blocks, values);
  EXPECT_EQ(values, (std::vector<float>{1, 1, 2, 3, 4, 1, 5}));
  EXPECT_EQ(out.version, 77);
  copy_out(base.blocks, values);
  EXPECT_EQ(values, std::vector<float>(7, 1));  // What others hold stays as it was.
}

TEST(Statistics, WhatNoTrainerMeasuresIsRefused) {
  EXPECT_FALSE(measured({0, 0, std::nanf(""), 0, 0, 0, 0}));
  EXPECT_FALSE(measured({0, 0, std::numeric_limits<float>::infinity(), 0, 0, 0, 0}));
  EXPECT_FALSE(measured({0, 0, 1e6F, 0, 0, 0, 0}));
  EXPECT_TRUE(measured({0, 0, 100, 0, 0, 0, 0}));
  // A weight that is not finite is nothing that is looked at.
  EXPECT_TRUE(measured({std::nanf(""), 0, 1, 0, 0, 0, 0}));
}

TEST(Statistics, RoundingIsNoDifferenceAndALieIs) {
  const std::vector<float> a{1, 2, 3};
  EXPECT_TRUE(same_state(a, {1.001F, 2, 2.999F}));
  EXPECT_FALSE(same_state(a, {1, 2, 3.2F}));
  EXPECT_FALSE(same_state(a, {1, 2}));
}

TEST(Statistics, StateThatLiesAcrossABlocksEndIsWhole) {
  const auto size = static_cast<std::int64_t>(kBlock);
  const Layout layout{{{"w", {size - 1}, false}, {"mean", {3}, true}}};
  const auto runs = state_runs(layout);
  const auto out = with_state(ones(layout.size()), runs, {4, 5, 6}, 9);
  EXPECT_EQ((*out.blocks[0])[kBlock - 1], 4);
  EXPECT_EQ((*out.blocks[1])[0], 5);
  EXPECT_EQ((*out.blocks[1])[1], 6);
  EXPECT_EQ((*out.blocks[0])[kBlock - 2], 1);
}

}  // namespace
}  // namespace souk::train
