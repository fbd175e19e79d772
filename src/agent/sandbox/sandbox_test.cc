#include "agent/sandbox/sandbox.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <thread>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::as_ordinary_user;
using testing::Box;
using testing::kMiB;
using testing::Leftovers;
using testing::python;
using testing::run;
using testing::sandbox;
using testing::shell;

class EverySandbox : public ::testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Sandbox> place = sandbox(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Sandboxes, EverySandbox, ::testing::Values("bubblewrap", "none"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EverySandbox, OutputAndExitCodeArrive) {
  const auto ran = run(*place, shell("echo out; echo err >&2; exit 3"));
  EXPECT_EQ(ran.output, "out\nerr\n");
  EXPECT_EQ(ran.exit.code, 3);
  EXPECT_EQ(ran.exit.signal, 0);
  EXPECT_TRUE(ran.exit.started);
  EXPECT_EQ(ran.exit.text, "exited with code 3");
}

TEST_P(EverySandbox, SignalIsReported) {
  const auto ran = run(*place, shell("kill -SEGV $$"));
  EXPECT_EQ(ran.exit.signal, SIGSEGV);
  EXPECT_FALSE(ran.exit.out_of_memory);
}

TEST_P(EverySandbox, ScratchCanBeFilledBeforeAndReadAfter) {
  Box box(*place,
          shell("cat in.txt sub/more.txt > out.txt; echo changed > in.txt; rm sub/more.txt"));
  ASSERT_TRUE(box);
  std::filesystem::create_directory(box->scratch() + "/sub");
  std::ofstream(box->scratch() + "/in.txt") << "hello ";
  std::ofstream(box->scratch() + "/sub/more.txt") << "world";
  box.start();
  EXPECT_EQ(box.finish().code, 0) << box.output();
  EXPECT_EQ(testing::slurp(box->scratch() + "/out.txt"), "hello world");
  EXPECT_EQ(testing::slurp(box->scratch() + "/in.txt"), "changed\n");
}

TEST_P(EverySandbox, ScratchCanBeReadWhileTheProgramRuns) {
  Box box(*place, shell("echo half > result; echo written; exec sleep 100"));
  ASSERT_TRUE(box);
  box.start();
  ASSERT_TRUE(box.prints("written"));
  EXPECT_EQ(testing::slurp(box->scratch() + "/result"), "half\n");
  EXPECT_FALSE(box->poll().has_value());
}

TEST_P(EverySandbox, TerminateLetsTheProgramSaveItsWork) {
  Box box(*place, python("import signal,sys,time\n"
                         "def end(*_):\n  open('saved','w').write('yes'); sys.exit(7)\n"
                         "signal.signal(signal.SIGTERM, end)\n"
                         "print('ready', flush=True)\n"
                         "while True: time.sleep(1)"));
  ASSERT_TRUE(box);
  box.start();
  ASSERT_TRUE(box.prints("ready")) << box.output();
  box->terminate();
  EXPECT_EQ(box.finish().code, 7);
  EXPECT_EQ(testing::slurp(box->scratch() + "/saved"), "yes");
}

// As a batch system does that takes its node back.
TEST_P(EverySandbox, WhatIsEndedFromOutsideLeavesWhatItWrote) {
  Box box(*place, shell("echo half > result; echo written; exec sleep 100"));
  ASSERT_TRUE(box);
  box.start();
  ASSERT_TRUE(box.prints("written"));
  for (const auto& process : tree_of(getpid()))
    if (process.pid != getpid()) ::kill(process.pid, SIGTERM);
  const auto exit = box.finish();
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_TRUE(exit.started) << exit.text;
  EXPECT_EQ(testing::slurp(box->scratch() + "/result"), "half\n");
}

TEST(Devices, OnlyThoseThatWereLentAreThere) {
  const auto place = sandbox("bubblewrap");
  auto program = shell("test -c /dev/net/tun && echo lent; ls /dev");
  EXPECT_THAT(run(*place, program).output, ::testing::Not(::testing::HasSubstr("lent")));
  if (::access("/dev/net/tun", F_OK) != 0) GTEST_SKIP() << "there is no /dev/net/tun to lend";
  program.devices = {"/dev/net/tun"};
  EXPECT_THAT(run(*place, program).output, ::testing::StartsWith("lent\n"));
}

TEST_P(EverySandbox, KillEndsAProgramThatIgnoresSignals) {
  Box box(*place, shell("trap '' TERM; echo ready; while :; do sleep 1; done"));
  ASSERT_TRUE(box);
  box.start();
  ASSERT_TRUE(box.prints("ready"));
  box->terminate();
  box->kill();
  const auto exit = box.finish();
  EXPECT_EQ(exit.signal, SIGKILL);
  EXPECT_EQ(exit.text, "ended by signal 9 (Killed), sent by the agent");
}

TEST_P(EverySandbox, UsageGrowsWithWork) {
  auto program = python(
      "import time\nx=bytearray(80<<20)\nend=time.process_time()+0.3\n"
      "while time.process_time()<end: pass\n"
      "open('f','wb').write(bytes(3<<20))\nprint('done', flush=True)\ntime.sleep(100)");
  Box box(*place, program);
  ASSERT_TRUE(box);
  box.start();
  ASSERT_TRUE(box.prints("done")) << box.output();
  const auto usage = box->usage();
  EXPECT_GE(usage.cpu_seconds, 0.25);
  EXPECT_GE(usage.memory_bytes, 80 * kMiB);
  EXPECT_GE(usage.memory_peak_bytes, 80 * kMiB);
  EXPECT_GE(usage.processes, 1);
  if (place->name() == "bubblewrap") {
    EXPECT_GE(usage.scratch_bytes, 3 * kMiB);
  }
}

TEST_P(EverySandbox, TwentyAtOnceDoNotMeet) {
  std::vector<std::unique_ptr<Box>> boxes;
  for (int i = 0; i < 20; ++i) {
    auto program = shell("echo $NUMBER > mine; sleep 0.2; cat mine");
    program.env["NUMBER"] = std::to_string(i);
    boxes.push_back(std::make_unique<Box>(*place, program));
    ASSERT_TRUE(*boxes.back());
    boxes.back()->start();
  }
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(boxes[static_cast<std::size_t>(i)]->finish().code, 0);
    EXPECT_EQ(boxes[static_cast<std::size_t>(i)]->output(), std::to_string(i) + "\n");
  }
}

