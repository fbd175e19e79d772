#include "agent/challenge_desk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/played_gpus.h"

namespace souk::agent {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::PlayedGpus;
using ::testing::SizeIs;
using wire::Challenge;
using wire::ChallengeKind;

struct Desk {
  std::unique_ptr<Gpus> gpus;
  PlayedGpus board;
  ChallengeDesk desk{*gpus, board};

  explicit Desk(int claimed, PlayedGpus::How how = {})
      : gpus(Gpus::without_nodes(claimed)), board(how) {}
  wire::ChallengeAnswer open(std::vector<std::int32_t> which) {
    return desk.answer({.id = "1", .kind = ChallengeKind::gpu_open, .size = 64, .gpus = which});
  }
};

TEST(ChallengeDesk, GpusAreBorrowedForAsLongAsTheChallengeTakes) {
  auto gpus = Gpus::without_nodes(2);
  PlayedGpus board({.shown = 2, .real = 2});
  {
    ChallengeDesk desk(*gpus, board);
    const Challenge two{.id = "1", .kind = ChallengeKind::gpu_open, .size = 64, .gpus = {0, 1}};
    EXPECT_FALSE(desk.answer(two).trouble);
    EXPECT_FALSE(gpus->borrow(1));
  }
  EXPECT_TRUE(gpus->borrow(2));
}

TEST(ChallengeDesk, AProductIsCommittedToAndItsRowsAreShown) {
  Desk d(1);
  EXPECT_FALSE(d.open({0}).trouble);
  const base::GpuProduct product{.seed = 5, .size = 64, .steps = 2};
  const auto committed = d.desk.answer(
      {.id = "2", .kind = ChallengeKind::gpu_product, .seeds = {"5"}, .steps = 2, .size = 64});
  ASSERT_THAT(committed.results, SizeIs(1));
  const auto shown =
      d.desk.answer({.id = "3", .kind = ChallengeKind::gpu_rows, .gpus = {0}, .rows = {7, 63}});
  ASSERT_THAT(shown.results, SizeIs(3));
  const auto hashes = base::numbers_of<std::uint64_t>(shown.results[0], 64);
  EXPECT_EQ(base::commitment(hashes), committed.results[0]);
  const auto row = base::numbers_of<std::uint32_t>(shown.results[2], 64);
  EXPECT_EQ(base::row_hash(5, row), hashes[63]);
  const std::vector<std::uint32_t> r(64, 3);
  EXPECT_TRUE(base::is_row_of(product, 63, row, r, base::fold_matrices(product, r)));
}

TEST(ChallengeDesk, WhatIsFilledIsRead) {
  Desk d(1);
  EXPECT_FALSE(d.open({0}).trouble);
  EXPECT_THAT(
      d.desk.answer({.id = "2", .kind = ChallengeKind::gpu_fill, .seeds = {"8"}, .memory_mib = 4})
          .results,
      IsEmpty());
  const auto read =
      d.desk.answer({.id = "3", .kind = ChallengeKind::gpu_read, .seeds = {"9"}, .reads = 30});
  ASSERT_THAT(read.results, SizeIs(1));
  EXPECT_EQ(base::numbers_of<std::uint64_t>(read.results[0], base::kGpuGroups).at(1000),
            base::gpu_group(8, 4, 9, 30, 1000));
}

// What a server could ask that is none of its business, or makes no sense.
TEST(ChallengeDesk, WhatCannotBeDoneIsTold) {
  Desk d(2, {.shown = 1});
  const auto trouble = [&](const Challenge& c) { return d.desk.answer(c).trouble.value_or(""); };
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_product, .seeds = {"1"}}), HasSubstr("0 GPUs"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_open, .size = 64, .gpus = {0, 1, 2}}),
              HasSubstr("2 GPUs are free"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_open, .size = 64, .gpus = {0, 1}}),
              HasSubstr("no such GPU"));
  EXPECT_FALSE(d.open({0}).trouble);
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_product, .seeds = {"1"}, .size = 1 << 30}),
              HasSubstr("matrices"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_product,
                       .seeds = {"1"},
                       .steps = std::int64_t{1} << 40,
                       .size = 64}),
              HasSubstr("steps"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_rows, .gpus = {-1}}), HasSubstr("GPU -1"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_rows, .gpus = {0}, .rows = {64}}),
              HasSubstr("row"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_fill, .seeds = {"1"}, .memory_mib = 1 << 20}),
              HasSubstr("memory"));
  EXPECT_THAT(trouble({.kind = ChallengeKind::gpu_fill, .seeds = {"x"}, .memory_mib = 4}),
              HasSubstr("no seed"));
}

TEST(ChallengeDesk, WithoutADriverAMachineSaysSo) {
  const auto gpu = cuda_board()->open(0);
  if (gpu) GTEST_SKIP() << "this machine has a GPU";
  EXPECT_THAT(gpu.error().message, HasSubstr("driver"));
  EXPECT_FALSE(gpu.error().hint.empty());
}

}  // namespace
}  // namespace souk::agent
