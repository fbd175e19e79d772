#include "journal/snapshot.h"

#include <gmock/gmock.h>

#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using ::testing::HasSubstr;

TEST(Snapshot, ComesBackAsSavedAndTheLatestWins) {
  const testing::Folder folder;
  const auto path = folder / "snapshot";
  const std::string bytes("with \0 in it", 12);
  ASSERT_TRUE(save_snapshot(path, 7, "old"));
  ASSERT_TRUE(save_snapshot(path, 18'000'000'000'000'000'000u, bytes));
  const auto loaded = load_snapshot(path);
  ASSERT_TRUE(loaded.snapshot);
  EXPECT_EQ(loaded.snapshot->seq, 18'000'000'000'000'000'000u);
  EXPECT_EQ(loaded.snapshot->bytes, bytes);
  EXPECT_EQ(loaded.note, "");
  EXPECT_EQ(testing::contents(folder.path()).size(), 1u);  // Nothing left beside it.
}

TEST(Snapshot, AnEmptyStateIsAState) {
  const testing::Folder folder;
  ASSERT_TRUE(save_snapshot(folder / "s", 0, ""));
  ASSERT_TRUE(load_snapshot(folder / "s").snapshot);
}

TEST(Snapshot, AnAbsentOneIsANote) {
  const testing::Folder folder;
  const auto loaded = load_snapshot(folder / "none");
  EXPECT_FALSE(loaded.snapshot);
  EXPECT_THAT(loaded.note, HasSubstr("there is no snapshot at"));
}

TEST(Snapshot, IsIgnoredWhenAnyBitOfItIsWrong) {
  const testing::Folder folder;
  const auto path = folder / "s";
  ASSERT_TRUE(save_snapshot(path, 7, "some bytes of a state"));
  const auto good = testing::slurp(path);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    auto bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ 1 << bit % 8);
    testing::spill(path, bad);
    const auto loaded = load_snapshot(path);
    ASSERT_FALSE(loaded.snapshot) << bit;
    ASSERT_THAT(loaded.note, HasSubstr("is ignored")) << bit;
  }
}

TEST(Snapshot, IsIgnoredWhenShortOrLong) {
  const testing::Folder folder;
  const auto path = folder / "s";
  ASSERT_TRUE(save_snapshot(path, 7, "some bytes of a state"));
  const auto good = testing::slurp(path);
  for (std::size_t size = 0; size < good.size(); ++size) {
    testing::spill(path, good.substr(0, size));
    ASSERT_FALSE(load_snapshot(path).snapshot) << size;
  }
  testing::spill(path, good + "x");
  EXPECT_FALSE(load_snapshot(path).snapshot);
}

TEST(Snapshot, AFailedSaveKeepsTheOldOne) {
  const testing::Folder folder;
  const auto path = folder / "s";
  ASSERT_TRUE(save_snapshot(path, 7, "old"));
  std::filesystem::create_directory(path + ".new");  // So that the new one cannot be made.
  const auto saved = save_snapshot(path, 8, "new");
  ASSERT_FALSE(saved);
  EXPECT_THAT(saved.error().message, HasSubstr(path + ".new"));
  EXPECT_EQ(load_snapshot(path).snapshot->seq, 7u);
}

}  // namespace
}  // namespace souk::journal
