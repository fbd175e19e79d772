#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "journal/sqlite.h"
#include "journal/testing/fault_vfs.h"
#include "journal/testing/samples.h"

// What a user would lose when the machine, the process or the disk fails at the worst moment.

namespace souk::journal {
namespace {

using testing::Action;
using testing::faulty;
using ::testing::HasSubstr;
using testing::Operations;

constexpr std::size_t kBatches = 14;
constexpr std::uint64_t kMostOperations = 5'000;  // A scenario must end long before.

// The life of a server: opens, appends, says so, closes, and once more.
void live(const std::string& path, const std::vector<testing::Sample>& sent, int acks) {
  for (const auto until : {kBatches / 2, kBatches}) {
    auto opened = SqliteJournal::open(path, faulty());
    if (!opened) ::_exit(1);
    for (std::size_t i = 0; i < until; ++i) {
      if (sent[i].first < opened->journal->next()) continue;
      if (!opened->journal->append(sent[i].batch())) ::_exit(2);
      const char ack = 'a';
      if (::write(acks, &ack, 1) != 1) ::_exit(3);
    }
  }
}

struct Death {
  int status = 0;
  std::size_t acked = 0;
};

// Runs live() in a child under `plan` and counts what it acknowledged before it died.
Death run_child(const std::string& path, const std::vector<testing::Sample>& sent,
                const testing::FaultPlan& plan) {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  const auto child = ::fork();
  CHECK(child >= 0);
  if (child == 0) {
    ::close(ends[0]);
    testing::fault_plan() = plan;
    live(path, sent, ends[1]);
    ::_exit(0);
  }
  ::close(ends[1]);
  Death death;
  char ack = 0;
  while (::read(ends[0], &ack, 1) == 1) ++death.acked;
  ::close(ends[0]);
  CHECK(::waitpid(child, &death.status, 0) == child);
  return death;
}

// Everything acknowledged is there and intact, and at most one batch that was not.
void expect_kept(const std::string& path, const std::vector<testing::Sample>& sent,
                 std::size_t acked) {
  testing::fault_plan() = {.skip_sync = true};
  auto opened = SqliteJournal::open(path, faulty());
  ASSERT_TRUE(opened) << opened.error().message;
  const auto found = testing::all(*opened->journal);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_GE(found->size(), acked);
  ASSERT_LE(found->size(), acked + 1);
  for (std::size_t i = 0; i < found->size(); ++i) ASSERT_EQ((*found)[i], sent[i]) << i;
  // And it goes on from there.
  const auto next = opened->journal->next();
  ASSERT_TRUE(opened->journal->append({next, 1, "afterwards"}));
  ASSERT_EQ(testing::all(*opened->journal)->back().bytes, "afterwards");
}

// Dies at the first, second, ... operation until a life passes without dying.
void die_everywhere(Action action, Operations of, std::uint64_t seed) {
  const auto sent = testing::samples(kBatches, seed);
  for (std::uint64_t at = 1; at < kMostOperations; ++at) {
    const testing::Folder folder;
    const auto path = folder / "journal.db";
    const auto death = run_child(
        path, sent, {.action = action, .of = of, .at = at, .skip_sync = true, .seed = seed + at});
    ASSERT_TRUE(WIFEXITED(death.status));
    SCOPED_TRACE(::testing::Message() << "operation " << at << " seed " << seed);
    expect_kept(path, sent, death.acked);
    if (::testing::Test::HasFatalFailure()) return;
    if (WEXITSTATUS(death.status) == 0) {
      EXPECT_EQ(death.acked, kBatches);
      EXPECT_GT(at, 50u);  // The scenario is not trivial.
      return;
    }
    ASSERT_EQ(WEXITSTATUS(death.status), testing::kExitCode);
  }
  FAIL() << "the scenario never ends";
}

TEST(Crash, KeepsEveryAcknowledgedEventWhenKilledBeforeAnyWriteOrSync) {
  die_everywhere(Action::exit_before, Operations::both, 1);
}

TEST(Crash, KeepsEveryAcknowledgedEventWhenKilledAfterAnyWriteOrSync) {
  die_everywhere(Action::exit_after, Operations::both, 2);
}

TEST(Crash, KeepsEveryAcknowledgedEventWhenKilledInTheMiddleOfAnyWrite) {
  die_everywhere(Action::exit_torn, Operations::writes, 3);
}

TEST(Crash, KeepsEveryAcknowledgedEventWhenThePowerFailsAndUnsyncedWritesAreLostAtRandom) {
  for (const std::uint64_t seed : {4, 5}) die_everywhere(Action::power_cut, Operations::both, seed);
}

struct DiskError {
  Action action;
  Operations of;
  base::Code code;
};

// Fails the first, second, ... write or sync of the appends once.
void fail_everywhere(const DiskError& error) {
  const auto sent = testing::samples(kBatches, 8);
  auto& plan = testing::fault_plan();
  bool failed = true;
  for (std::uint64_t at = 1; failed && at < kMostOperations; ++at) {
    const testing::Folder folder;
    const auto path = folder / "journal.db";
    SCOPED_TRACE(at);
    plan = {.skip_sync = true};
    auto opened = SqliteJournal::open(path, faulty());
    ASSERT_TRUE(opened);
    plan = {.action = error.action, .of = error.of, .at = at, .skip_sync = true};
    failed = false;
    std::size_t acked = 0;
    for (const auto& s : sent) {
      const auto result = opened->journal->append(s.batch());
      if (result) {
        ++acked;
        continue;
      }
      failed = true;
      EXPECT_EQ(result.error().code, error.code);
      EXPECT_THAT(result.error().message, HasSubstr(std::to_string(s.first)));
      EXPECT_EQ(opened->journal->next(), s.first);
      break;
    }
    opened->journal.reset();
    plan = {};
    expect_kept(path, sent, acked);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Crash, AFailedSyncIsAnErrorAndIsNotRetried) {
  fail_everywhere({Action::fail_io, Operations::syncs, base::Code::unavailable});
}

TEST(Crash, AFailedWriteIsAnError) {
  fail_everywhere({Action::fail_io, Operations::writes, base::Code::unavailable});
}

TEST(Crash, AFullDiskIsAnErrorThatSaysSo) {
  fail_everywhere({Action::fail_full, Operations::writes, base::Code::exhausted});
}

TEST(Crash, AFailedReadHaltsTheReplayWithTheLastGoodEvent) {
  const testing::Folder folder;
  testing::fault_plan() = {.skip_sync = true};
  {
    auto opened = SqliteJournal::open(folder / "journal.db", faulty());
    for (const auto& s : testing::samples(400)) ASSERT_TRUE(opened->journal->append(s.batch()));
  }
  auto opened = SqliteJournal::open(folder / "journal.db", faulty());
  testing::fault_plan() = {.action = Action::fail_io, .of = Operations::reads, .at = 20};
  std::uint64_t good = 0;
  const auto result = opened->journal->replay(1, [&](const Batch& b) -> base::Result<> {
    good = b.end() - 1;
    return {};
  });
  testing::fault_plan() = {};
  ASSERT_FALSE(result);
  EXPECT_GT(good, 0u);
  EXPECT_EQ(result.error().code, base::Code::damaged);
  EXPECT_THAT(result.error().message, HasSubstr("the last good event is " + std::to_string(good)));
}

TEST(Crash, AfterAFailedAppendTheNextIsRefused) {
  const testing::Folder folder;
  testing::fault_plan() = {};
  auto opened = SqliteJournal::open(folder / "journal.db", faulty());
  ASSERT_TRUE(opened->journal->append({1, 1, "kept"}));
  testing::fault_plan() = {.action = Action::fail_io, .of = Operations::syncs, .at = 1};
  ASSERT_FALSE(opened->journal->append({2, 1, "lost"}));
  const auto again = opened->journal->append({2, 1, "lost"});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("an earlier append failed"));
  testing::fault_plan() = {};
}

}  // namespace
}  // namespace souk::journal
