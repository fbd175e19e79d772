#include "blob/transfer.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "blob/folder.h"
#include "blob/testing/memory_remote.h"
#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using ::testing::HasSubstr;
using testing::MemoryServer;
namespace fs = std::filesystem;

TransferOptions quick() { return {.retry_wait = std::chrono::milliseconds(0)}; }

// A folder of `files` different small files, packed here, and a store elsewhere.
struct TwoStores {
  testing::Folder folder;
  std::unique_ptr<Store> local = *Store::open(folder / "local");
  std::unique_ptr<Store> other = *Store::open(folder / "other");
  MemoryServer server;
  Packed packed;

  explicit TwoStores(int files = 20) {
    fs::create_directory(folder / "in");
    for (int i = 0; i < files; ++i)
      testing::spill(folder / "in" / std::to_string(i), "file " + std::to_string(i));
    repack();
  }
  void repack() { packed = *pack(folder / "in", *local); }
  [[nodiscard]] Result<TransferStats> up(const TransferOptions& options = quick()) {
    return upload(packed.root, *local, server.factory(), options);
  }
  [[nodiscard]] Result<Downloaded> down(const TransferOptions& options = quick()) {
    return download(packed.root, *other, server.factory(), options);
  }
};

TEST(Transfer, ANewVersionOfALargeFileSendsLittleMoreThanWhatIsNew) {
  TwoStores w;
  auto content = testing::noise(48 << 20);
  testing::spill(w.folder / "in/large", content);
  w.repack();
  ASSERT_TRUE(w.up());
  content.insert(content.size() / 2, "bytes that were not there before");
  testing::spill(w.folder / "in/large", content);
  w.repack();
  const auto sent = w.up();
  ASSERT_TRUE(sent) << sent.error().message;
  EXPECT_LE(sent->chunks_moved, 4u);  // The manifest's too.
  EXPECT_LE(sent->bytes_moved, 3 * kChunkBytes);
  const auto got = w.down();
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_TRUE(unpack(got->manifest, *w.other, w.folder / "out"));
  EXPECT_TRUE(testing::slurp(w.folder / "out/large") == content);
}

TEST(Transfer, AFolderArrivesWholeOnAnotherMachine) {
  TwoStores w;
  testing::spill(w.folder / "in/large", testing::noise(2 * kChunkBytes + 1));
  testing::spill(w.folder / "in/copy", "file 3");
  w.repack();
  const auto sent = w.up();
  ASSERT_TRUE(sent) << sent.error().message;
  // 20, those of the large one and the manifest; the copy is no chunk of its own.
  const auto large = w.packed.manifest.entries.back().chunks.size();
  EXPECT_GE(large, 3u);
  EXPECT_EQ(sent->chunks_moved, 21u + large);
  EXPECT_EQ(w.server.connections, 4);
  const auto got = w.down();
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->stats.chunks_moved, 21u + large);
  EXPECT_EQ(got->stats.bytes_moved, sent->bytes_moved);
  ASSERT_TRUE(unpack(got->manifest, *w.other, w.folder / "out"));
  EXPECT_EQ(pack(w.folder / "out", *w.other)->root, w.packed.root);
}

TEST(Transfer, TheManifestGoesLastSoThatItsPresenceMeansSomething) {
  TwoStores w;
  ASSERT_TRUE(w.up());
  EXPECT_EQ(w.server.order.back(), w.packed.root);
}

TEST(Transfer, ASecondUploadSendsOnlyWhatChanged) {
  TwoStores w;
  ASSERT_TRUE(w.up());
  w.server.puts = 0;
  const auto again = w.up();
  ASSERT_TRUE(again);
  EXPECT_EQ(w.server.puts, 0);
  EXPECT_EQ(again->chunks_skipped, 21u);
  testing::spill(w.folder / "in/3", "changed");
  w.repack();
  ASSERT_TRUE(w.up());
  EXPECT_EQ(w.server.puts, 2);  // The file and the manifest.
}

TEST(Transfer, ContentEvictedThereIsSentAgainThoughTheManifestIsThere) {
  TwoStores w;
  ASSERT_TRUE(w.up());
  w.server.chunks.erase(name_of("file 7"));
  w.server.puts = 0;
  ASSERT_TRUE(w.up());
  EXPECT_EQ(w.server.puts, 1);
  EXPECT_TRUE(w.server.chunks.contains(name_of("file 7")));
}

TEST(Transfer, ABrokenConnectionCostsOnlyTheRest) {
  TwoStores w;
  w.server.dies_after = 12;
  const auto cut = w.up();
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, base::Code::unavailable);
  const auto arrived = w.server.chunks.size();
  EXPECT_GT(arrived, 5u);
  EXPECT_FALSE(w.server.chunks.contains(w.packed.root));
  w.server.dies_after.reset();
  w.server.puts = 0;
  const auto rest = w.up();
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->chunks_skipped, arrived);
  EXPECT_EQ(static_cast<std::size_t>(w.server.puts), 21 - arrived);

  MemoryServer fresh;
  fresh.chunks = w.server.chunks;
  fresh.dies_after = 10;
  EXPECT_FALSE(download(w.packed.root, *w.other, fresh.factory(), quick()));
  EXPECT_EQ(w.other->count(), 10u);
  fresh.dies_after.reset();
  fresh.gets = 0;
  const auto got = download(w.packed.root, *w.other, fresh.factory(), quick());
  ASSERT_TRUE(got);
  EXPECT_EQ(fresh.gets, 11);
  EXPECT_EQ(got->stats.chunks_skipped, 10u);
}

