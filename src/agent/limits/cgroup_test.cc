#include "agent/limits/cgroup.h"

#include <sys/wait.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::eventually;
using testing::kMiB;
using testing::Leftovers;

const Limits kLimits{
    .cores = 1.5, .memory_bytes = 100 * kMiB, .scratch_bytes = 28 * kMiB, .pids = 30};

// A folder that looks like a version 2 tree; the kernel's own files are written by the test.
class FakeTree : public ::testing::Test {
 protected:
  std::string root =
      std::filesystem::temp_directory_path() / ("souk-cg-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(root + "/user"); }
  void TearDown() override { std::filesystem::remove_all(root); }
  void put(const std::string& name, const std::string& text) {
    std::ofstream(root + "/" + name) << text;
  }
  std::string group() {
    for (const auto& entry : std::filesystem::directory_iterator(root + "/user"))
      if (entry.is_directory()) return "user/" + entry.path().filename().string();
    return "";
  }
};

TEST_F(FakeTree, Version2LimitsMemoryProcessesAndCores) {
  put("cgroup.controllers", "memory pids cpu");
  put("self", "0::/user\n");
  put("user/cgroup.subtree_control", "cpu memory pids\n");
  const auto cgroups = Cgroups::find(root, root + "/self");
  EXPECT_TRUE(cgroups.version2());
  EXPECT_TRUE(cgroups.has("memory") && cgroups.has("pids") && cgroups.has("cpu"));
  EXPECT_FALSE(cgroups.has("io"));
  const auto made = cgroups.create(kLimits);
  ASSERT_TRUE(made) << made.error().message;
  const auto read = [&](const char* name) {
    return testing::slurp(root + "/" + group() + "/" + name);
  };
  EXPECT_EQ(read("memory.max"), std::to_string(128 * kMiB));
  EXPECT_EQ(read("memory.swap.max"), "0");
  EXPECT_EQ(read("memory.oom.group"), "1");
  EXPECT_EQ(read("pids.max"), "32");
  EXPECT_EQ(read("cpu.max"), "150000 100000");
  EXPECT_EQ((*made)->entrances().size(), 1U);
  put(group() + "/memory.current", "1000\n");
  put(group() + "/memory.peak", "2000\n");
  put(group() + "/cpu.stat", "usage_usec 1500000\nuser_usec 1\n");
  put(group() + "/pids.current", "7\n");
  put(group() + "/memory.events", "low 0\noom 5\noom_kill 3\n");
  Usage usage;
  (*made)->measure(usage);
  EXPECT_EQ(usage.memory_bytes, 1000);
  EXPECT_EQ(usage.memory_peak_bytes, 2000);
  EXPECT_DOUBLE_EQ(usage.cpu_seconds, 1.5);
  EXPECT_EQ(usage.processes, 7);
  EXPECT_EQ((*made)->out_of_memory_kills(), 3);
}

TEST_F(FakeTree, UndelegatedControllersAreNotClaimed) {
  put("cgroup.controllers", "memory pids cpu");
  put("self", "0::/user\n");
  put("user/cgroup.procs", "1\n2\n");  // Others live here: the agent cannot step aside.
  put("user/cgroup.subtree_control", "");
  EXPECT_TRUE(Cgroups::find(root, root + "/self").places().empty());
}

TEST_F(FakeTree, WithoutATreeNothingIsClaimed) {
  const auto cgroups = Cgroups::find(root + "/absent", "/proc/self/cgroup");
  EXPECT_TRUE(cgroups.places().empty());
  const auto made = cgroups.create(kLimits);
  ASSERT_TRUE(made);
  EXPECT_TRUE((*made)->entrances().empty());
  Usage usage{.memory_bytes = 5};
  (*made)->measure(usage);
  EXPECT_EQ(usage.memory_bytes, 5);
}

TEST(Cgroup, MembersAreMeteredKilledAndTheGroupsRemoved) {
  const auto cgroups = Cgroups::find();
  if (!cgroups.has("memory") || !cgroups.has("pids")) GTEST_SKIP() << "no control groups here";
  auto made = cgroups.create(kLimits);
  ASSERT_TRUE(made) << made.error().message;
  const pid_t child = fork();
  if (child == 0) {
    for (const int fd : (*made)->entrances())
      if (write(fd, "0", 1) != 1) _exit(1);
    pause();
  }
  EXPECT_TRUE(eventually([&] {
    Usage usage;
    (*made)->measure(usage);
    return usage.processes == 1;
  }));
  made->reset();  // Kills it.
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(Leftovers().groups.empty());
}

TEST(OwnerMark, TellsTheLivingFromTheDead) {
  EXPECT_TRUE(owner_exists(owner_mark() + "-17"));
  EXPECT_FALSE(owner_exists(std::to_string(getpid()) + "-1-17"));  // Same number, other process.
  EXPECT_FALSE(owner_exists("999999999-5-1"));
  EXPECT_TRUE(owner_exists("999999999-5-1-17")) << "it may run in another PID namespace";
  EXPECT_FALSE(owner_exists("x"));
}

}  // namespace
}  // namespace souk::agent
