#include "agent/limits/process_census.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A folder that looks like /proc.
class FakeProc : public ::testing::Test {
 protected:
  std::string proc =
      std::filesystem::temp_directory_path() / ("souk-proc-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(proc + "/self"); }
  void TearDown() override { std::filesystem::remove_all(proc); }
  void process(pid_t pid, pid_t parent, std::int64_t anonymous_kib = 0) {
    const auto folder = fmt::format("{}/{}", proc, pid);
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/status") << fmt::format(
        "Name:\tx\nPid:\t{}\nPPid:\t{}\nRssAnon:\t{} kB\nRssFile:\t 999 kB\nRssShmem:\t 4 kB\n"
        "VmSwap:\t 8 kB\nThreads:\t1\n",
        pid, parent, anonymous_kib);
  }
  void ends(pid_t pid) { std::filesystem::remove_all(fmt::format("{}/{}", proc, pid)); }
  static std::vector<pid_t> pids(const std::vector<ProcessMemory>& members) {
    std::vector<pid_t> out;
    for (const auto& m : members) out.push_back(m.pid);
    return out;
  }
};

TEST_F(FakeProc, MemoryIsAnonymousSwappedAndShared) {
  process(7, 3, 100);
  const auto memory = parse_status(testing::slurp(proc + "/7/status"));
  EXPECT_EQ(memory.pid, 7);
  EXPECT_EQ(memory.parent, 3);
  EXPECT_EQ(memory.anonymous_bytes, 108 * 1024);
  EXPECT_EQ(memory.shared_bytes, 4 * 1024);
  EXPECT_EQ(parse_status("").pid, 0);
  EXPECT_EQ(parse_status("kernel: no such process\n").pid, 0);
}

TEST_F(FakeProc, ALeaseIsAllBelowItsKeeperAndOrphansStay) {
  process(1, 0);
  process(10, 1);   // The agent,
  process(20, 10);  // a keeper,
  process(21, 20);  // its sandbox,
  process(22, 21);  // its program,
  process(23, 22);  // a child of that.
  process(30, 10);  // Another keeper,
  process(31, 30);  // and its program.
  process(40, 1);   // Somebody else.
  ProcessCensus census(proc);
  auto leases = census.look({20, 30});
  EXPECT_THAT(pids(leases[20]), ElementsAre(21, 22, 23));
  EXPECT_THAT(pids(leases[30]), ElementsAre(31));
  ends(22);
  process(23, 21);  // A daemon by now.
  process(24, 23);
  leases = census.look({20, 30});
  EXPECT_THAT(pids(leases[20]), ElementsAre(21, 23, 24));
  leases = census.look({});
  EXPECT_THAT(leases, IsEmpty());
}

TEST_F(FakeProc, ANumberThatIsUsedAgainIsAnotherProcess) {
  process(1, 0);
  process(20, 1);
  process(21, 20);
  process(50, 1);
  ProcessCensus census(proc);
  census.look({20});
  ends(50);
  census.look({20});
  process(50, 21);
  EXPECT_THAT(pids(census.look({20})[20]), ElementsAre(21, 50));
  ends(50);
  process(50, 1);  // Without a look between.
  EXPECT_THAT(pids(census.look({20})[20]), ElementsAre(21));
}

TEST_F(FakeProc, ThousandsOfOthersAreNotReadEachTime) {
  process(1, 0);
  process(20, 1);
  process(21, 20);
  constexpr int others = 3000;
  for (int i = 0; i < others; ++i) process(100 + i, 1);
  ProcessCensus census(proc);
  census.look({20});
  const auto first = census.files_read();
  EXPECT_GE(first, others);
  for (int i = 0; i < 10; ++i) census.look({20});
  EXPECT_LE(census.files_read() - first, 20);
}

}  // namespace
}  // namespace souk::agent
