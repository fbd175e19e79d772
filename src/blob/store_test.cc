#include "blob/store.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string>
#include <thread>

#include "blob/testing/samples.h"

namespace souk::blob {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

std::unique_ptr<Store> open(const fs::path& path, const StoreOptions& options = {}) {
  auto store = Store::open(path.string(), options);
  CHECK(store.has_value());
  return *std::move(store);
}

fs::path place(const fs::path& root, const Digest& name) {
  const auto hex = to_string(name);
  return root / hex.substr(0, 2) / hex.substr(2);
}

Digest add(Store& store, std::string_view content) {
  const auto name = store.add(content);
  CHECK(name.has_value());
  return name->name;
}

// Content number `seed` that takes 1,000 bytes on disk.
std::string thousand(std::uint64_t seed) { return testing::noise(999, seed); }

TEST(Store, KeepsContentAcrossProcesses) {
  const testing::Folder folder;
  const auto content = testing::prose(100'000);
  const auto name = add(*open(folder / "s"), content);
  const auto again = open(folder / "s", {.sync = true});
  EXPECT_TRUE(again->has(name));
  EXPECT_EQ(again->content(name), content);
  EXPECT_EQ(again->count(), 1u);
  EXPECT_EQ(again->bytes(), again->get(name)->size());
  EXPECT_EQ(decode(*again->get(name), name), content);
}

TEST(Store, WhatIsThereAlreadyIsNotWrittenAgain) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.sync = true});
  const auto encoded = encode("abc");
  EXPECT_EQ(store->put(name_of("abc"), encoded), true);
  EXPECT_EQ(store->put(name_of("abc"), encoded), false);
  EXPECT_EQ(store->count(), 1u);
  EXPECT_EQ(testing::files_below(folder.path()), 1u);
}

TEST(Store, AnAbsentChunkIsNotFoundByName) {
  const testing::Folder folder;
  const auto store = open(folder / "s");
  const auto got = store->get(name_of("x"));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::not_found);
  EXPECT_THAT(got.error().message, HasSubstr(to_string(name_of("x"))));
  EXPECT_FALSE(store->has(name_of("x")));
}

TEST(Store, ALyingPeerCannotPlantContentUnderAnothersName) {
  const testing::Folder folder;
  const auto store = open(folder / "s");
  const auto put = store->put(name_of("good"), encode("evil"));
  ASSERT_FALSE(put);
  EXPECT_EQ(put.error().code, base::Code::damaged);
  EXPECT_EQ(testing::files_below(folder.path()), 0u);
}

TEST(Store, AChunkDamagedOnDiskIsReportedRemovedAndCanBeFetchedAgain) {
  const testing::Folder folder;
  const auto store = open(folder / "s");
  const auto name = add(*store, thousand(1));
  for (const auto& damage : {std::string(1000, '\0'), std::string(), std::string(5 << 20, '\0')}) {
    testing::spill(place(folder / "s", name), damage);
    const auto content = store->content(name);
    ASSERT_FALSE(content);
    EXPECT_EQ(content.error().code, base::Code::damaged);
    EXPECT_FALSE(store->has(name));
    EXPECT_EQ(store->bytes(), 0u);
    EXPECT_EQ(add(*store, thousand(1)), name);
    EXPECT_EQ(store->content(name), thousand(1));
  }
}

TEST(Store, EvictsWhatWasNotUsedForLongest) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.max_bytes = 3'000});
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2)),
             c = add(*store, thousand(3));
  ASSERT_TRUE(store->get(a));
  const auto d = add(*store, thousand(4));
  EXPECT_FALSE(store->has(b));
  EXPECT_TRUE(store->has(a) && store->has(c) && store->has(d));
  EXPECT_EQ(store->bytes(), 3'000u);
  EXPECT_EQ(testing::files_below(folder.path()), 3u);
}

TEST(Store, KnowsWhatItHasWithoutLookingAtTheDisk) {
  const testing::Folder folder;
  const StoreOptions options{.max_bytes = 2'000};
  auto store = open(folder / "s", options);
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2));
  EXPECT_TRUE(store->knows(a) && store->knows(b));
  const auto c = add(*store, thousand(3));
  EXPECT_FALSE(store->knows(a)) << "it was evicted";
  fs::remove(place(folder / "s", b));
  EXPECT_TRUE(store->knows(b)) << "nobody looked";
  EXPECT_FALSE(store->has(b));
  EXPECT_FALSE(store->knows(b));
  store.reset();
  EXPECT_TRUE(open(folder / "s", options)->knows(c));
}

