#include "agent/sandbox/podman.h"

#include <signal.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::Box;
using testing::find_process;
using testing::kMiB;
using testing::Leftovers;
using testing::run;
using testing::sandbox;
using testing::shell;

// An image of a shell and a few tools, imported once from this machine's own files. It lies in a
// storage of this process alone, so no lock or image is shared with other tests.
class PodmanSandbox : public ::testing::Test {
 protected:
  static constexpr const char* kImage = "localhost/souk-sandbox-test:1";

  static void SetUpTestSuite() {
    if (geteuid() != 0) {
      why_not_ = "podman needs root";
      return;
    }
    std::string folder = "/tmp/souk-podman-XXXXXX";
    ASSERT_NE(mkdtemp(folder.data()), nullptr);
    folder_ = folder;
    std::ofstream(folder_ + "/storage.conf")
        << "[storage]\ndriver = \"vfs\"\ngraphroot = \"" << folder_ << "/graph\"\nrunroot = \""
        << folder_ << "/run\"\n";
    setenv("CONTAINERS_STORAGE_CONF", (folder_ + "/storage.conf").c_str(), 1);
    const std::string build =
        "set -e; d=" + folder_ +
        "/image; mkdir -p $d/bin $d/work $d/tmp $d/proc $d/dev;"
        "for t in sh sleep cat id ls touch; do cp -L $(command -v $t) $d/bin/; done;"
        "for l in $(ldd $d/bin/* | grep -o '/[^ :]*\\.so[^ ]*' | sort -u); do"
        "  mkdir -p $d/$(dirname $l); cp -L $l $d/$l; done;"
        "tar -C $d -c . | podman --runtime runc import - " +
        std::string(kImage) +
        ";"
        "podman --runtime runc run --rm --pull never --network none --ulimit nofile=1024:1024 "
        "--ulimit nproc=1000:1000 " +
        kImage + " /bin/sh -c 'exit 0'";
    if (std::system(("(" + build + ") > " + folder_ + "/log 2>&1").c_str()) != 0)
      why_not_ = testing::slurp(folder_ + "/log");
  }
  static void TearDownTestSuite() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  void SetUp() override {
    if (!why_not_.empty()) GTEST_SKIP() << "podman cannot run containers here: " << why_not_;
  }
  static Program image(std::string script) {
    auto program = shell(std::move(script));
    program.image = kImage;
    return program;
  }

  std::unique_ptr<Sandbox> place = sandbox("podman");

 private:
  static inline std::string folder_, why_not_;
};

TEST_F(PodmanSandbox, RunsWithOutputExitCodeAndScratch) {
  auto program = image("cat in; echo $GIVEN > out; echo err >&2; exit 3");
  program.env["GIVEN"] = "a b";
  Box box(*place, program);
  ASSERT_TRUE(box);
  std::ofstream(box->scratch() + "/in") << "hello\n";
  box.start();
  const auto exit = box.finish();
  EXPECT_EQ(exit.code, 3) << exit.text;
  EXPECT_TRUE(exit.started);
  EXPECT_TRUE(box.output().contains("hello\n")) << box.output();
  EXPECT_TRUE(box.output().contains("err\n"));
  EXPECT_EQ(testing::slurp(box->scratch() + "/out"), "a b\n");
}

TEST_F(PodmanSandbox, SeesNothingOfTheOwners) {
  const auto ran =
      run(*place, image("id -u; ls /root /home /var 2>/dev/null; touch /x; cat /proc/net/dev; "
                        "echo 1 > /proc/sys/kernel/printk_ratelimit; echo end"));
  EXPECT_TRUE(ran.output.starts_with("18")) << ran.output;  // A user from 0x70000000 up.
  EXPECT_TRUE(ran.output.contains("end\n"));
  EXPECT_FALSE(ran.output.contains("eth0"));
  EXPECT_TRUE(ran.output.contains("/x")) << "the image could be written: " << ran.output;
}

TEST_F(PodmanSandbox, ScratchIsLimited) {
  auto program = image("cat /dev/zero > /work/big; cat /dev/zero > /tmp/big");
  program.limits.scratch_bytes = 4 * kMiB;
  const auto ran = run(*place, program);
  EXPECT_TRUE(ran.output.contains("No space left")) << ran.output;
  EXPECT_LE(ran.usage.scratch_bytes, 4 * kMiB);
}

TEST_F(PodmanSandbox, KillAndDestructionLeaveNothing) {
  const Leftovers before;
  const auto mark = "7" + std::to_string(getpid()) + "5.25";
  {
    Box killed(*place, image("echo up; sleep " + mark));
    Box running(*place, image("echo up; sleep " + mark));
    ASSERT_TRUE(killed && running);
    killed.start();
    running.start();
    ASSERT_TRUE(killed.prints("up")) << killed.output();
    ASSERT_TRUE(running.prints("up")) << running.output();
    killed->kill();
    EXPECT_EQ(killed.finish().signal, SIGKILL);
  }
  EXPECT_EQ(find_process(mark), 0);
  EXPECT_EQ(Leftovers(), before);
  const auto ours = "name=souk-lease-" + std::to_string(getpid());
  EXPECT_EQ(std::system(("test -z \"$(podman ps -aq --filter " + ours + ")\"").c_str()), 0);
}

TEST_F(PodmanSandbox, MissingImageIsNotMistakenForAFailedProgram) {
  auto program = image("true");
  program.image = "localhost/no-such-image:1";
  const auto ran = run(*place, program);
  EXPECT_FALSE(ran.exit.started) << ran.exit.text;
}

TEST(Podman, RefusesWhatItCannotRun) {
  const auto place = sandbox("podman");
  Program program{.argv = {"sh"}, .output_fd = 1};
  EXPECT_FALSE(place->prepare(program));
  program.image = "--privileged";
  EXPECT_FALSE(place->prepare(program));
  program.image = "a b";
  EXPECT_FALSE(place->prepare(program));
}

}  // namespace
}  // namespace souk::agent
