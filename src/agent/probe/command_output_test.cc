#include "agent/probe/command_output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cerrno>
#include <filesystem>
#include <string>

#include "base/testing/eventually.h"

namespace souk::agent {
namespace {

using base::milliseconds;
using base::seconds;

base::Result<CommandOutput> output_of_shell(const std::string& script,
                                            base::Duration timeout = seconds(60),
                                            std::size_t most = 1 << 16) {
  return run_command({"/bin/sh", "-c", script}, timeout, most);
}

// A killed process is gone once init has reaped it; a zombie counts as gone.
bool gone(pid_t pid) {
  return base::testing::eventually([&] {
    if (kill(pid, 0) != 0 && errno == ESRCH) return true;
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/exe", ignored).empty();
  });
}

TEST(RunCommand, BothStreamsAndTheStatusArrive) {
  const auto done = output_of_shell("echo out; echo err >&2; exit 7");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, "out\n");
  EXPECT_EQ(done->err, "err\n");
  EXPECT_EQ(done->status, 7);
  EXPECT_FALSE(done->good());
  EXPECT_FALSE(done->timed_out || done->truncated);
}

TEST(RunCommand, AProgramThatCrashesIsNotTakenForOneThatSucceeded) {
  const auto done = output_of_shell("kill -SEGV $$");
  ASSERT_TRUE(done);
  EXPECT_EQ(done->status, 128 + SIGSEGV);
}

TEST(RunCommand, AMissingProgramIsNamed) {
  for (const std::string name : {"souk-no-such-program", "/no/such/program"}) {
    const auto done = run_command({name}, seconds(5), 100);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, base::Code::not_found);
    EXPECT_THAT(done.error().message, ::testing::HasSubstr(name));
  }
}

TEST(RunCommand, AHangingProgramAndItsChildrenAreKilledAtTheDeadline) {
  // A slow machine needs a later deadline for the shell to get as far as its child.
  for (auto deadline = milliseconds(300);; deadline = deadline * 2) {
    const auto done = output_of_shell("sleep 1000 & echo $!; wait", deadline);
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->timed_out);
    EXPECT_FALSE(done->good());
    if (done->out.ends_with('\n')) {
      EXPECT_TRUE(gone(std::stoi(done->out))) << "a child outlived the deadline";
      break;
    }
    ASSERT_LT(deadline, base::minutes(1)) << "the shell does not start";
  }
}

TEST(RunCommand, AChildLeftBehindNeitherKeepsUsWaitingNorLivesOn) {
  // The child holds the pipe open: waiting for its end would take 1000 s.
  const auto done = output_of_shell("sleep 1000 & echo $!");
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->good());
  EXPECT_TRUE(gone(std::stoi(done->out)));
}

TEST(RunCommand, EndlessOutputDoesNotFillMemory) {
  for (const std::string script : {"yes", "yes >&2"}) {
    const auto done = output_of_shell(script, seconds(60), 1000);
    ASSERT_TRUE(done);
    EXPECT_TRUE(done->truncated);
    EXPECT_FALSE(done->timed_out);
    EXPECT_EQ(done->out.size() + done->err.size(), 1000u);
  }
}

TEST(RunCommand, OutputOfExactlyTheLimitIsWhole) {
  const auto done = output_of_shell("printf 12345", seconds(60), 5);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->good());
  EXPECT_EQ(done->out, "12345");
}

TEST(RunCommand, OutputLargerThanAPipeIsWhole) {
  const auto done = output_of_shell("head -c 1000000 /dev/zero", seconds(60), 1 << 20);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out.size(), 1'000'000u);
}

TEST(RunCommand, AProgramThatReadsItsInputDoesNotTakeOurs) {
  const auto done = run_command({"cat"}, seconds(60), 100);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->good());
  EXPECT_EQ(done->out, "");
}

}  // namespace
}  // namespace souk::agent