TEST(Transfer, AFlakyConnectionIsTriedAgain) {
  TwoStores w;
  w.server.fails_every = 3;
  ASSERT_TRUE(w.up({.connections = 1, .retry_wait = std::chrono::milliseconds(0)}));
  EXPECT_GT(w.server.puts, 21);
  const auto got = w.down({.connections = 1, .retry_wait = std::chrono::milliseconds(0)});
  ASSERT_TRUE(got) << got.error().message;
}

TEST(Transfer, ADeadOneIsTriedThreeTimesMoreAndNoMore) {
  TwoStores w;
  w.server.dies_after = 0;
  ASSERT_FALSE(w.up());
  EXPECT_EQ(w.server.asks, 4);
  ASSERT_FALSE(w.down());
  EXPECT_EQ(w.server.gets, 4);
}

TEST(Transfer, ACorruptedChunkIsRefusedByNameAndNotKept) {
  TwoStores w;
  ASSERT_TRUE(w.up());
  for (const auto& bad : {name_of("file 5"), w.packed.root}) {
    w.server.corrupts = bad;
    const auto other = *Store::open(w.folder / ("for-" + to_string(bad)));
    const auto got = download(w.packed.root, *other, w.server.factory(), quick());
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, base::Code::damaged);
    EXPECT_THAT(got.error().message, HasSubstr(to_string(bad)));
    EXPECT_FALSE(other->has(bad));
  }
}

TEST(Transfer, DamageOnOurOwnDiskIsSaidToBeOurs) {
  TwoStores w;
  const auto hex = to_string(name_of("file 5"));
  testing::spill(w.folder / "local" / hex.substr(0, 2) / hex.substr(2), std::string("\0wrong", 6));
  const auto sent = w.up();
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, base::Code::damaged);
  EXPECT_THAT(sent.error().message, HasSubstr("removed from the store"));
  EXPECT_FALSE(w.server.chunks.contains(w.packed.root));
}

TEST(Transfer, ManyNamesAreAskedInBatches) {
  TwoStores w(2'500);
  ASSERT_TRUE(w.up());
  EXPECT_EQ(w.server.asks, 4);  // Three for the chunks, one for the manifest.
  EXPECT_EQ(w.server.most_asked, 1'000u);
}

TEST(Transfer, ConnectionsWorkSideBySideButEachForItself) {
  TwoStores w;
  w.server.waits_for_concurrent = 3;
  ASSERT_TRUE(w.up({.connections = 3}));
  EXPECT_EQ(w.server.most_concurrent, 3u);
  EXPECT_EQ(w.server.connections, 3);
  for (const std::size_t bad : {0, 17}) {
    const auto refused = w.up({.connections = bad});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, base::Code::invalid);
  }
}

TEST(Transfer, ProgressEndsAtTheTotalAndCountsWhatWasSkipped) {
  TwoStores w;
  for (const std::uint64_t skipped : {0, 21}) {
    Progress last;
    auto options = quick();
    options.on_progress = [&](const Progress& p) {
      EXPECT_GE(p.bytes_done, last.bytes_done);
      EXPECT_LE(p.bytes_done, p.bytes_total);
      last = p;
    };
    ASSERT_TRUE(w.up(options));
    EXPECT_EQ(last.bytes_done, last.bytes_total);
    EXPECT_EQ(last.chunks_skipped, skipped);
    last = {};
    ASSERT_TRUE(w.down(options));
    EXPECT_EQ(last.bytes_done, last.bytes_total);
    EXPECT_EQ(last.chunks_skipped, skipped);
  }
}

TEST(Transfer, AStoreTooSmallForTheFolderSaysSo) {
  TwoStores w;
  ASSERT_TRUE(w.up());
  const auto small = *Store::open(w.folder / "small", {.most_chunks = 5});
  const auto got = download(w.packed.root, *small, w.server.factory(), quick());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::exhausted);
}

TEST(Transfer, AFolderThatNobodyHasIsNotFound) {
  TwoStores w;
  const auto got = w.down();
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::not_found);
  const auto sent = upload(name_of("nothing"), *w.local, w.server.factory(), quick());
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, base::Code::not_found);
}

TEST(Transfer, AChunkThatIsNoManifestIsRefused) {
  TwoStores w;
  w.server.chunks[name_of("text")] = encode("text");
  const auto got = download(name_of("text"), *w.other, w.server.factory(), quick());
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::invalid);
}

TEST(Transfer, AFolderThatClaimsTooMuchIsRefusedBeforeItsChunksAreFetched) {
  TwoStores w;
  const auto zeros = w.local->add(std::string(kChunkBytes, '\0'))->name;
  const Manifest bomb{
      {{.path = "zeros", .size = 1'000 * kChunkBytes, .chunks = std::vector(1'000, zeros)}}};
  w.packed.root = w.local->add(*to_bytes(bomb))->name;
  ASSERT_TRUE(w.up());
  auto options = quick();
  options.most_bytes = 1 << 30;
  const auto got = w.down(options);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::too_large);
  EXPECT_EQ(w.server.gets, 1) << "only the manifest";
  EXPECT_TRUE(w.down()) << "with a limit that allows it";
}

}  // namespace
}  // namespace souk::blob
