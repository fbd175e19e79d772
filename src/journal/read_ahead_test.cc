#include "journal/read_ahead.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "journal/memory.h"

namespace souk::journal {
namespace {

// `batches` batches of three events, of which some are larger than what is read ahead.
std::unique_ptr<Journal> journal_of(std::uint64_t batches) {
  auto journal = std::make_unique<MemoryJournal>();
  for (std::uint64_t i = 0; i < batches; ++i) {
    const std::string bytes(i % 400 == 399 ? 9 << 20 : 1 + i % 7'000,
                            static_cast<char>('a' + i % 26));
    EXPECT_TRUE(journal->append({journal->next(), 3, bytes}));
  }
  return journal;
}

TEST(ReplayAhead, EveryBatchComesOnceAndInOrderOnTheCallersThread) {
  const auto journal = journal_of(1'000);
  const auto me = std::this_thread::get_id();
  for (const std::uint64_t from : {1, 2'000, 3'001}) {
    std::vector<std::pair<std::uint64_t, std::string>> expected, seen;
    const auto keep = [](auto& list) {
      return [&](const Batch& b) -> base::Result<> {
        list.emplace_back(b.first, b.bytes.substr(0, 100));
        return {};
      };
    };
    ASSERT_TRUE(journal->replay(from, keep(expected)));
    const auto keep_seen = keep(seen);
    ASSERT_TRUE(replay_ahead(*journal, from, [&](const Batch& b) {
      EXPECT_EQ(std::this_thread::get_id(), me);
      return keep_seen(b);
    }));
    EXPECT_EQ(seen, expected) << from;
  }
}

TEST(ReplayAhead, TheErrorOfWhoeverUsesItEndsIt) {
  const auto journal = journal_of(1'000);
  int visited = 0;
  const auto done = replay_ahead(*journal, 1, [&](const Batch&) -> base::Result<> {
    if (++visited < 5) return {};
    return base::fail(base::Code::damaged, "enough");
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "enough");
  EXPECT_EQ(visited, 5);
  EXPECT_THROW(
      (void)replay_ahead(*journal, 1,
                         [](const Batch&) -> base::Result<> { throw std::runtime_error("no"); }),
      std::runtime_error);
}

// Fails after its first batches, as a damaged journal does.
class Damaged final : public History {
 public:
  [[nodiscard]] std::uint64_t next() const override { return 100; }
  [[nodiscard]] std::uint64_t first() const override { return 1; }
  [[nodiscard]] base::Result<> replay(std::uint64_t, const Visit& visit) override {
    for (std::uint64_t i = 1; i <= 10; ++i) SOUK_TRY(visit({i, 1, "x"}));
    return base::fail(base::Code::damaged, "event 11 is damaged");
  }
};

TEST(ReplayAhead, WhatWasGoodBeforeDamageIsUsedAndTheDamageTold) {
  Damaged history;
  std::uint64_t visited = 0;
  const auto done = replay_ahead(history, 1, [&](const Batch& b) -> base::Result<> {
    EXPECT_EQ(b.first, ++visited);
    return {};
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "event 11 is damaged");
  EXPECT_EQ(visited, 10u);
}

}  // namespace
}  // namespace souk::journal
