#include "agent/limits/gpu_claims.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using ::testing::ElementsAre;
using testing::eventually;
using ::testing::IsEmpty;

std::string own_gpu_scope() { return "test-gpus-" + std::to_string(getpid()); }

std::vector<Gpu> two_gpus() {
  return {{.name = "NVIDIA H200", .uuid = "GPU-5c890000-0000-0000-0000-00000000000a"},
          {.name = "NVIDIA A10", .uuid = "GPU-5c890000-0000-0000-0000-00000000000b", .number = 1}};
}

TEST(GpuClaims, NoTwoAgentsLendOneGpuAndTheSecondHearsWhoHasIt) {
  const auto first = GpuClaims::take(two_gpus(), 1, own_gpu_scope());
  EXPECT_THAT(first.places(), ElementsAre(0U));
  EXPECT_THAT(first.of_others(), IsEmpty());
  const auto second = GpuClaims::take(two_gpus(), 2, own_gpu_scope());
  EXPECT_THAT(second.places(), ElementsAre(1U));
  EXPECT_EQ(lent_by(two_gpus(), second.of_others()), "GPU 0 (NVIDIA H200) by process " +
                                                         std::to_string(getpid()) + " of user " +
                                                         std::to_string(geteuid()));
  const auto third = GpuClaims::take(two_gpus(), 2, own_gpu_scope());
  EXPECT_THAT(third.places(), IsEmpty());
  EXPECT_EQ(third.of_others().size(), 2U);
  EXPECT_EQ(GpuClaims::held(two_gpus(), own_gpu_scope()).size(), 2U);
}

TEST(GpuClaims, GpusWithoutAUuidAreClaimedByTheirDeviceNode) {
  const std::vector<Gpu> gpus{{.name = "old"}, {.name = "old", .number = 1}};
  const auto first = GpuClaims::take(gpus, 1, own_gpu_scope());
  EXPECT_THAT(GpuClaims::take(gpus, 2, own_gpu_scope()).places(), ElementsAre(1U));
}

TEST(GpuClaims, ALongScopeDoesNotMakeTwoGpusOne) {
  const std::string scope = std::string(80, 'x') + own_gpu_scope();
  const auto first = GpuClaims::take(two_gpus(), 1, scope);
  EXPECT_THAT(GpuClaims::take(two_gpus(), 2, scope).places(), ElementsAre(1U));
}

TEST(GpuClaims, AnAgentThatIsKilledGivesItsGpusBack) {
  const auto scope = own_gpu_scope();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const auto agent = fork();
  if (agent == 0) {
    const auto claims = GpuClaims::take(two_gpus(), 2, scope);
    const char said = static_cast<char>('0' + claims.places().size());
    if (write(ends[1], &said, 1) != 1) _exit(1);
    for (;;) pause();
  }
  char said = 0;
  ASSERT_EQ(read(ends[0], &said, 1), 1);
  EXPECT_EQ(said, '2');
  EXPECT_THAT(GpuClaims::take(two_gpus(), 2, scope).places(), IsEmpty());
  ::kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(eventually([&] { return GpuClaims::held(two_gpus(), scope).empty(); }));
  EXPECT_THAT(GpuClaims::take(two_gpus(), 2, scope).places(), ElementsAre(0U, 1U));
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace souk::agent
