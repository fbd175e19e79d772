#include "agent/gpu/meter.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "base/testing/eventually.h"

namespace souk::agent {
namespace {

using base::testing::eventually;

TEST(GpuUse, IsReadByUuid) {
  const auto uses =
      parse_gpu_use("GPU-aa, 87, 40123\nGPU-bb, [N/A], 12\nnonsense\nGPU-cc, 400, -3\nGPU-dd, 1\n");
  ASSERT_EQ(uses.size(), 3U);
  EXPECT_DOUBLE_EQ(*uses.at("GPU-aa").share, 0.87);
  EXPECT_EQ(uses.at("GPU-aa").memory_bytes, std::int64_t{40123} << 20);
  EXPECT_FALSE(uses.at("GPU-bb").share);
  EXPECT_EQ(uses.at("GPU-bb").memory_bytes, 12 << 20);
  EXPECT_FALSE(uses.at("GPU-cc").share || uses.at("GPU-cc").memory_bytes);
}

class Meter : public ::testing::Test {
 protected:
  Meter() {
    std::string name = (std::filesystem::temp_directory_path() / "souk-smi-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Meter() override { std::filesystem::remove_all(folder_); }
  // A nvidia-smi that says this.
  std::string saying(const std::string& script) const {
    const auto path = folder_ + "/nvidia-smi";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }
  std::string folder_;
};

TEST_F(Meter, EachLeaseIsToldTheUseOfItsOwnGpus) {
  GpuMeter meter(saying("echo 'GPU-aa, 50, 100'; echo 'GPU-bb, 100, 7'; echo 'GPU-cc, 0, 1'"),
                 base::milliseconds(20));
  const auto one = meter.watch({"GPU-cc"});
  const auto two = meter.watch({"GPU-aa", "GPU-bb"});
  EXPECT_TRUE(eventually([&] { return two->seconds().value_or(0) > 0.05; }));
  EXPECT_EQ(two->memory_bytes(), 107 << 20);
  EXPECT_TRUE(eventually([&] { return one->seconds().has_value(); }));
  EXPECT_DOUBLE_EQ(*one->seconds(), 0);
}

TEST_F(Meter, ADriverThatFailsTellsNothing) {
  GpuMeter meter(saying("echo 'GPU-aa, 50, 100'; touch " + folder_ + "/asked; exit 9"),
                 base::milliseconds(5));
  const auto lease = meter.watch({"GPU-aa"});
  EXPECT_TRUE(eventually([&] { return std::filesystem::exists(folder_ + "/asked"); }));
  EXPECT_FALSE(lease->seconds());
  GpuMeter none("");
  EXPECT_FALSE(none.watch({"GPU-aa"})->memory_bytes());
}

TEST_F(Meter, NobodyIsAskedWhileNoLeaseHasAGpu) {
  const auto program = saying("echo x >> " + folder_ + "/asked; echo 'GPU-aa, 1, 1'");
  const auto asked = [&] {
    std::error_code none;
    const auto size = std::filesystem::file_size(folder_ + "/asked", none);
    return none ? 0 : size;
  };
  GpuMeter meter(program, base::milliseconds(5));
  EXPECT_EQ(asked(), 0U);
  for (int i = 0; i < 2; ++i) {
    const auto before = asked();
    const auto lease = meter.watch({"GPU-aa"});
    EXPECT_TRUE(eventually([&] { return asked() > before; })) << "it begins again";
  }
}

}  // namespace
}  // namespace souk::agent
