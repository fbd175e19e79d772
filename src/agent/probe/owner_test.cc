#include "agent/probe/owner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace souk::agent {
namespace {

using base::seconds;
using base::Time;

class OwnerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "souk-owner-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
    std::filesystem::create_directories(root_ + "/proc");
    std::filesystem::create_directories(root_ + "/dev/pts");
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  // Processors that have worked this long in all.
  void worked(double cpu_seconds) {
    std::ofstream(root_ + "/proc/stat")
        << "cpu  " << static_cast<long>(cpu_seconds * static_cast<double>(sysconf(_SC_CLK_TCK)))
        << " 0 0 5000 0 0 0 0 0 0\n";
  }
  void typed(Time when) {
    const auto path = root_ + "/dev/pts/3";
    std::ofstream(path) << "";
    const timespec times[2] = {{when.us / 1'000'000, 0}, {when.us / 1'000'000, 0}};
    ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }

  std::string root_;
  Time now_{1'000'000'000'000};
};

TEST_F(OwnerTest, LoadOfOthersIsNoticedAndItsEndToo) {
  OwnerWatch watch({.root = root_});
  double cpu = 0;
  bool here = false;
  for (int second = 0; second < 10; ++second, now_ = now_ + seconds(1), cpu += 1) {
    worked(cpu);
    here = watch.here(0, now_);
    if (second < 2) EXPECT_FALSE(here) << second;  // A moment's work is not an owner.
  }
  EXPECT_TRUE(here);
  for (int second = 0; second < 70; ++second, now_ = now_ + seconds(1)) here = watch.here(0, now_);
  EXPECT_FALSE(here);
}

TEST_F(OwnerTest, TheBorrowedProgramsOwnLoadIsNotTheOwners) {
  OwnerWatch watch({.root = root_});
  for (double cpu = 0; cpu < 20; cpu += 2, now_ = now_ + seconds(1)) {
    worked(cpu);
    EXPECT_FALSE(watch.here(cpu, now_));
  }
}

TEST_F(OwnerTest, AKeyThatIsPressedOnADesktopIsNoticed) {
  const auto usb = root_ + "/sys/bus/usb/devices";
  for (const auto* device : {"/1-2", "/1-2:1.0", "/1-3", "/1-3:1.0"})
    std::filesystem::create_directories(usb + device);
  std::ofstream(usb + "/1-2:1.0/bInterfaceClass") << "03\n";  // A keyboard,
  std::ofstream(usb + "/1-3:1.0/bInterfaceClass") << "08\n";  // and a disk.
  const auto state = [&](int ps2, int keyboard, int disk) {
    std::ofstream(root_ + "/proc/interrupts")
        << "           CPU0       CPU1\n  1:      " << ps2 << "        40   IO-APIC   i8042\n"
        << "  8:  99  99 IO-APIC rtc0\n";
    std::ofstream(usb + "/1-2/urbnum") << keyboard;
    std::ofstream(usb + "/1-3/urbnum") << disk;
  };
  OwnerWatch watch({.root = root_});
  worked(0);
  state(5, 100, 1'000);
  EXPECT_FALSE(watch.here(0, now_));
  state(5, 100, 9'000);
  EXPECT_FALSE(watch.here(0, now_ + seconds(1)));
  state(5, 101, 9'000);
  EXPECT_TRUE(watch.here(0, now_ + seconds(2)));
  EXPECT_FALSE(watch.here(0, now_ + seconds(70)));
  state(6, 101, 9'000);
  EXPECT_TRUE(watch.here(0, now_ + seconds(71)));
}

TEST_F(OwnerTest, SomebodyWhoTypesIsHere) {
  OwnerWatch watch({.root = root_});
  worked(0);
  typed(now_ - seconds(600));
  EXPECT_FALSE(watch.here(0, now_));
  typed(now_);
  EXPECT_TRUE(watch.here(0, now_ + seconds(1)));
  EXPECT_FALSE(watch.here(0, now_ + seconds(90)));
}

}  // namespace
}  // namespace souk::agent