TEST_P(EverySandbox, ProgramOutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Box> box;
  std::thread([&] {
    box =
        std::make_unique<Box>(*place, shell("while [ ! -e go ]; do sleep 0.01; done; echo still"));
    box->start();
  }).join();
  ASSERT_TRUE(*box);
  std::ofstream((*box)->scratch() + "/go") << "";
  EXPECT_EQ(box->finish().code, 0);
  EXPECT_EQ(box->output(), "still\n");
}

TEST_P(EverySandbox, RunsAsAnOrdinaryUser) {
  as_ordinary_user([&] {
    const Leftovers before;
    {
      Box box(*place, shell("cat in; echo made > out; mkdir d; chmod 0 d"));
      ASSERT_TRUE(box);
      std::ofstream(box->scratch() + "/in") << "given\n";
      box.start();
      EXPECT_EQ(box.finish().code, 0);
      EXPECT_EQ(box.output(), "given\n");
      EXPECT_EQ(testing::slurp(box->scratch() + "/out"), "made\n");
      EXPECT_GT(box->usage().cpu_seconds, -1);
    }
    EXPECT_EQ(Leftovers(), before);
  });
}

TEST_P(EverySandbox, NothingIsLeft) {
  const Leftovers before;
  {
    Box ended(*place, shell("touch a; mkfifo b; ln -s /etc c"));
    Box running(*place, shell("(setsid sleep 1000 &) ; sleep 1000"));
    Box unstarted(*place, shell("true"));
    ASSERT_TRUE(ended && running && unstarted);
    ended.start();
    running.start();
    ended.finish();
  }
  EXPECT_EQ(Leftovers(), before);
}

TEST_P(EverySandbox, MissingProgramIsNotMistakenForAFailedOne) {
  const auto ran = run(*place, {.argv = {"no-such-program"}});
  EXPECT_NE(ran.exit.code, 0);
  EXPECT_FALSE(ran.exit.started) << ran.output;
  EXPECT_TRUE(ran.output.contains("no-such-program")) << ran.output;
}

TEST_P(EverySandbox, EnvironmentIsOnlyTheGiven) {
  setenv("OWNERS_SECRET", "hunter2", 1);
  auto program = shell("env; echo $0");
  program.env["GIVEN"] = "a b\nc";
  const auto ran = run(*place, program);
  EXPECT_TRUE(ran.output.contains("GIVEN=a b\nc")) << ran.output;
  EXPECT_FALSE(ran.output.contains("hunter2"));
}

TEST(Sandbox, TableNamesAllAndRefusesOthers) {
  EXPECT_EQ(sandbox_names(), (std::vector<std::string_view>{"bubblewrap", "podman", "none"}));
  EXPECT_EQ(make_sandbox("bublewrap").error().hint, "did you mean 'bubblewrap'?");
}

TEST(Sandbox, InputsAreReadOnly) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("souk-in-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "data") << "weights";
  auto program = shell(
      "cat /work/data/data /model; echo x > /work/data/data; echo y >> /model; "
      "rm /work/data/data; touch /work/data/new");
  program.inputs = {{folder, "/work/data"}, {folder / "data", "/model"}};
  const auto ran = run(*sandbox("bubblewrap"), program);
  EXPECT_TRUE(ran.output.starts_with("weightsweights")) << ran.output;
  EXPECT_EQ(testing::slurp(folder / "data"), "weights");
  EXPECT_FALSE(std::filesystem::exists(folder / "new"));
  std::filesystem::remove_all(folder);
}

TEST(Sandbox, RefusesWhatItCannotRun) {
  const auto place = sandbox("bubblewrap");
  const auto refused = [&](Program program) { return !place->prepare(program).has_value(); };
  auto good = shell("true");
  good.output_fd = 1;
  EXPECT_FALSE(refused(good));
  for (const std::string to :
       {"/usr/x", "relative", "/work/../etc/passwd", "/", "/work", "/proc/1"}) {
    auto program = good;
    program.inputs = {{"/usr", to}};
    EXPECT_TRUE(refused(program)) << to;
  }
  auto program = good;
  program.argv = {};
  EXPECT_TRUE(refused(program));
  program = good;
  program.limits.pids = 0;
  EXPECT_TRUE(refused(program));
  program = good;
  program.image = "debian";
  EXPECT_TRUE(refused(program));
  program = good;
  program.env["A=B"] = "c";
  EXPECT_TRUE(refused(program));
  program = good;
  program.inputs = {{"/no/such/input", "/work/in"}};
  EXPECT_TRUE(refused(program));
  program = good;
  program.output_fd = -1;
  EXPECT_TRUE(refused(program));
}

TEST(Sandbox, FindingsSayThatItRuns) {
  const auto findings = sandbox("bubblewrap")->findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].subject, "runs");
  EXPECT_TRUE(findings[0].limited) << findings[0].text;
  EXPECT_FALSE(sandbox("none")->findings()[0].limited);
}

}  // namespace
}  // namespace souk::agent
