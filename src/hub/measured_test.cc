#include "hub/measured.h"

#include <gtest/gtest.h>

#include <limits>

#include "train/testing/updates.h"

namespace souk::hub {
namespace {

TEST(Measured, ArrivesAsItWasMeasured) {
  for (const auto& values : {std::vector<float>{3, 4}, std::vector<float>(100'000, 0.5F),
                             std::vector<float>{std::numeric_limits<float>::infinity()}}) {
    const auto measured = measure(train::testing::update(values));
    const auto arrived = unpack_measured(pack(measured));
    ASSERT_TRUE(arrived) << arrived.error().message;
    EXPECT_EQ(arrived->stats.finite, measured.stats.finite);
    EXPECT_EQ(std::bit_cast<std::uint64_t>(arrived->stats.norm),
              std::bit_cast<std::uint64_t>(measured.stats.norm));
    EXPECT_EQ(arrived->direction, measured.direction);
  }
  EXPECT_NEAR(measure(train::testing::update({3, 4})).stats.norm, 5, 1e-4);
}

TEST(Measured, RefusesWhatIsNoMeasurement) {
  const auto good = pack(measure(train::testing::update({3, 4})));
  auto odd = good;
  odd[0] = 7;
  for (const auto& bytes :
       {std::string(), good.substr(0, 15), good.substr(0, good.size() - 1), good + "x", odd,
        good + std::string(train::kDirection * sizeof(float), '\0')})
    EXPECT_FALSE(unpack_measured(bytes)) << bytes.size();
}

}  // namespace
}  // namespace souk::hub
