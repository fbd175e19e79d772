#include "agent/probe/gpu_slices.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace souk::agent {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kList =
    "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-aaaa)\n"
    "  MIG 3g.20gb     Device  0: (UUID: MIG-1111)\n"
    "  MIG 1g.5gb      Device  1: (UUID: MIG-2222)\n"
    "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-bbbb)\n";

constexpr const char* kDetails =
    "GPU 00000000:07:00.0\n"
    "    Product Name                          : NVIDIA A100-SXM4-40GB\n"
    "    MIG Mode\n"
    "        Current                           : Enabled\n"
    "    MIG Device\n"
    "        Index                             : 0\n"
    "        GPU Instance ID                   : 2\n"
    "        Compute Instance ID               : 0\n"
    "        Device Attributes\n"
    "            Shared\n"
    "                Multiprocessor count      : 42\n"
    "        FB Memory Usage\n"
    "            Total                         : 19968 MiB\n"
    "            Used                          : 12 MiB\n"
    "            Free                          : 19955 MiB\n"
    "        BAR1 Memory Usage\n"
    "            Total                         : 32767 MiB\n"
    "    MIG Device\n"
    "        Index                             : 1\n"
    "        GPU Instance ID                   : 9\n"
    "        Compute Instance ID               : 0\n"
    "        FB Memory Usage\n"
    "            Total                         : 4864 MiB\n"
    "            Free                          : 4860 MiB\n"
    "    FB Memory Usage\n"
    "        Total                             : 40960 MiB\n"
    "GPU 00000000:0F:00.0\n"
    "    Product Name                          : NVIDIA A100-SXM4-40GB\n";

class Slices : public ::testing::Test {
 protected:
  Slices() {
    std::string name = (std::filesystem::temp_directory_path() / "souk-mig-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
  }
  ~Slices() override { std::filesystem::remove_all(root_); }
  void put(const std::string& path, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  void capability(int instance, int minor, int compute_minor) const {
    const auto mig = fmt::format("/proc/driver/nvidia/capabilities/gpu0/mig/gi{}", instance);
    const auto text = "DeviceFileMinor: {}\nDeviceFileMode: 292\nDeviceFileModify: 1\n";
    put(mig + "/access", fmt::format(fmt::runtime(text), minor));
    put(mig + "/ci0/access", fmt::format(fmt::runtime(text), compute_minor));
  }
  std::vector<Gpu> two() const {
    std::vector<Gpu> out;
    for (const auto* bus : {"00000000:07:00.0", "00000000:0F:00.0"})
      out.push_back({.name = "NVIDIA A100-SXM4-40GB",
                     .memory_mib = 40960,
                     .driver = "550.54.15",
                     .uuid = out.empty() ? "GPU-aaaa" : "GPU-bbbb",
                     .bus = bus,
                     .number = static_cast<int>(out.size()),
                     .nodes = {fmt::format("/dev/nvidia{}", out.size())}});
    return out;
  }
  std::string root_;
  std::vector<Remark> remarks_;
};

TEST_F(Slices, EachIsLentLikeAGpuWithItsOwnNodes) {
  capability(2, 21, 22);
  capability(9, 84, 85);
  const auto gpus = with_slices(two(), kList, kDetails, root_, remarks_);
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].name, "NVIDIA A100-SXM4-40GB MIG 3g.20gb");
  EXPECT_EQ(gpus[0].uuid, "MIG-1111");
  EXPECT_EQ(gpus[0].memory_mib, 19968);
  EXPECT_THAT(gpus[0].nodes, ElementsAre("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap21",
                                         "/dev/nvidia-caps/nvidia-cap22"));
  EXPECT_EQ(gpus[1].uuid, "MIG-2222");
  EXPECT_EQ(gpus[1].memory_mib, 4864);
  EXPECT_THAT(gpus[1].nodes, ElementsAre("/dev/nvidia0", "/dev/nvidia-caps/nvidia-cap84",
                                         "/dev/nvidia-caps/nvidia-cap85"));
  EXPECT_EQ(gpus[2].uuid, "GPU-bbbb");
  EXPECT_FALSE(gpus[2].slice);
  EXPECT_THAT(remarks_, IsEmpty());
}

TEST_F(Slices, OneWhoseNodesAreNotKnownIsNotLent) {
  capability(9, 84, 85);
  const auto gpus = with_slices(two(), kList, kDetails, root_, remarks_);
  ASSERT_EQ(gpus.size(), 2U);
  EXPECT_EQ(gpus[0].uuid, "MIG-2222");
  ASSERT_EQ(remarks_.size(), 1U);
  EXPECT_THAT(remarks_[0].text, HasSubstr("MIG-1111 (3g.20gb)"));
}

TEST_F(Slices, AGpuThatIsNotCutUpStaysWhole) {
  const auto gpus =
      with_slices(two(), "GPU 0: NVIDIA H200 (UUID: GPU-aaaa)\n", "", root_, remarks_);
  EXPECT_EQ(gpus.size(), 2U);
}

TEST_F(Slices, TheDeviceNodeIsTheOneThatTheDriverNames) {
  put("/proc/driver/nvidia/gpus/0000:0f:00.0/information",
      "Model: \t\t NVIDIA H200\nIRQ:   \t\t 120\nGPU UUID: \t GPU-bbbb\n"
      "Bus Location: \t 0000:0f:00.0\nDevice Minor: \t 3\n");
  EXPECT_EQ(device_number(root_, "00000000:0F:00.0", 0), 3);
  EXPECT_EQ(device_number(root_, "00000000:07:00.0", 0), 0);
  EXPECT_EQ(device_number(root_, "?", 7), 7);
}

TEST_F(Slices, NonsenseNamesNothing) {
  EXPECT_THAT(parse_gpu_list("  MIG x Device 0: (UUID: MIG-1)\nGPU\n"), IsEmpty());
  EXPECT_THAT(parse_gpu_list("GPU 0: x (UUID: GPU-1)\n  MIG 1g: (UUID Device : \n"), IsEmpty());
  EXPECT_THAT(parse_slice_details("Index : 4\nMIG Devices\n"), IsEmpty());
}

}  // namespace
}  // namespace souk::agent
