#include "server/core/pins.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "server/testing/stack.h"
#include "wire/api_json.h"

namespace souk::server {
namespace {

std::string noise(std::uint64_t seed) {
  base::Random random(seed);
  std::string out;
  while (out.size() < 100'000) out += static_cast<char>(random.next() >> 32);
  return out;
}

TEST(Pins, AFullStoreEvictsWhatNoLiveJobNeeds) {
  const auto folder = testing::new_folder();
  {
    auto store = *blob::Store::open(folder + "/blobs", {.max_bytes = 350'000});
    Pins pins(*store);
    const auto mine = store->add(noise(1))->name;
    pins.hold(base::JobId(1), {to_string(mine), "not a name"});
    for (std::uint64_t i = 2; i < 12; ++i) ASSERT_TRUE(store->add(noise(i)));
    EXPECT_TRUE(store->has(mine));
    pins.release(base::JobId(1));
    EXPECT_EQ(pins.size(), 0u);
    for (std::uint64_t i = 12; i < 22; ++i) ASSERT_TRUE(store->add(noise(i)));
    EXPECT_FALSE(store->has(mine));
  }
  std::filesystem::remove_all(folder);
}

TEST(Pins, OnlyTheLatestCheckpointOfAPartIsKept) {
  const auto folder = testing::new_folder();
  {
    auto store = *blob::Store::open(folder + "/blobs", {.max_bytes = 450'000});
    Pins pins(*store);
    const auto old = store->add(noise(1))->name, other = store->add(noise(2))->name;
    pins.hold(base::JobId(1), 0, to_string(old));
    pins.hold(base::JobId(1), 1, to_string(other));
    const auto latest = store->add(noise(3))->name;
    pins.hold(base::JobId(1), 0, to_string(latest));
    for (std::uint64_t i = 4; i < 14; ++i) ASSERT_TRUE(store->add(noise(i)));
    EXPECT_FALSE(store->has(old));
    EXPECT_TRUE(store->has(other));
    EXPECT_TRUE(store->has(latest));
  }
  std::filesystem::remove_all(folder);
}

TEST(Pins, AJobNeedsTheFilesItsWorkNames) {
  EXPECT_TRUE(blobs_of(wire::Batch()).empty());
  const auto work = wire::from_json<wire::Batch>(
      R"({"run":"x","workdir":"aa","inputs":[{"path":"d","blob":"bb","file":false}]})");
  ASSERT_TRUE(work);
  EXPECT_EQ(blobs_of(*work), (std::vector<std::string>{"aa", "bb"}));
}

}  // namespace
}  // namespace souk::server
