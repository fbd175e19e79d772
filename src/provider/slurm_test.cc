#include "provider/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <map>

#include "provider/shell_words.h"

namespace souk::provider {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

// Answers for Slurm's programs, in the words of 22.05.
struct FakePrograms {
  std::map<std::string, ProgramOutput> answers;
  std::vector<std::vector<std::string>> calls;

  RunProgram runner() {
    return [this](const std::vector<std::string>& argv) -> Result<ProgramOutput> {
      // env -i NAME=VALUE... program...
      auto program = argv.begin() + 2;
      while (program->find('=') != std::string::npos) ++program;
      calls.emplace_back(program, argv.end());
      const auto it = answers.find(*program);
      if (it == answers.end()) return ProgramOutput{.status = 127, .err = "env: not found"};
      return it->second;
    };
  }
};

class SlurmTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "souk-slurm-XXXXXX").string();
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Slurm slurm() {
    return Slurm({.partition = "idle",
                  .cores = 2,
                  .memory_mib = 3000,
                  .lifetime = base::hours(1),
                  .souk = "/opt/my souk/bin/souk",
                  .folder = folder_,
                  .environment = {"PATH=/usr/bin"}},
                 {"ann-1", "slurm", ""}, programs_.runner());
  }
  static StartRequest request() {
    return {
        .name = {"ann-1", "slurm", "00aa"},
        .end = Time(1'700'003'600'000'000),
        .join = {.server = "http://login:7071", .token = "souk_t'x", .flags = {"--class", "c1"}}};
  }
  FakePrograms programs_;
  std::string folder_;
};

TEST_F(SlurmTest, AJobCarriesItsOwnerAndIntentAndANoticeBeforeItsEnd) {
  programs_.answers["sbatch"] = {.out = "4711\n"};
  auto s = slurm();
  EXPECT_EQ(s.start(request()), "4711");
  const auto& argv = programs_.calls.at(0);
  for (const auto* flag :
       {"--parsable", "--job-name=souk.ann-1.slurm.00aa", "--partition=idle", "--cpus-per-task=2",
        "--mem=3000M", "--time=60", "--signal=B:TERM@60", "--requeue"})
    EXPECT_THAT(argv, Contains(flag));
  EXPECT_FALSE(std::filesystem::exists(argv.back())) << "the script holds a token";
}

TEST_F(SlurmTest, TheScriptQuotesWhatItIsGivenAndLendsTwoThirdsOfTheMemory) {
  const auto text = slurm().script(request());
  EXPECT_THAT(text, HasSubstr("SOUK_TOKEN='souk_t'\\''x'"));
  EXPECT_THAT(text, HasSubstr("'/opt/my souk/bin/souk' lend"));
  EXPECT_THAT(text, HasSubstr("--memory 2000M"));
  EXPECT_THAT(text, HasSubstr("left=$((1700003600 - "));
}

struct Refusal {
  const char* said;
  base::Code code;
};

TEST_F(SlurmTest, ASubmissionThatMayHaveSucceededIsNotCalledRefused) {
  // Messages of slurm_strerror().
  const Refusal refusals[] = {
      {"Socket timed out on send/recv operation", base::Code::unavailable},
      {"Unable to contact slurm controller (connect failure)", base::Code::unavailable},
      {"Zero Bytes were transmitted or received", base::Code::unavailable},
      {"Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
       base::Code::exhausted},
      {"Slurm temporarily unable to accept job, sleeping and retrying", base::Code::exhausted},
      {"invalid partition specified: idel", base::Code::invalid},
      {"Requested node configuration is not available", base::Code::invalid}};
  for (const auto& r : refusals) {
    programs_.answers["sbatch"] = {
        .status = 1, .err = std::string("sbatch: error: Batch job submission failed: ") + r.said};
    auto s = slurm();
    const auto done = s.start(request());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, r.code) << r.said;
    EXPECT_THAT(done.error().message, HasSubstr(r.said));
  }
  programs_.answers["sbatch"] = {.timed_out = true};
  auto s = slurm();
  EXPECT_EQ(s.start(request()).error().code, base::Code::unavailable);
}