TEST(Store, RemembersTheOrderOfUseWhenReopened) {
  const testing::Folder folder;
  const StoreOptions options{.max_bytes = 3'000};
  auto store = open(folder / "s", options);
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2)),
             c = add(*store, thousand(3));
  EXPECT_EQ(store->put(a, encode(thousand(1))), false);  // A use as well.
  store = open(folder / "s", options);
  add(*store, thousand(4));
  EXPECT_TRUE(store->has(a) && store->has(c));
  EXPECT_FALSE(store->has(b));
}

TEST(Store, PinnedChunksStayAndAFullStoreSaysSo) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.max_bytes = 2'000});
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2));
  auto pin = store->pin({a, a, name_of(thousand(3))});
  const auto c = add(*store, thousand(3));  // Pinned before it came.
  EXPECT_TRUE(store->has(a));
  EXPECT_FALSE(store->has(b));
  const auto refused = store->add(thousand(4));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::exhausted);
  EXPECT_THAT(refused.error().message, HasSubstr("1000 bytes"));
  EXPECT_THAT(refused.error().message, HasSubstr("2000 of its 2000 bytes"));
  EXPECT_TRUE(store->has(a) && store->has(c));  // Nothing was lost by trying.
  {
    const auto second = std::move(pin);
  }
  EXPECT_TRUE(store->add(thousand(4)));
}

