#include "agent/trees.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <barrier>
#include <filesystem>
#include <thread>

#include "agent/sandbox/sandbox_testing.h"
#include "blob/folder.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using blob::testing::files_below;
using blob::testing::Folder;
using blob::testing::noise;
using blob::testing::spill;

constexpr std::int64_t kPlentyOfDisk = std::int64_t{1} << 30;

class TreesTest : public ::testing::Test {
 protected:
  TreesTest() { store_ = *blob::Store::open(folder_ / "store"); }

  std::unique_ptr<Trees> open(std::int64_t max_bytes = kPlentyOfDisk) {
    auto trees = Trees::open(trees_, max_bytes);
    EXPECT_TRUE(trees) << trees.error().message;
    return *std::move(trees);
  }

  // A folder with one file of `bytes`, in the store.
  blob::Digest pack(const std::string& name, std::size_t bytes) {
    const auto input = folder_ / ("input-" + name);
    spill(input / name, noise(bytes, std::hash<std::string>()(name)));
    auto packed = blob::pack(input, *store_);
    EXPECT_TRUE(packed) << packed.error().message;
    return packed->root;
  }

  // Uses it and lets it go.
  void visit(Trees& trees, const blob::Digest& root) {
    const auto use = trees.use(root, *store_);
    EXPECT_TRUE(use) << use.error().message;
  }

  [[nodiscard]] fs::path path_of(const blob::Digest& root) const {
    return fs::path(trees_) / to_string(root);
  }

  Folder folder_;
  const std::string trees_ = folder_ / "trees";
  std::unique_ptr<blob::Store> store_;
};

TEST_F(TreesTest, ATreeIsUnpackedOnceAndSharedByItsLeases) {
  const auto root = pack("data", 5'000);
  const auto trees = open();
  EXPECT_FALSE(trees->has(root));
  const auto first = trees->use(root, *store_);
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_TRUE(trees->has(root));
  EXPECT_EQ(blob::testing::slurp(fs::path(first->path()) / "data"),
            blob::testing::slurp(folder_ / "input-data/data"));
  spill(path_of(root) / "mark", "");  // Another unpacking would not have it.
  const auto second = trees->use(root, *store_);
  ASSERT_TRUE(second);
  EXPECT_EQ(first->path(), second->path());
  EXPECT_TRUE(fs::exists(path_of(root) / "mark"));
}

TEST_F(TreesTest, WhatALeaseUsesStaysAndTheLimitHolds) {
  const auto a = pack("a", 800), b = pack("b", 800), c = pack("c", 800);
  const auto trees = open(2'000);
  auto use_a = trees->use(a, *store_);
  ASSERT_TRUE(use_a);
  {
    const auto use_b = trees->use(b, *store_);
    ASSERT_TRUE(use_b);
    const auto use_c = trees->use(c, *store_);
    ASSERT_FALSE(use_c) << "more than the limit, and both others are needed";
    EXPECT_EQ(use_c.error().code, base::Code::unavailable);
    EXPECT_TRUE(fs::exists(path_of(a) / "a"));
    EXPECT_TRUE(fs::exists(path_of(b) / "b"));
    EXPECT_FALSE(fs::exists(path_of(c)));
  }
  visit(*trees, c);
  EXPECT_TRUE(trees->has(a));
  EXPECT_FALSE(trees->has(b)) << "room is made as soon as it may";
}

TEST_F(TreesTest, AFewBytesThatClaimToBeMuchAreRefusedBeforeTheyAreUnpacked) {
  const auto chunk = store_->add(std::string(blob::kChunkBytes, '\0'))->name;
  const blob::Manifest bomb{
      {{.path = "zeros", .size = 1'000 * blob::kChunkBytes, .chunks = std::vector(1'000, chunk)}}};
  const auto root = store_->add(*blob::to_bytes(bomb))->name;
  const auto trees = open(64 << 20);
  const auto use = trees->use(root, *store_);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::too_large);
  EXPECT_NE(use.error().message.find("3.91 GiB"), std::string::npos) << use.error().message;
  EXPECT_TRUE(fs::is_empty(trees_));
}

TEST_F(TreesTest, ManyEmptyFilesFillTheCacheToo) {
  blob::Manifest many;
  for (int i = 0; i < 10'001; ++i) many.entries.push_back({.path = std::to_string(100'000 + i)});
  const auto root = store_->add(*blob::to_bytes(many))->name;
  const auto trees = open(1 << 20);
  const auto use = trees->use(root, *store_);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::too_large);
  EXPECT_TRUE(fs::is_empty(trees_));
}