TEST_F(SlurmTest, OnlyJobsOfThisOwnerAndPoolAreListed) {
  programs_.answers["squeue"] = {.out =
                                     "1|RUNNING|souk.ann-1.slurm.00aa\n"
                                     "2|RUNNING|souk.bob-2.slurm.00ab\n"
                                     "3|PENDING|souk.ann-1.other.00ac\n"
                                     "4|PENDING|somebody's job | with a bar\n"
                                     "5|COMPLETED|souk.ann-1.slurm.00ad\n"};
  auto s = slurm();
  const auto listed = s.list({"1"});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->at(0), (ListedMachine{"00aa", "1", MachineState::running}));
  EXPECT_EQ(listed->at(1).state, MachineState::ended);
  EXPECT_EQ(programs_.calls.size(), 1u) << "nothing was missing";
}

TEST_F(SlurmTest, AnEmptyQueueIsNotBelievedWhileAccountingSaysThatTheJobRuns) {
  programs_.answers["squeue"] = {};
  programs_.answers["sacct"] = {.out =
                                    "7|RUNNING|souk.ann-1.slurm.00aa\n"
                                    "8|CANCELLED by 1000|souk.ann-1.slurm.00ab\n"};
  programs_.answers["scontrol"] = {.out = "JobId=7 JobName=..."};
  auto s = slurm();
  auto listed = s.list({"7", "8"});
  ASSERT_TRUE(listed);
  ASSERT_EQ(listed->size(), 2u);
  EXPECT_EQ(listed->at(0).state, MachineState::running);
  EXPECT_EQ(listed->at(1).state, MachineState::ended);
  // Accounting missed the end of a job that the controller no longer has.
  programs_.answers["scontrol"] = {.status = 1,
                                   .err = "slurm_load_jobs error: Invalid job id specified"};
  listed = s.list({"7", "8"});
  EXPECT_EQ(listed->size(), 1u);
}

TEST_F(SlurmTest, WithoutAccountingTimeDecides) {
  programs_.answers["squeue"] = {};
  programs_.answers["sacct"] = {.status = 1, .err = "Slurm accounting storage is disabled"};
  auto s = slurm();
  const auto listed = s.list({"7"});
  ASSERT_TRUE(listed);
  EXPECT_TRUE(listed->empty());
}

TEST_F(SlurmTest, AControllerThatIsAwayIsNotAnEmptyListing) {
  programs_.answers["squeue"] = {
      .status = 1, .err = "slurm_load_jobs error: Unable to contact slurm controller"};
  auto s = slurm();
  EXPECT_EQ(s.list({}).error().code, base::Code::unavailable);
}

TEST_F(SlurmTest, APoliteStopSignalsTheAgentAndAHardOneCancels) {
  programs_.answers["scancel"] = {};
  auto s = slurm();
  ASSERT_TRUE(s.stop("7", false));
  EXPECT_THAT(programs_.calls.at(1), Contains("--signal=TERM"));
  EXPECT_THAT(programs_.calls.at(1), Contains("--batch"));
  ASSERT_TRUE(s.stop("7", true));
  EXPECT_THAT(programs_.calls.at(2), ::testing::ElementsAre("scancel", "7"));
  programs_.answers["scancel"] = {
      .status = 1, .err = "scancel: error: Kill job error on job id 7: Invalid job id specified"};
  EXPECT_TRUE(s.stop("7", true)) << "one that has ended is no error";
  EXPECT_FALSE(s.stop("--user=root", true)) << "what a listing calls an id is not a flag";
}

TEST_F(SlurmTest, AMachineWithoutSlurmIsTold) {
  auto s = slurm();
  const auto listed = s.list({});
  ASSERT_FALSE(listed);
  EXPECT_THAT(listed.error().message, HasSubstr("squeue"));
  EXPECT_THAT(listed.error().hint, HasSubstr("login node"));
}

TEST(SlurmState, OfEveryWordThatSlurmHas) {
  for (const auto* word :
       {"COMPLETED", "CANCELLED", "CANCELLED by 0", "CANCELLED+", "FAILED", "TIMEOUT", "PREEMPTED",
        "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE", "REVOKED"})
    EXPECT_EQ(slurm_state(word), MachineState::ended) << word;
  for (const auto* word : {"RUNNING", "COMPLETING", "SUSPENDED"})
    EXPECT_EQ(slurm_state(word), MachineState::running) << word;
  for (const auto* word : {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "NEW_IN_2030"})
    EXPECT_EQ(slurm_state(word), MachineState::pending) << word;
}

TEST(ShellWord, IsOneWordWhateverIsInIt) {
  EXPECT_EQ(shell_word("a b"), "'a b'");
  EXPECT_EQ(shell_word("it's $(x)"), "'it'\\''s $(x)'");
  EXPECT_EQ(shell_word(""), "''");
}

}  // namespace
}  // namespace souk::provider
