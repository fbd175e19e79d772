#include "server/files/pinned_folders.h"

#include <gtest/gtest.h>

#include "blob/folder.h"
#include "server/testing/market.h"

namespace souk::server {
namespace {

using testing::Folder;

constexpr base::Time kAddedAt(1'000'000'000'000'000);

struct Shelf {
  // Room for a few folders of random bytes.
  Shelf() : store(*blob::Store::open(folder / "blobs", {.max_bytes = 100'000})) {}

  blob::Packed pack(int number) {
    base::Random random(static_cast<std::uint64_t>(number));
    std::string bytes;
    for (int i = 0; i < 1'250; ++i) {
      const auto word = random.next();
      bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
    }
    return *blob::pack_files({{"file", bytes}}, *store);
  }
  bool has(const blob::Packed& p) { return store->has(p.root); }
  void fill() {
    for (int i = 100; i < 120; ++i) (void)pack(i);
  }

  Folder folder;
  std::unique_ptr<blob::Store> store;
};

TEST(PinnedFolders, WhatWasPreparedOutlivesWhatComesAfterIt) {
  Shelf shelf;
  PinnedFolders kept(*shelf.store, 50'000);
  blob::Digest first, other;
  {
    const auto a = shelf.pack(1), b = shelf.pack(2);
    first = a.root, other = b.root;
    EXPECT_TRUE(kept.add(a.root, a.manifest, kAddedAt));
  }
  shelf.fill();
  EXPECT_TRUE(shelf.store->has(first));
  EXPECT_FALSE(shelf.store->has(other)) << "the store was not filled";
}

TEST(PinnedFolders, NobodyCanFillTheStoreWithWhatIsNeverSubmitted) {
  Shelf shelf;
  PinnedFolders kept(*shelf.store, 25'000);
  blob::Digest first, last;
  for (int i = 0; i < 30; ++i) {
    const auto p = shelf.pack(i);
    (i == 0 ? first : last) = p.root;
    EXPECT_TRUE(kept.add(p.root, p.manifest, kAddedAt));
    EXPECT_LE(kept.bytes(), 25'000u);
  }
  shelf.fill();
  EXPECT_FALSE(shelf.store->has(first));
  EXPECT_TRUE(shelf.store->has(last));
}

TEST(PinnedFolders, TheSameFolderCountsOnceAndHoursLaterNoMore) {
  Shelf shelf;
  PinnedFolders kept(*shelf.store, 50'000);
  const auto a = shelf.pack(1), b = shelf.pack(2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(kept.add(a.root, a.manifest, kAddedAt));
  EXPECT_EQ(kept.bytes(), 10'000u);
  EXPECT_TRUE(kept.add(b.root, b.manifest, kAddedAt + PinnedFolders::kFor));
  EXPECT_EQ(kept.bytes(), 10'000u);
}

TEST(PinnedFolders, WhatIsNotThereCannotBeKept) {
  Shelf shelf, empty;
  PinnedFolders kept(*empty.store, 50'000);
  const auto a = shelf.pack(1);
  EXPECT_FALSE(kept.add(a.root, a.manifest, kAddedAt));
  EXPECT_EQ(kept.bytes(), 0u);
}

}  // namespace
}  // namespace souk::server
