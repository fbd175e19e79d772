#include "blob/s3/bucket_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/eventually.h"
#include "blob/folder.h"
#include "blob/testing/fault_s3.h"
#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using base::Code;
using base::testing::eventually;
using testing::FaultS3;
using testing::Folder;
using ::testing::HasSubstr;
using testing::noise;

class InABucket : public ::testing::Test {
 protected:
  std::unique_ptr<BucketStore> open(BucketStore::Options options = {}, bool with_old = false,
                                    std::uint64_t cache = 100 << 20) {
    auto copies = DiskStore::open(folder_ / "cache", {.max_bytes = cache});
    std::unique_ptr<DiskStore> old;
    if (with_old) old = *DiskStore::open(folder_ / "old");
    auto made = BucketStore::open(s3_.bucket(), *std::move(copies), std::move(old), options);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return *std::move(made);
  }
  static std::string key_of(const Digest& name) { return "pre/" + to_string(name).insert(2, "/"); }
  [[nodiscard]] bool in_bucket(const Digest& name) const {
    return s3_.objects().contains(key_of(name));
  }

  Folder folder_;
  FaultS3 s3_;
};

TEST_F(InABucket, WhatWasPutIsThereForTheNextProcess) {
  const auto content = noise(100'000);
  Digest name;
  {
    const auto store = open();
    name = store->add(content)->name;
    EXPECT_EQ(s3_.objects().at(key_of(name)).size(), 100'001u);
    EXPECT_EQ(store->bytes(), 100'001u);
  }
  std::filesystem::remove_all(folder_ / "cache");  // Another computer.
  s3_.page = 1;
  const auto store = open();
  EXPECT_TRUE(store->knows(name));
  EXPECT_EQ(store->count(), 1u);
  EXPECT_EQ(store->content(name).value(), content);
  EXPECT_EQ(store->content(name).value(), content);
  EXPECT_EQ(store->figures().from_bucket, 1u);  // The second time from the copy.
  EXPECT_EQ(store->figures().from_cache, 1u);
}

TEST_F(InABucket, WhatCannotBeWrittenIsNotThere) {
  const auto store = open();
  s3_.refuse({{403, "AccessDenied"}});
  EXPECT_EQ(store->add(noise(10)).error().code, Code::forbidden);
  EXPECT_EQ(store->count(), 0u);
  EXPECT_FALSE(store->knows(name_of(noise(10))));
  EXPECT_EQ(store->put(name_of("a"), "0b").error().code, Code::damaged);
  EXPECT_EQ(s3_.count("PUT"), 1u);
}

TEST_F(InABucket, TheLimitIsKeptAndPinnedChunksStay) {
  std::vector<Digest> gone;
  const auto store = open({.max_bytes = 3'000});
  store->on_dropped([&](const Digest& name) { gone.push_back(name); });
  const auto a = store->add(noise(999, 1))->name, b = store->add(noise(999, 2))->name,
             c = store->add(noise(999, 3))->name;
  {
    const auto pin = store->pin({a});
    EXPECT_TRUE(store->add(noise(999, 4)));
    EXPECT_THAT(gone, ::testing::ElementsAre(b));
    EXPECT_FALSE(*store->drop(a));
    EXPECT_TRUE(eventually([&] { return !in_bucket(b) && s3_.objects().size() == 3; }));
    const auto too_much = store->add(noise(2'500, 5));
    EXPECT_EQ(too_much.error().code, Code::exhausted);
  }
  EXPECT_EQ(store->get(b).error().code, Code::not_found);
  EXPECT_TRUE(*store->drop(c));
  EXPECT_EQ(store->clean(1).value(), 1'000u);  // The oldest: number 4, as c and b are gone.
  EXPECT_TRUE(store->knows(a));
  EXPECT_TRUE(eventually([&] { return s3_.objects().size() == 1 && in_bucket(a); }));
}

TEST_F(InABucket, AChunkThatIsRemovedAndWrittenAgainStays) {
  const auto store = open();
  for (int i = 0; i < 50; ++i) {
    const auto name = store->add("again")->name;
    EXPECT_TRUE(*store->drop(name));
    ASSERT_TRUE(store->add("again"));
    ASSERT_TRUE(in_bucket(name));
    EXPECT_EQ(store->content(name).value(), "again");
  }
}

TEST_F(InABucket, DamageInTheCopyCostsAFetchAndDamageInTheBucketTheChunk) {
  const auto store = open();
  const auto content = noise(5'000);
  const auto name = store->add(content)->name;
  const auto copy = folder_ / ("cache/" + to_string(name).insert(2, "/"));
  testing::spill(copy, "\2" + noise(5'000, 9));
  EXPECT_EQ(store->content(name).value(), content);
  EXPECT_EQ(store->figures().from_bucket, 1u);
  // Once is bad luck on the way.
  std::filesystem::remove(copy);
  s3_.damages = 1;
  EXPECT_EQ(store->content(name).value(), content);
  std::filesystem::remove(copy);
  s3_.damages = 2;
  const auto lost = store->get(name);
  EXPECT_EQ(lost.error().code, Code::damaged);
  EXPECT_THAT(lost.error().message, HasSubstr("removed from s3://bucket/pre"));
  EXPECT_FALSE(store->knows(name));
  EXPECT_TRUE(eventually([&] { return !in_bucket(name); }));
}

TEST_F(InABucket, WhatAnotherProcessWroteIsFound) {
  const auto store = open();
  const auto name = open()->add(noise(700))->name;  // Its copies are in the same folder.
  std::filesystem::remove_all(folder_ / "cache");
  EXPECT_FALSE(store->knows(name));
  EXPECT_TRUE(store->has(name));
  EXPECT_TRUE(store->knows(name));
  EXPECT_EQ(store->size_of(name), 701u);
  s3_.erase(key_of(name));
  EXPECT_EQ(store->get(name).error().code, Code::not_found);
  EXPECT_FALSE(store->knows(name));
}

TEST_F(InABucket, AFullOrSmallCacheLosesNothing) {
  const auto store = open({}, false, 2'000);
  std::vector<Digest> names;
  for (std::uint64_t i = 0; i < 6; ++i) names.push_back(store->add(noise(900, i))->name);
  for (std::uint64_t i = 0; i < 6; ++i) EXPECT_EQ(store->content(names[i]).value(), noise(900, i));
  EXPECT_LE(testing::files_below(folder_ / "cache"), 2u);
  EXPECT_EQ(store->count(), 6u);
}

TEST_F(InABucket, AnOldFolderIsMovedAndReadMeanwhile) {
  std::vector<Digest> names;
  {
    const auto old = *Store::open(folder_ / "old");
    for (std::uint64_t i = 0; i < 20; ++i) names.push_back(old->add(noise(500, i))->name);
  }
  testing::spill(folder_ / ("old/" + to_string(names[3]).insert(2, "/")), "\2broken");
  const auto store = open({}, true);
  EXPECT_EQ(store->count() + (store->knows(names[3]) ? 0u : 1u), 20u);
  for (std::uint64_t i = 0; i < 20; ++i)
    if (i != 3) EXPECT_EQ(store->content(names[i]).value(), noise(500, i)) << i;
  EXPECT_TRUE(eventually([&] { return store->figures().to_move == 0; }));
  EXPECT_TRUE(eventually([&] { return testing::files_below(folder_ / "old") == 0; }));
  EXPECT_EQ(s3_.objects().size(), 19u);  // Not the broken one.
  EXPECT_FALSE(store->knows(names[3]));
  EXPECT_EQ(store->get(names[3]).error().code, Code::not_found);
}

TEST_F(InABucket, AMoveThatWasInterruptedGoesOn) {
  std::vector<Digest> names;
  {
    const auto old = *Store::open(folder_ / "old");
    for (std::uint64_t i = 0; i < 5; ++i) names.push_back(old->add(noise(500, i))->name);
  }
  {
    auto first = open({}, true);
    s3_.stop();
    EXPECT_TRUE(eventually(
        [&] { return first->figures().trouble != "" || first->figures().to_move == 0; }));
    for (std::uint64_t i = 0; i < 5; ++i)
      if (first->figures().to_move == 5) EXPECT_EQ(first->content(names[i]).value(), noise(500, i));
  }
  s3_.start_again();
  const auto store = open({}, true);
  EXPECT_TRUE(eventually([&] { return store->figures().to_move == 0; }));
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(in_bucket(names[i]));
}

TEST_F(InABucket, OnlyWhatIsThereHasAnAddress) {
  const auto store = open();
  const auto name = store->add("somebody's")->name;
  EXPECT_THAT(store->direct_url(name, base::minutes(1)), HasSubstr(key_of(name) + "?X-Amz-"));
  EXPECT_EQ(store->direct_url(name_of("nobody's"), base::minutes(1)), "");
  EXPECT_EQ((*Store::open(folder_ / "plain"))->direct_url(name, base::minutes(1)), "");
}

TEST_F(InABucket, FoldersArePackedAndUnpackedAsInAFolder) {
  const auto store = open();
  testing::spill(folder_ / "in/a.txt", testing::prose(10'000));
  testing::spill(folder_ / "in/b/c.bin", testing::prose(9 << 20, 7));
  const auto packed = pack(folder_ / "in", *store);
  ASSERT_TRUE(packed);
  ASSERT_TRUE(unpack(packed->manifest, *store, folder_ / "out"));
  EXPECT_TRUE(testing::slurp(folder_ / "out/b/c.bin") == testing::prose(9 << 20, 7));
}

}  // namespace
}  // namespace souk::blob
