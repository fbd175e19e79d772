#include "agent/limits/disk_scratch.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include "agent/sandbox/sandbox_testing.h"

namespace souk::agent {
namespace {

using testing::as_ordinary_user;
using testing::Box;
using testing::kMiB;
using testing::python;
using testing::run;
using testing::sandbox;

// Not in /tmp, which lies in memory on some machines.
class Disk : public ::testing::Test {
 protected:
  Disk() {
    std::string name = "/var/tmp/souk-disk-XXXXXX";
    place = ::mkdtemp(name.data());
    std::filesystem::permissions(place, std::filesystem::perms::all);
  }
  ~Disk() override { std::filesystem::remove_all(place); }
  Program filling(const std::string& script) const {
    auto program = python("import os, time\n" + script);
    program.limits.scratch_bytes = 16 * kMiB;
    program.limits.disk_bytes = 64 * kMiB;
    program.disk_place = place;
    return program;
  }
  std::size_t left() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(place), {}));
  }
  std::string place;
};

bool has_loops() { return disk_scratch_text().contains("fixed size: each"); }

const std::string kWriteMuch =
    "n=0\n"
    "try:\n"
    "  with open('big','wb') as f:\n"
    "    for i in range(100): f.write(bytes(1<<20)); f.flush(); n+=1\n"
    "except OSError as e: print(os.strerror(e.errno), n>=40, flush=True)\n";

TEST_F(Disk, AsRootItIsAFileSystemOfItsOwnSize) {
  if (!has_loops()) GTEST_SKIP() << "needs root, mkfs.ext4 and loop devices";
  const auto ran =
      run(*sandbox("bubblewrap"), filling("print(os.listdir('.'))\n" + kWriteMuch +
                                          "print(os.statvfs('/tmp').f_blocks*4096>>20)"));
  EXPECT_EQ(ran.output, "[]\nNo space left on device True\n16\n") << ran.exit.text;
  EXPECT_EQ(ran.exit.code, 0);
  EXPECT_GT(ran.usage.scratch_bytes, 40 * kMiB);
  EXPECT_EQ(left(), 0U);
}

TEST_F(Disk, TheAgentFillsItAndReadsTheResults) {
  Box box(*sandbox("bubblewrap"), filling("open('out','w').write(open('in').read()*2)"));
  ASSERT_TRUE(box);
  std::ofstream(box->scratch() + "/in") << "ab";
  box.start();
  EXPECT_EQ(box.finish().code, 0) << box.output();
  EXPECT_EQ(testing::slurp(box->scratch() + "/out"), "abab");
  box.destroy();
  EXPECT_EQ(left(), 0U);
}

TEST_F(Disk, AsAnOrdinaryUserAProgramThatFillsMoreIsEnded) {
  as_ordinary_user([&] {
    const auto ran = run(*sandbox("bubblewrap"), filling(kWriteMuch + "time.sleep(60)"));
    EXPECT_TRUE(ran.exit.text.starts_with("out of scratch: the limit is 64 MiB, and its files had"))
        << ran.exit.text << ran.output;
    EXPECT_TRUE(ran.exit.started);
    EXPECT_FALSE(ran.exit.out_of_memory);
    EXPECT_EQ(left(), 0U);
  });
}

TEST_F(Disk, AlsoWhenTheFilesHaveNoNames) {
  as_ordinary_user([&] {
    const auto ran = run(*sandbox("bubblewrap"),
                         filling("f = open('big','wb')\nos.unlink('big')\n"
                                 "for i in range(100): f.write(bytes(1<<20)); f.flush()\n"
                                 "time.sleep(60)"));
    EXPECT_TRUE(ran.exit.text.starts_with("out of scratch")) << ran.exit.text << ran.output;
  });
}

TEST_F(Disk, WhatFitsIsLeftAlone) {
  as_ordinary_user([&] {
    const auto ran = run(*sandbox("bubblewrap"),
                         filling("open('some','wb').write(bytes(40<<20))\ntime.sleep(1.2)\n"
                                 "print('ran')"));
    EXPECT_EQ(ran.output, "ran\n") << ran.exit.text;
  });
}

TEST_F(Disk, MoreThanIsFreeIsRefused) {
  const auto refused = make_disk_scratch(place, std::int64_t{1} << 60, false);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("are free at " + place));
}

TEST_F(Disk, WhatAKilledAgentLeftIsRemoved) {
  const auto mine = make_disk_scratch(place, kMiB, false);
  ASSERT_TRUE(mine);
  std::filesystem::create_directories(place + "/souk-scratch-999999999-5-abc/sub");
  std::filesystem::create_directories(place + "/somebody-elses");
  sweep_disk_scratch(place);
  EXPECT_TRUE(std::filesystem::exists(mine->folder));
  EXPECT_TRUE(std::filesystem::exists(place + "/somebody-elses"));
  EXPECT_EQ(left(), 2U);
}

TEST_F(Disk, AFileWithTwoNamesTakesItsRoomOnce) {
  std::ofstream(place + "/a") << std::string(1 << 20, 'x');
  std::filesystem::create_hard_link(place + "/a", place + "/b");
  EXPECT_GE(folder_bytes(place), kMiB);
  EXPECT_LT(folder_bytes(place), 3 * kMiB / 2);
}

}  // namespace
}  // namespace souk::agent
