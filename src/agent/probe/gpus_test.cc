#include "agent/probe/gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace souk::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class GpusTest : public ::testing::Test {
 protected:
  GpusTest() {
    std::string name = (std::filesystem::temp_directory_path() / "souk-gpus-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(root_ + "/dev");
    for (const auto* node : {"nvidia0", "nvidia1", "nvidia2", "nvidiactl", "nvidia-uvm"})
      std::ofstream(root_ + "/dev/" + node);
  }
  ~GpusTest() override { std::filesystem::remove_all(root_); }
  std::string root_;
};

TEST_F(GpusTest, NoTwoLeasesShareOne) {
  Gpus gpus(8, root_);
  EXPECT_EQ(gpus.count(), 3);
  auto first = gpus.take(1), second = gpus.take(2);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->visible(), "0");
  EXPECT_EQ(second->visible(), "1,2");
  EXPECT_EQ(gpus.take(1).error().code, base::Code::exhausted);
  *first = {};
  EXPECT_EQ(gpus.take(1)->visible(), "0");
}

TEST_F(GpusTest, ALeaseWaitsForThoseThatAreBorrowed) {
  Gpus gpus(1, root_);
  auto borrowed = gpus.borrow(1);
  ASSERT_TRUE(borrowed);
  EXPECT_EQ(gpus.borrow(1).error().code, base::Code::exhausted) << "nobody waits to be asked";
  std::thread giver([&] { *borrowed = {}; });
  EXPECT_TRUE(gpus.take(1));
  giver.join();
}

TEST_F(GpusTest, AProgramGetsItsOwnDevicesAndWhatAllShare) {
  Gpus gpus(2, root_);
  EXPECT_EQ(gpus.count(), 2);
  EXPECT_THAT(gpus.take(1)->devices(), ElementsAre(root_ + "/dev/nvidia0", root_ + "/dev/nvidiactl",
                                                   root_ + "/dev/nvidia-uvm"));
  EXPECT_THAT(gpus.take(0)->devices(), IsEmpty());
}

TEST_F(GpusTest, AProgramSeesThemByUuid) {
  Gpus gpus(std::vector<Gpus::Unit>{{"GPU-aa", {"/dev/nvidia1"}}, {"GPU-bb", {"/dev/nvidia2"}}},
            root_);
  auto first = gpus.take(1), second = gpus.take(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->visible(), "GPU-aa");
  EXPECT_EQ(second->visible(), "GPU-bb");
  EXPECT_THAT(second->devices(), ElementsAre(root_ + "/dev/nvidia2", root_ + "/dev/nvidiactl",
                                             root_ + "/dev/nvidia-uvm"));
}

TEST_F(GpusTest, SlicesOfOneGpuShareItsNodeAndNothingElse) {
  std::filesystem::create_directory(root_ + "/dev/nvidia-caps");
  for (const auto* cap : {"21", "22", "84", "85"})
    std::ofstream(root_ + "/dev/nvidia-caps/nvidia-cap" + cap);
  const auto cap = [](const char* n) { return std::string("/dev/nvidia-caps/nvidia-cap") + n; };
  Gpus gpus(std::vector<Gpus::Unit>{{"MIG-1", {"/dev/nvidia0", cap("21"), cap("22")}},
                                    {"MIG-2", {"/dev/nvidia0", cap("84"), cap("85")}}},
            root_);
  auto first = gpus.take(1), second = gpus.take(1);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(second->visible(), "MIG-2");
  EXPECT_THAT(second->devices(),
              ElementsAre(root_ + "/dev/nvidia0", root_ + cap("84"), root_ + cap("85"),
                          root_ + "/dev/nvidiactl", root_ + "/dev/nvidia-uvm"));
}

TEST_F(GpusTest, AnAgentThatLendsTheSecondGpuAsksTheSecondOne) {
  Gpus gpus(std::vector<Gpus::Unit>{{"", {"/dev/nvidia1"}, 1}}, root_);
  const auto only = gpus.take(1);
  ASSERT_TRUE(only);
  EXPECT_THAT(only->places(), ElementsAre(1));
  EXPECT_EQ(only->visible(), "1");
}

TEST_F(GpusTest, WithoutDeviceNodesThereAreNone) { EXPECT_EQ(Gpus(4, root_ + "/x").count(), 0); }

}  // namespace
}  // namespace souk::agent
