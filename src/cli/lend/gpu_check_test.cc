#include "cli/lend/gpu_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/testing/played_gpus.h"

// A market's questions, an agent's answers, and GPUs that this computer plays.

namespace souk::cli {
namespace {

using agent::testing::PlayedGpus;
using ::testing::HasSubstr;

constexpr server::GpuScale kSmall{.size = 64,
                                  .steps_of_gib = 8,
                                  .least_steps = 8,
                                  .most_steps = 8,
                                  .reads_of_gib = 400,
                                  .most_reads = 400};

// Claims so many GPUs with 10 MiB each, of which 6 must be held.
GpuCheck played(int claimed, PlayedGpus::How how, std::int64_t memory_mib = 10) {
  PlayedGpus board(how);
  const auto gpus = agent::Gpus::without_nodes(claimed);
  return check_gpus(memory_mib, *gpus, board, [&] { return board.clock(); }, kSmall);
}

TEST(GpuCheck, GpusThatAreThereAreBelieved) {
  for (const int gpus : {1, 3, 8}) {
    const auto found = played(gpus, {.shown = gpus, .real = gpus});
    EXPECT_TRUE(found.passed) << gpus << ": " << found.reason;
    EXPECT_EQ(found.questions.size(), gpus == 1 ? 5u : 6u);
  }
}

TEST(GpuCheck, TwiceTheGpusAreNotBelieved) {
  EXPECT_THAT(played(2, {.shown = 1}).reason, HasSubstr("no such GPU"));
  for (const int real : {1, 4}) {
    const auto found = played(2 * real, {.shown = 2 * real, .real = real});
    EXPECT_FALSE(found.passed);
    EXPECT_THAT(found.reason, HasSubstr("a challenge of its")) << real;
  }
}

TEST(GpuCheck, TwiceTheMemoryIsNotBelieved) {
  EXPECT_THAT(played(1, {}, 20).reason, HasSubstr("so much memory is not here"));
  EXPECT_THAT(played(1, {.pretends = true}, 20).reason, HasSubstr("wrong"));
}

TEST(GpuCheck, HalfOfTheRowsAreNotBelieved) {
  EXPECT_THAT(played(1, {.rows_in = 2}).reason, HasSubstr("wrong"));
  EXPECT_THAT(played(3, {.shown = 3, .real = 3, .rows_in = 2}).reason, HasSubstr("wrong"));
}

TEST(GpuCheck, QuickGpusAreAskedForMore) {
  const auto found = played(2, {.shown = 2, .real = 2, .step = base::milliseconds(5)});
  EXPECT_TRUE(found.passed) << found.reason;
  EXPECT_EQ(found.questions.size(), 8u) << "ready and one, and then all again";
}

TEST(GpuCheck, ASlowOneIsToldSo) {
  EXPECT_THAT(played(1, {.step = base::milliseconds(400)}).reason, HasSubstr("3s200ms"));
}

}  // namespace
}  // namespace souk::cli
