#include "agent/limits/lease_watch.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::Box;
using testing::eventually;
using testing::kMiB;
using testing::ProgramResult;
using testing::python;
using testing::run;
using testing::sandbox;

TEST(Smaps, SharedPagesAreDividedAndFilesAreNotMemory) {
  const auto text =
      "5500-5600 rw-p 00000000 00:00 0 [heap]\nPss:  100 kB\nAnonymous: 400 kB\nSwapPss: 8 kB\n"
      "7f00-7f10 r--p 00000000 fe:01 77 /usr/lib/libc.so\nPss: 50 kB\nAnonymous: 4 kB\n"
      "7f20-7f30 rw-s 00000000 00:01 5 /memfd:x (deleted)\nPss: 30 kB\nAnonymous: 0 kB\n"
      "7f40-7f50 rw-s 00000000 00:01 6 /dev/zero (deleted)\nPss: 20 kB\nAnonymous: 0 kB\n"
      "7f60-7f70 rw-s 00000000 00:2f 9 /dev/shm/psm_1\nPss: 1000 kB\nAnonymous: 0 kB\n";
  EXPECT_EQ(parse_smaps(text, {}) / 1024, 100 + 8 + 4 + 30 + 20);
  EXPECT_EQ(parse_smaps(text, {{makedev(0, 1), 5}}) / 1024, 100 + 8 + 4 + 20);
  EXPECT_EQ(parse_smaps(text, {{makedev(0, 0x2f), 0}}) / 1024, 100 + 8 + 4 + 30 + 20);
  EXPECT_EQ(parse_smaps("", {}), 0);
}

// An agent on a machine that has no control groups.
class WatchedMemory : public ::testing::TestWithParam<std::string_view> {
 protected:
  void SetUp() override { setenv("SOUK_CGROUPS", "/nonexistent", 1); }
  void TearDown() override { unsetenv("SOUK_CGROUPS"); }
  static Program limited(const std::string& script) {
    auto program = python("import os, time, mmap\n" + script);
    program.limits.memory_bytes = 96 * kMiB;
    program.limits.scratch_bytes = 32 * kMiB;
    return program;
  }
  static void expect_ended(const ProgramResult& ran) {
    EXPECT_TRUE(ran.exit.out_of_memory) << ran.exit.text << ran.output;
    EXPECT_TRUE(
        ran.exit.text.starts_with("out of memory: the limit is 96 MiB and 32 MiB of scratch, and "))
        << ran.exit.text;
    EXPECT_FALSE(ran.output.contains("survived")) << ran.output;
  }
  std::unique_ptr<Sandbox> place = sandbox(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Sandboxes, WatchedMemory, ::testing::Values("bubblewrap", "none"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(WatchedMemory, WhatIsMappedAndNotTouchedCostsNothing) {
  // As CUDA does. 0x4000: MAP_NORESERVE.
  const auto ran = run(*place, limited("m = mmap.mmap(-1, 100<<30, flags=mmap.MAP_PRIVATE|"
                                       "mmap.MAP_ANONYMOUS|0x4000)\n"
                                       "m[:1000] = b'x'*1000\ntime.sleep(.5)\nprint('ran')"));
  EXPECT_EQ(ran.output, "ran\n") << ran.exit.text;
  EXPECT_EQ(ran.exit.code, 0);
}

TEST_P(WatchedMemory, AProgramThatTouchesMoreThanItsSlotIsEnded) {
  expect_ended(run(*place, limited("x = bytearray(b'x')*(200<<20)\ntime.sleep(60)\n"
                                   "print('survived')")));
}

TEST_P(WatchedMemory, SoIsOneWhoseChildrenTakeAPartEach) {
  const auto ran = run(*place, limited("for i in range(5):\n"
                                       "  if os.fork()==0: x = bytearray(b'x')*(40<<20); "
                                       "time.sleep(60); os._exit(0)\n"
                                       "time.sleep(60)\nprint('survived')"));
  expect_ended(ran);
}

TEST_P(WatchedMemory, AndOneWhoseChildrenAreNobodys) {
  expect_ended(run(*place, limited("for i in range(5):\n"
                                   "  if os.fork()==0:\n"
                                   "    os.setsid()\n"
                                   "    if os.fork(): os._exit(0)\n"
                                   "    x = bytearray(b'x')*(40<<20); time.sleep(60)\n"
                                   "    os._exit(0)\n"
                                   "time.sleep(60)\nprint('survived')")));
}

TEST_P(WatchedMemory, AndOneThatHidesMemoryInFiles) {
  expect_ended(run(*place, limited("files = [os.memfd_create('x') for i in range(8)]\n"
                                   "for f in files: os.write(f, bytes(25<<20))\n"
                                   "time.sleep(60)\nprint('survived')")));
}

TEST_P(WatchedMemory, PagesThatAForkSharesCountOnce) {
  // 60 MiB, seen by five processes: 300 for a naive sum.
  const auto ran = run(*place, limited("x = bytearray(b'x')*(60<<20)\n"
                                       "for i in range(4):\n"
                                       "  if os.fork()==0: time.sleep(1); os._exit(0)\n"
                                       "for i in range(4): os.wait()\nprint('ran')"));
  EXPECT_EQ(ran.output, "ran\n") << ran.exit.text;
}

TEST_P(WatchedMemory, OtherLeasesLiveOn) {
  Box quiet(*place, limited("print('ready', flush=True)\ntime.sleep(60)"));
  ASSERT_TRUE(quiet);
  quiet.start();
  ASSERT_TRUE(quiet.prints("ready"));
  expect_ended(run(*place, limited("x = bytearray(b'x')*(200<<20)\ntime.sleep(60)")));
  EXPECT_FALSE(quiet->poll().has_value());
  EXPECT_TRUE(eventually([&] { return quiet->usage().memory_bytes > kMiB; }));
  EXPECT_GE(quiet->usage().processes, 1);
}

TEST_P(WatchedMemory, FilesInScratchCountWhereTheyLieInMemory) {
  if (GetParam() == "none") GTEST_SKIP() << "its scratch is on a disk";
  expect_ended(run(*place, limited("open('big','wb').write(bytes(30<<20))\n"
                                   "x = bytearray(b'x')*(100<<20)\ntime.sleep(60)\n"
                                   "print('survived')")));
}

}  // namespace
}  // namespace souk::agent
