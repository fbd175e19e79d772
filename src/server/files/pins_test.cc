#include "server/files/pins.h"

#include <gtest/gtest.h>

#include "blob/folder.h"
#include "blob/testing/samples.h"
#include "job/work.h"
#include "server/testing/stack.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using testing::kAnn;
using testing::kBob;

constexpr base::JobId kJob(1);

// The content of one chunk.
std::string content(std::uint64_t seed) { return blob::testing::noise(100'000, seed); }

struct Shop {
  explicit Shop(std::uint64_t max_bytes = 1 << 30)
      : store(*blob::Store::open(folder / "blobs", {.max_bytes = max_bytes})) {}

  // Sends a chunk as `account`.
  blob::Digest send(std::string_view content, base::AccountId account = kAnn) {
    const auto name = blob::name_of(content);
    EXPECT_TRUE(claims.put(account, name, blob::encode(content)));
    return name;
  }
  // Sends a folder of files with one chunk each.
  std::string send_folder(const std::vector<blob::Digest>& chunks, std::string_view prefix = "f",
                          base::AccountId account = kAnn) {
    blob::Manifest manifest;
    for (std::size_t i = 0; i < chunks.size(); ++i)
      manifest.entries.push_back(
          {.path = fmt::format("{}{:06}", prefix, i), .size = 100'000, .chunks = {chunks[i]}});
    return to_string(send(*blob::to_bytes(manifest), account));
  }
  base::Result<> hold(base::JobId job, const std::vector<std::string>& blobs,
                      base::AccountId account = kAnn) {
    auto files = pins.prepare(account, blobs);
    if (!files) return std::unexpected(files.error());
    pins.hold(job, *std::move(files));
    return {};
  }
  void fill(std::uint64_t from) {
    for (auto i = from; i < from + 10; ++i) ASSERT_TRUE(store->add(content(i)));
  }
  std::uint64_t used(base::AccountId account = kAnn) { return budgets.pins.used(party(account)); }

  testing::Folder folder;
  testing::ObedientClock clock;
  Budgets budgets;
  std::unique_ptr<blob::Store> store;
  BlobClaims claims{folder / "claims", *store, budgets, clock};
  Pins pins{*store, claims, budgets.pins};
};

TEST(Pins, AFullStoreEvictsWhatNoLiveJobNeeds) {
  Shop shop(350'000);
  const auto mine = shop.send(content(1));
  ASSERT_TRUE(shop.hold(kJob, {to_string(mine)}));
  shop.fill(2);
  EXPECT_TRUE(shop.store->has(mine));
  shop.pins.release(kJob);
  EXPECT_EQ(shop.pins.size(), 0u);
  shop.fill(12);
  EXPECT_FALSE(shop.store->has(mine));
}

TEST(Pins, OnlyTheLatestCheckpointOfAPartIsKept) {
  Shop shop(450'000);
  const auto old = shop.send(content(1)), other = shop.send(content(2));
  shop.pins.hold(kJob, kAnn, 0, to_string(old));
  shop.pins.hold(kJob, kAnn, 1, to_string(other));
  const auto latest = shop.send(content(3));
  shop.pins.hold(kJob, kAnn, 0, to_string(latest));
  shop.fill(4);
  EXPECT_FALSE(shop.store->has(old));
  EXPECT_TRUE(shop.store->has(other));
  EXPECT_TRUE(shop.store->has(latest));
  EXPECT_TRUE(shop.pins.holds(kJob, latest));
  EXPECT_FALSE(shop.pins.holds(kJob, old));
}

TEST(Pins, AFolderCountsOnceHoweverOftenJobsNameIt) {
  Shop shop;
  const auto a = shop.send(content(1)), b = shop.send(content(2));
  const auto folder = shop.send_folder({a, b, a, a});
  ASSERT_TRUE(shop.hold(kJob, std::vector<std::string>(124, folder)));
  EXPECT_EQ(shop.used(), 3u) << "two chunks and the list of them";
  ASSERT_TRUE(shop.hold(base::JobId(2), {folder}));
  EXPECT_EQ(shop.used(), 3u);
  shop.pins.release(kJob);
  EXPECT_EQ(shop.used(), 3u);
  EXPECT_TRUE(shop.pins.holds(base::JobId(2), a));
  shop.pins.release(base::JobId(2));
  EXPECT_EQ(shop.used(), 0u);
  EXPECT_TRUE(*shop.store->drop(a)) << "nobody needs it";
}

TEST(Pins, WhatDoesNotFitIntoTheBudgetIsRefusedAndLeavesNothing) {
  Shop shop;
  shop.budgets.pins.set_limit({.each = 4, .all = 100});
  const auto a = shop.send(content(1)), b = shop.send(content(2)), c = shop.send(content(3));
  const auto first = shop.send_folder({a, b}), second = shop.send_folder({b, c});
  const auto refused = shop.hold(kJob, {first, second});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::exhausted);
  EXPECT_EQ(shop.used(), 0u);
  EXPECT_TRUE(*shop.store->drop(a));
  ASSERT_TRUE(shop.hold(kJob, {second}));
}

TEST(Pins, AJobOfAbsentFilesIsRefused) {
  Shop shop;
  const auto a = shop.send(content(1));
  const auto gone = shop.send_folder({a, base::blake2b("never sent")});
  for (const auto& name : {gone, to_string(base::blake2b("nothing")), std::string("not a name")}) {
    const auto refused = shop.hold(kJob, {name});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, base::Code::invalid);
    EXPECT_EQ(refused.error().field, "batch");
  }
  EXPECT_EQ(shop.used(), 0u);
}

TEST(Pins, ANameGivesNoRightToOthersFiles) {
  Shop shop;
  const auto secret = shop.send(content(1), kBob);
  const auto folder = shop.send_folder({secret}, "f", kBob);
  EXPECT_FALSE(shop.hold(kJob, {folder})) << "bob's folder";
  EXPECT_FALSE(shop.hold(kJob, {shop.send_folder({secret}, "g")})) << "bob's chunk in her own";
  EXPECT_TRUE(shop.hold(kJob, {folder}, kBob));
}

TEST(Pins, AStartKeepsWhatIsThereOfAnAcceptedJob) {
  Shop shop(450'000);
  shop.budgets.pins.set_limit({.each = 1, .all = 1});
  const auto a = shop.send(content(1));
  const auto folder = shop.send_folder({a, base::blake2b("lost")});
  shop.pins.recall(kJob, kAnn, {folder, folder, "not a name"});
  EXPECT_TRUE(shop.pins.holds(kJob, a));
  EXPECT_FALSE(shop.pins.holds(kJob, base::blake2b("lost")));
  shop.fill(2);
  EXPECT_TRUE(shop.store->has(a));
}

TEST(Pins, AJobNeedsTheFilesItsWorkNames) {
  EXPECT_TRUE(job::blobs_of("batch", wire::Batch()).empty());
  const auto work = wire::from_json<wire::Batch>(
      R"({"run":"x","workdir":"aa","inputs":[{"path":"d","blob":"bb","file":false}]})");
  ASSERT_TRUE(work);
  EXPECT_EQ(job::blobs_of("batch", *work), (std::vector<std::string>{"aa", "bb"}));
}

}  // namespace
}  // namespace souk::server