TEST(Store, AChunkLargerThanTheStoreEvictsNothing) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.max_bytes = 1'500});
  const auto a = add(*store, thousand(1));
  EXPECT_FALSE(store->add(testing::noise(2'000)));
  EXPECT_TRUE(store->has(a));
}

TEST(Store, TheNumberOfChunksIsBoundedToo) {
  const testing::Folder folder;
  {
    const auto store = open(folder / "s", {.most_chunks = 5});
    for (int i = 0; i < 20; ++i) add(*store, std::to_string(i));
    EXPECT_EQ(store->count(), 5u);
    EXPECT_TRUE(store->has(name_of("19")));
  }
  EXPECT_EQ(open(folder / "s", {.most_chunks = 3})->count(), 3u);
  EXPECT_EQ(testing::files_below(folder.path()), 3u);
}

TEST(Store, SeesWhatAnotherProcessAddsUsesAndRemoves) {
  const testing::Folder folder;
  const auto mine = open(folder / "s", {.max_bytes = 3'000});
  const auto a = add(*mine, thousand(1)), b = add(*mine, thousand(2));
  const auto theirs = open(folder / "s");
  const auto c = add(*theirs, thousand(3));
  EXPECT_EQ(mine->content(c), thousand(3));
  EXPECT_EQ(mine->bytes(), 3'000u);
  EXPECT_TRUE(theirs->has(a));  // Their use counts when we choose what to evict.
  const auto d = add(*mine, thousand(4));
  EXPECT_FALSE(theirs->has(b));
  EXPECT_TRUE(theirs->has(a) && theirs->has(c) && theirs->has(d));
  fs::remove(place(folder / "s", a));
  EXPECT_FALSE(mine->has(a));
  EXPECT_EQ(mine->put(a, encode(thousand(1))), true);
}

TEST(Store, ClearsWhatACrashLeftButNotWhatOthersAreWriting) {
  const testing::Folder folder;
  const auto name = add(*open(folder / "s"), "abc");
  const auto fan = place(folder / "s", name).parent_path();
  testing::spill(fan / "tmp-1-1-1", "old");
  testing::spill(fan / "tmp-2-2-2", "young");
  fs::last_write_time(fan / "tmp-1-1-1",
                      fs::file_time_type::clock::now() - std::chrono::minutes(61));
  const auto torn = place(folder / "s", name_of("torn"));
  testing::spill(torn, "");
  const auto store = open(folder / "s");
  EXPECT_FALSE(fs::exists(fan / "tmp-1-1-1"));
  EXPECT_TRUE(fs::exists(fan / "tmp-2-2-2"));
  EXPECT_FALSE(fs::exists(torn));
  EXPECT_EQ(store->count(), 1u);
}

TEST(Store, AProcessKilledWhileWritingLeavesOnlyWholeChunks) {
  const testing::Folder folder;
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  const auto child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto store = open(folder / "s");
    for (std::uint64_t i = 0;; ++i)
      if (!store->add(testing::noise(100'000, i)) || ::write(pipe[1], "x", 1) != 1) ::_exit(1);
  }
  char byte = 0;
  for (int i = 0; i < 20; ++i) ASSERT_EQ(::read(pipe[0], &byte, 1), 1);
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ::close(pipe[0]);
  ::close(pipe[1]);
  const auto store = open(folder / "s");
  ASSERT_GE(store->count(), 20u);
  for (std::uint64_t i = 0; i < store->count(); ++i) {
    const auto content = testing::noise(100'000, i);
    EXPECT_TRUE(store->content(name_of(content)) == content) << i;
  }
}

TEST(Store, ManyThreadsLoseNothingAndStayWithinTheLimit) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.max_bytes = 20'000});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::uint64_t i = 0; i < 60; ++i) {
        const auto content = thousand((i * 7 + static_cast<std::uint64_t>(t)) % 40);
        const auto pin = store->pin({name_of(content)});
        const auto name = store->add(content);
        ASSERT_TRUE(name) << name.error().message;
        ASSERT_EQ(store->content(name->name), content);
        ASSERT_LE(store->bytes(), 20'000u);
      }
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(testing::files_below(folder.path()) * 1'000, store->bytes());
}

TEST(Store, AFolderThatCannotBeMadeIsNamed) {
  const testing::Folder folder;
  const auto store = Store::open(folder / "no/such/parent");
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message, HasSubstr("no/such/parent"));
}

TEST(Store, TellsOfEachChunkThatIsGoneOnce) {
  const testing::Folder folder;
  const auto store = open(folder / "s", {.max_bytes = 3'000});
  std::vector<Digest> gone;
  store->on_dropped([&](const Digest& name) { gone.push_back(name); });
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2));
  const auto pin = store->pin({b});
  EXPECT_EQ(store->drop(a), true);
  EXPECT_EQ(store->drop(a), false);
  EXPECT_EQ(store->drop(b), false) << "pinned";
  EXPECT_FALSE(store->has(a));
  EXPECT_EQ(gone, (std::vector{a}));
  for (std::uint64_t i = 3; i < 6; ++i) add(*store, thousand(i));  // The first of them makes room.
  EXPECT_EQ(gone, (std::vector{a, name_of(thousand(3))}));
  fs::remove(place(folder / "s", b));
  EXPECT_FALSE(store->has(b));
  EXPECT_EQ(gone.back(), b);
}

TEST(Store, IsCleanedOfTheOldestThatNobodyNeeds) {
  const testing::Folder folder;
  const auto store = open(folder / "s");
  const auto a = add(*store, thousand(1)), b = add(*store, thousand(2)),
             c = add(*store, thousand(3));
  const auto pin = store->pin({a});
  EXPECT_EQ(store->clean(500), 1'000u);
  EXPECT_FALSE(store->has(b));
  EXPECT_TRUE(store->has(c));
  EXPECT_EQ(store->clean(1'000'000), 1'000u);
  EXPECT_TRUE(store->has(a));
  EXPECT_EQ(store->size_of(a), 1'000u);
  EXPECT_FALSE(store->size_of(b));
}

TEST(Store, LeavesTheReserveOfTheDiskFree) {
  const testing::Folder folder;
  const auto name = add(*open(folder / "s"), thousand(1));
  const auto store = open(folder / "s", {.reserve_bytes = 1ull << 60});
  const auto refused = store->add(thousand(2));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::unavailable);
  EXPECT_THAT(refused.error().message, HasSubstr("kept free"));
  EXPECT_TRUE(store->content(name)) << "what is there can be read";
  EXPECT_EQ(store->clean(1), 1'000u) << "and removed";
}

}  // namespace
}  // namespace souk::blob
