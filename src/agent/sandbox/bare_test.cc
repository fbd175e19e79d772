#include "agent/sandbox/bare.h"

#include <signal.h>

#include "agent/limits/cgroup.h"
#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::alive;
using testing::Box;
using testing::eventually;
using testing::find_process;
using testing::sandbox;
using testing::shell;

TEST(Bare, DaemonsEndWithTheirProgram) {
  const auto mark = "5" + std::to_string(getpid()) + "3.25";
  Box box(*sandbox("none"), shell("(setsid sh -c 'trap \"\" TERM HUP; touch up; sleep " + mark +
                                  "' &) ; until [ -e up ]; do sleep 0.01; done; exit 4"));
  ASSERT_TRUE(box);
  box.start();
  EXPECT_EQ(box.finish().code, 4);
  EXPECT_EQ(find_process("sleep " + mark), 0);
  EXPECT_EQ(tree_of(getpid()).size(), 2U);  // This test and the keeper.
}

TEST(Bare, NothingOutlivesAKilledAgentAndSweepTakesItsFolder) {
  const pid_t agent = fork();
  if (agent == 0) {
    Box box(*sandbox("none"), shell("(setsid sleep 1000 &) ; sleep 1000"));
    box.start();
    box.finish();
    _exit(0);
  }
  ASSERT_TRUE(eventually([&] { return tree_of(agent).size() == 5; }));
  const auto tree = tree_of(agent);
  ::kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  for (const auto& task : tree) EXPECT_TRUE(eventually([&] { return !alive(task.pid); }));
  const auto folders = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/tmp"))
      count += entry.path().filename().string().starts_with("souk-bare-" + std::to_string(agent));
    return count;
  };
  EXPECT_EQ(folders(), 1);
  sweep();
  EXPECT_EQ(folders(), 0);
}

// A lender may keep an environment below a folder that is called as the sandbox's working folder
// is.
TEST(Bare, TheOwnersEnvironmentIsFoundWhereverItLies) {
  auto program = shell("echo $PYTHONPATH");
  program.env["PYTHONPATH"] = "/work/packages:/work/torch/.venv/lib:/work/torch2";
  program.shown = {"/work/torch"};
  Box box(*sandbox("none"), program);
  ASSERT_TRUE(box);
  box.start();
  box.finish();
  const auto said = box.output();
  EXPECT_FALSE(said.starts_with("/work/")) << "not in a folder of its own: " << said;
  EXPECT_NE(said.find(":/work/torch/.venv/lib:"), std::string::npos) << said;
  EXPECT_EQ(said.find(":/work/torch2"), std::string::npos) << said;
}

TEST(Bare, RefusesInputsThatItCouldNotProtect) {
  Program program{.argv = {"true"}, .inputs = {{"/usr", "/work/x"}}, .output_fd = 1};
  EXPECT_FALSE(sandbox("none")->prepare(program));
}

}  // namespace
}  // namespace souk::agent
