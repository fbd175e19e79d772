#include <signal.h>

#include "agent/limits/cgroup.h"
#include "agent/sandbox/sandbox_testing.h"

// Programs that try to take more of the machine than they leased. See sandbox_attack_test.cc.

namespace souk::agent {
namespace {

using testing::as_ordinary_user;
using testing::Box;
using testing::eventually;
using testing::kMiB;
using testing::Leftovers;
using testing::ProgramResult;
using testing::python;
using testing::run;
using testing::sandbox;
using testing::shell;

class Greed : public ::testing::TestWithParam<bool> {
 protected:
  static void as_user(const std::function<void()>& body) {
    GetParam() ? as_ordinary_user(body) : body();
  }
  static ProgramResult attack(Program program) {
    return run(*sandbox("bubblewrap"), std::move(program));
  }
};
INSTANTIATE_TEST_SUITE_P(As, Greed, ::testing::Values(false, true),
                         [](const auto& info) { return info.param ? "ordinary" : "this_user"; });

bool memory_is_grouped() { return Cgroups::find().has("memory"); }

TEST_P(Greed, ForkBombStopsAtItsLimit) {
  as_user([] {
    const Leftovers before;
    auto program = python(
        "import os,time\n"
        "for i in range(5000):\n"
        "  try: pid=os.fork()\n"
        "  except OSError: print('refused after', i, flush=True); break\n"
        "  if pid==0: time.sleep(1000)\n"
        "while True:\n"
        "  try: os.fork()\n"
        "  except OSError: pass\n");
    program.limits.pids = 40;
    {
      Box box(*sandbox("bubblewrap"), program);
      ASSERT_TRUE(box);
      box.start();
      ASSERT_TRUE(box.prints("refused")) << box.output();
      // Where there is no control group, they are counted ten times a second.
      EXPECT_TRUE(eventually([&] { return box->usage().processes >= 30; }));
      EXPECT_LE(box->usage().processes, 42);
      // The owner can still start processes while it rages.
      EXPECT_EQ(run(*sandbox("bubblewrap"), shell("exit 0")).exit.code, 0);
      box->kill();
      EXPECT_EQ(box.finish().signal, SIGKILL);
    }
    EXPECT_EQ(Leftovers(), before);
  });
}

TEST_P(Greed, MemoryHogIsStopped) {
  as_user([] {
    auto program = python("keep=[]\nwhile True: keep.append(bytearray(b'x')*(8<<20))");
    program.limits.memory_bytes = 96 * kMiB;
    program.limits.scratch_bytes = 8 * kMiB;
    const auto ran = attack(program);
    EXPECT_TRUE(ran.exit.out_of_memory) << ran.exit.text;
    EXPECT_EQ(ran.exit.signal, SIGKILL);
    EXPECT_TRUE(ran.exit.text.starts_with("out of memory: the limit is 96 MiB")) << ran.exit.text;
    // A control group stops it there; a watch comes a moment late (lease_watch_test.cc).
    if (memory_is_grouped()) EXPECT_LE(ran.usage.memory_peak_bytes, 110 * kMiB);
  });
}

TEST_P(Greed, DiskFillStopsAtScratchSize) {
  as_user([] {
    for (const std::string folder : {"/work", "/tmp", "/dev/shm"}) {
      auto program = python(
          "import os\nn=0\n"
          "try:\n"
          "  f=os.open('" +
          folder +
          "/big', os.O_CREAT|os.O_WRONLY)\n"
          "  while True: n+=os.write(f, bytes(65536))\n"
          "except OSError as e: print(os.strerror(e.errno), n>>20)\n");
      program.limits.scratch_bytes = 16 * kMiB;
      const auto ran = attack(program);
      EXPECT_EQ(ran.output, "No space left on device 16\n") << folder << ran.exit.text;
    }
  });
}

TEST_P(Greed, ManyTinyFilesStopAtScratchSize) {
  as_user([] {
    auto program = python(
        "import os\nn=0\n"
        "try:\n"
        "  while n<100000: os.close(os.open(str(n), os.O_CREAT)); n+=1\n"
        "except OSError as e: print(os.strerror(e.errno), n<4096)\n");
    program.limits.scratch_bytes = 16 * kMiB;
    EXPECT_EQ(attack(program).output, "No space left on device True\n");
  });
}

TEST_P(Greed, NothingElseCanBeWritten) {
  as_user([] {
    const auto ran = attack(python(
        "import os\n"
        "for root,dirs,files in os.walk('/'):\n"
        "  if root.startswith(('/proc','/work','/tmp','/dev/shm')): dirs[:]=[]; continue\n"
        "  if root.count('/')>4: dirs[:]=[]\n"
        "  try: os.close(os.open(root+'/souk-test',os.O_CREAT|os.O_WRONLY)); print('WROTE',root)\n"
        "  except OSError: pass\n"
        "for f in ['/etc/passwd','/etc/hosts','/etc/ld.so.cache','/usr/bin/env']:\n"
        "  try: os.close(os.open(f,os.O_WRONLY)); print('WROTE',f)\n"
        "  except OSError: pass\n"
        "print('end')"));
    EXPECT_EQ(ran.output, "end\n");
  });
}

}  // namespace
}  // namespace souk::agent