TEST_F(TreesTest, ATreeThatIsBeingMadeKeepsNobodyWaitingButWhoWantsIt) {
  const auto a = pack("a", 800);
  const auto trees = open();
  std::barrier half(2), rest(2);
  int made = 0;
  const Trees::Make slowly = [&](const std::string& folder, const Reserve& reserve) {
    ++made;
    spill(fs::path(folder) / "x", "");
    half.arrive_and_wait();
    rest.arrive_and_wait();
    return reserve(1, 1);
  };
  std::thread maker([&] { EXPECT_TRUE(trees->use("env-x", slowly)); });
  half.arrive_and_wait();
  visit(*trees, a);  // Other leases, and heartbeats, go on.
  EXPECT_EQ(trees->names().size(), 1U);
  std::thread other([&] {
    const auto use = trees->use("env-x", slowly);
    ASSERT_TRUE(use) << use.error().message;
    EXPECT_TRUE(fs::exists(use->path() + "/x"));
  });
  rest.arrive_and_wait();
  maker.join();
  other.join();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(trees->names().size(), 1U) << "only what the market can name";
}

TEST_F(TreesTest, ATreeThatCannotBeMadeLeavesNothingAndIsTriedAgain) {
  const auto trees = open(10'000);
  const auto fails = [](const std::string& folder, const Reserve& reserve) -> base::Result<> {
    spill(fs::path(folder) / "x", "half");
    SOUK_TRY(reserve(9'000, 1));
    return reserve(9'000, 1);
  };
  const auto use = trees->use("image-x", fails);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::too_large);
  EXPECT_TRUE(fs::is_empty(trees_));
  const auto throws = [](const std::string&, const Reserve&) -> base::Result<> {
    throw std::bad_alloc();
  };
  EXPECT_FALSE(trees->use("image-x", throws));
  EXPECT_TRUE(trees->use("image-x", [](const auto&, const Reserve& r) { return r(9'000, 1); }));
  EXPECT_TRUE(open()->use("image-x", throws)) << "an agent that starts again has it";
}

TEST_F(TreesTest, ATreeWithTwoLeasesStaysWhenOneOfThemEnds) {
  const auto a = pack("a", 800), b = pack("b", 800), c = pack("c", 800);
  const auto trees = open(2'000);
  const auto stays = trees->use(a, *store_);
  visit(*trees, a);
  visit(*trees, b);
  visit(*trees, c);
  EXPECT_TRUE(fs::exists(path_of(a) / "a"));
}

TEST_F(TreesTest, TheLeastRecentlyUsedGoesFirst) {
  const auto a = pack("a", 400), b = pack("b", 400), c = pack("c", 400);
  const auto trees = open(1'000);
  visit(*trees, a);
  visit(*trees, b);
  visit(*trees, a);
  visit(*trees, c);
  EXPECT_TRUE(trees->has(a));
  EXPECT_FALSE(trees->has(b));
  EXPECT_FALSE(fs::exists(path_of(b)));
  EXPECT_TRUE(trees->has(c));
}

TEST_F(TreesTest, AJobThatRanForLongHasUsedItsTreeUntilItsEnd) {
  const auto a = pack("a", 400), b = pack("b", 400), c = pack("c", 400);
  const auto trees = open(1'000);
  {
    const auto for_hours = trees->use(a, *store_);
    visit(*trees, b);
  }
  visit(*trees, c);
  EXPECT_TRUE(trees->has(a)) << "its next part would unpack it again";
  EXPECT_FALSE(trees->has(b));
}

TEST_F(TreesTest, AnAgentThatStartsAgainKnowsItsTreesAndTheirOrder) {
  const auto a = pack("a", 400), b = pack("b", 400), c = pack("c", 400);
  {
    const auto trees = open(1'000);
    visit(*trees, a);
    visit(*trees, b);
    visit(*trees, a);
  }
  const auto trees = open(1'000);
  EXPECT_TRUE(trees->has(a));
  EXPECT_TRUE(trees->has(b));
  visit(*trees, c);
  EXPECT_TRUE(trees->has(a));
  EXPECT_FALSE(trees->has(b));
  EXPECT_EQ(files_below(trees_), 2U);
}

TEST_F(TreesTest, ALowerLimitHoldsFromTheStart) {
  const auto a = pack("a", 400), b = pack("b", 400);
  {
    const auto trees = open();
    visit(*trees, a);
    visit(*trees, b);
  }
  const auto trees = open(500);
  EXPECT_FALSE(trees->has(a));
  EXPECT_TRUE(trees->has(b));
}

TEST_F(TreesTest, WhatAKilledAgentHalfUnpackedIsNeverUsed) {
  const auto root = pack("data", 5'000);
  spill(fs::path(trees_) / (to_string(root) + ".part") / "data", "only the beginning");
  const auto trees = open();
  EXPECT_FALSE(trees->has(root));
  EXPECT_EQ(files_below(trees_), 0U) << "it would fill the disk";
  const auto use = trees->use(root, *store_);
  ASSERT_TRUE(use) << use.error().message;
  EXPECT_EQ(fs::file_size(fs::path(use->path()) / "data"), 5'000U);
}

TEST_F(TreesTest, WhatWasHalfRemovedIsNeverUsed) {
  fs::permissions(folder_.path(), fs::perms::all);
  testing::as_ordinary_user([&] {
    const Folder mine;
    const auto store = *blob::Store::open(mine / "store");
    spill(mine / "input/first", "1");
    spill(mine / "input/stuck/second", "2");
    const auto root = blob::pack(mine / "input", *store)->root;
    {
      const auto trees = *Trees::open(mine / "trees", kPlentyOfDisk);
      EXPECT_TRUE(trees->use(root, *store));
    }
    const auto stuck = mine / "trees" / to_string(root) / "stuck";
    fs::permissions(stuck, fs::perms::owner_read | fs::perms::owner_exec);
    (void)Trees::open(mine / "trees", 0);  // Makes room as far as it can.
    const auto trees = *Trees::open(mine / "trees", kPlentyOfDisk);
    EXPECT_FALSE(trees->has(root)) << "a job would run without a part of its files";
    const auto use = trees->use(root, *store);
    EXPECT_TRUE(use) << use.error().message;
    if (use) EXPECT_EQ(files_below(use->path()), 2U);
    for (const auto& entry : fs::recursive_directory_iterator(mine / "trees"))
      if (entry.is_directory()) fs::permissions(entry.path(), fs::perms::owner_all);
  });
}

TEST_F(TreesTest, ADamagedChunkIsAnErrorAndLeavesNothing) {
  const auto root = pack("data", 9 << 20);  // Of three chunks the last is damaged.
  const auto manifest = *blob::read_manifest(root, *store_);
  const auto name = to_string(manifest.entries.at(0).chunks.at(2)).insert(2, "/");
  const auto chunk = fs::path(store_->path()) / name;
  const auto good = blob::testing::slurp(chunk);
  auto bad = good;
  bad[bad.size() / 2] = static_cast<char>(bad[bad.size() / 2] ^ 1);
  spill(chunk, bad);
  const auto trees = open();
  const auto use = trees->use(root, *store_);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::damaged);
  EXPECT_FALSE(trees->has(root));
  EXPECT_TRUE(fs::is_empty(trees_));
  spill(chunk, good);  // Fetched again.
  const auto again = trees->use(root, *store_);
  EXPECT_TRUE(again) << again.error().message;
}

TEST_F(TreesTest, ATreeThatWasNeverFetchedIsAnErrorAndLeavesNothing) {
  const auto trees = open();
  const auto use = trees->use(base::blake2b("nothing"), *store_);
  ASSERT_FALSE(use);
  EXPECT_EQ(use.error().code, base::Code::not_found);
  EXPECT_TRUE(fs::is_empty(trees_));
}

TEST_F(TreesTest, LeasesThatStartTogetherShareOneUnpacking) {
  const auto root = pack("data", 6 << 20), other = pack("other", 6 << 20);
  const auto trees = open(8 << 20);
  constexpr int kLeases = 8;
  std::barrier together(kLeases);
  std::array<ino_t, kLeases> seen{};
  {
    std::vector<std::jthread> threads;
    for (auto& file : seen)
      threads.emplace_back([&] {
        together.arrive_and_wait();
        const auto use = trees->use(root, *store_);
        struct stat status{};
        if (use && ::stat((use->path() + "/data").c_str(), &status) == 0 &&
            status.st_size == 6 << 20)
          file = status.st_ino;
        together.arrive_and_wait();  // All hold it now.
      });
  }
  for (const auto file : seen) {
    EXPECT_NE(file, 0U) << "a lease without its files";
    EXPECT_EQ(file, seen[0]) << "unpacked twice";
  }
  visit(*trees, other);
  EXPECT_FALSE(trees->has(root)) << "nobody uses it any more, and there is no room for both";
}

}  // namespace
}  // namespace souk::agent
