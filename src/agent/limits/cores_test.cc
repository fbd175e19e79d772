#include "agent/limits/cores.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <set>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using ::testing::ElementsAre;
using testing::eventually;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::python;
using testing::run;
using testing::sandbox;

std::string own_scope() { return "test-" + std::to_string(getpid()); }

const std::vector<int> kEight{0, 1, 2, 3, 4, 5, 6, 7};

TEST(CoreList, IsAsTheKernelWritesIt) {
  EXPECT_EQ(core_list({}), "");
  EXPECT_EQ(core_list({3}), "3");
  EXPECT_EQ(core_list({0, 1, 2, 5, 7, 8}), "0-2,5,7-8");
}

TEST(CoreClaims, NoTwoAgentsHaveOneCore) {
  const auto first = CoreClaims::take(3, 3, kEight, own_scope());
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_THAT(first->cores(), ElementsAre(0, 1, 2));
  const auto second = CoreClaims::take(2, 2, {1, 2, 3, 4}, own_scope());
  ASSERT_TRUE(second);
  EXPECT_THAT(second->cores(), ElementsAre(3, 4));
  const auto rest = CoreClaims::take(1, 8, kEight, own_scope());
  ASSERT_TRUE(rest);
  EXPECT_THAT(rest->cores(), ElementsAre(5, 6, 7)) << "all means all that are left";
}

TEST(CoreClaims, AgentsInDisjointSetsDoNotMeet) {
  const auto first = CoreClaims::take(1, 8, {0, 1}, own_scope());
  const auto second = CoreClaims::take(1, 8, {2, 3}, own_scope());
  ASSERT_TRUE(first && second);
  EXPECT_THAT(first->cores(), ElementsAre(0, 1));
  EXPECT_THAT(second->cores(), ElementsAre(2, 3));
}

TEST(CoreClaims, ARefusalSaysWhoHasThem) {
  const auto first = CoreClaims::take(6, 6, kEight, own_scope());
  const auto refused = CoreClaims::take(3, 3, kEight, own_scope());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::exhausted);
  EXPECT_THAT(refused.error().message,
              HasSubstr("2 of the cores 0-7 are free, not 3: other agents of this machine lend 0-5 "
                        "by process " +
                        std::to_string(getpid()) + " of user " + std::to_string(geteuid())));
  const auto left = CoreClaims::take(2, 2, kEight, own_scope());
  EXPECT_TRUE(left) << "a refusal keeps nothing";
  EXPECT_THAT(CoreClaims::take(1, 1, kEight, own_scope()).error().message,
              HasSubstr("all cores (0-7) are lent already: 0-7 by process"));
}

TEST(CoreClaims, MoreThanAllowedIsRefused) {
  const auto refused = CoreClaims::take(3, 3, {4, 6}, own_scope());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "this process may use 2 cores (4,6), not 3");
  EXPECT_THAT(CoreClaims::held(kEight, own_scope()), IsEmpty());
}

TEST(CoreClaims, SomebodyWhoOnlyTookTheNameIsFoundToo) {
  const base::Fd taken(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const auto text = "souk/" + own_scope() + "/core/5";
  text.copy(name.sun_path + 1, text.size());
  ASSERT_EQ(::bind(taken.get(), reinterpret_cast<sockaddr*>(&name),
                   static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())),
            0);
  const auto held = CoreClaims::held(kEight, own_scope());
  ASSERT_EQ(held.size(), 1U);
  EXPECT_EQ(held[0].core, 5);
  EXPECT_THAT(CoreClaims::take(8, 8, kEight, own_scope()).error().message, HasSubstr("lend 5 by"));
}

// Twelve agents at once on a machine of two cores: two have one each, the others hear why not. One
// that is killed leaves its core to the next.
TEST(CoreClaims, TwelveProcessesShareNothingAndAKilledOneGivesBack) {
  const auto scope = own_scope();
  int ends[2], hold[2];
  ASSERT_EQ(pipe(ends), 0);
  ASSERT_EQ(pipe(hold), 0);
  std::vector<pid_t> agents;
  for (int i = 0; i < 12; ++i) {
    agents.push_back(fork());
    if (agents.back() == 0) {
      close(hold[1]);
      const auto claims = CoreClaims::take(1, 1, {0, 1}, scope);
      const char said = claims ? static_cast<char>('0' + claims->cores()[0]) : 'x';
      if (write(ends[1], &said, 1) != 1) _exit(1);
      char byte = 0;
      _exit(static_cast<int>(read(hold[0], &byte, 1)));  // Until the test lets go.
    }
  }
  std::string said;
  for (char c = 0; said.size() < 12 && read(ends[0], &c, 1) == 1;) said.push_back(c);
  std::ranges::sort(said);
  EXPECT_EQ(said, "01xxxxxxxxxx");
  const auto held = CoreClaims::held({0, 1}, scope);
  ASSERT_EQ(held.size(), 2U);
  for (const auto agent : agents)
    if (held[0].by.contains("process " + std::to_string(agent) + " ")) ::kill(agent, SIGKILL);
  EXPECT_TRUE(eventually([&] { return CoreClaims::held({0, 1}, scope).size() == 1; }));
  const auto next = CoreClaims::take(1, 1, {0, 1}, scope);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(next->cores(), std::vector<int>{held[0].core});
  close(hold[1]);
  for (const auto agent : agents) waitpid(agent, nullptr, 0);
  for (const int fd : {ends[0], ends[1], hold[0]}) close(fd);
}

TEST(CoreDesk, ALeaseGetsTheCoresThatFewestHave) {
  CoreDesk desk;
  auto a = desk.take(1, {0, 1}), b = desk.take(1, {0, 1});
  EXPECT_NE(a.cores(), b.cores());
  const auto freed = b.cores();
  b = {};
  const auto c = desk.take(1, {0, 1});
  EXPECT_EQ(c.cores(), freed) << "not the one that is in use";
  EXPECT_EQ(desk.take(5, {0, 1}).cores().size(), 2U);
}

TEST(CoreDesk, AProgramStaysOnTheCoresOfItsLease) {
  setenv("SOUK_CGROUPS", "/nonexistent", 1);
  auto program = python("import os; print(len(os.sched_getaffinity(0)))");
  program.limits.cores = 1;
  const auto ran = run(*sandbox("bubblewrap"), program);
  unsetenv("SOUK_CGROUPS");
  EXPECT_EQ(ran.output, "1\n") << ran.exit.text;
}

}  // namespace
}  // namespace souk::agent
