#include "agent/sandbox/keeper.h"

#include <signal.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::alive;
using testing::eventually;

KeepPlan sleeping(const std::string& script) {
  KeepPlan plan;
  plan.argv = {"/bin/sh", "-c", script};
  plan.output_fd = 1;
  return plan;
}

TEST(Keeper, ReportsAProgramThatCannotBeExecuted) {
  auto plan = sleeping("");
  plan.argv = {"/no/such/program"};
  auto keeper = Keeper::launch(plan);
  ASSERT_TRUE(keeper);
  (*keeper)->start();
  const auto failed = (*keeper)->next(base::seconds(10));
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->word, Word::failed);
  EXPECT_EQ(explain(*failed).message, "cannot execute the program: No such file or directory");
  const auto ended = (*keeper)->next(base::seconds(10));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->word, Word::ended);
}

TEST(Keeper, EndsOrphansBeforeItReportsTheEnd) {
  const auto mark = "6" + std::to_string(getpid()) + "4.25";
  auto keeper = Keeper::launch(sleeping("(setsid sh -c 'sleep " + mark + "' &); exit 5"));
  ASSERT_TRUE(keeper);
  (*keeper)->start();
  const auto ended = (*keeper)->next(base::seconds(10));
  ASSERT_TRUE(ended);
  EXPECT_EQ(WEXITSTATUS(ended->status), 5);
  EXPECT_EQ(tree_of((*keeper)->pid()).size(), 1U);
}

TEST(Keeper, KilledKeeperIsReportedAndTakesTheProgramAlong) {
  auto keeper = Keeper::launch(sleeping("exec sleep 1000"));
  ASSERT_TRUE(keeper);
  (*keeper)->start();
  ASSERT_TRUE(eventually([&] { return tree_of((*keeper)->pid()).size() == 2; }));
  const auto tree = tree_of((*keeper)->pid());
  ::kill((*keeper)->pid(), SIGKILL);
  const auto ended = (*keeper)->next(base::seconds(10));
  ASSERT_TRUE(ended);
  EXPECT_EQ(ended->word, Word::ended);
  EXPECT_EQ(WTERMSIG(ended->status), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !alive(tree[1].pid); }));
}

TEST(Keeper, SaysWhichInputCannotBeShown) {
  auto plan = sleeping("true");
  plan.place = Place::user;
  if (geteuid() == 0) plan.become = 0x70000001;
  plan.tmpfs_options = "size=1048576,mode=0711";
  plan.inputs = {{"/no/such/input", "/dev/shm/in/0", true}};
  const auto keeper = Keeper::launch(plan);
  ASSERT_FALSE(keeper);
  EXPECT_EQ(keeper.error().message,
            "cannot show an input to the program: No such file or directory");
}

}  // namespace
}  // namespace souk::agent
