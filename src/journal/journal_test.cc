#include "journal/journal.h"

#include <gmock/gmock.h>

#include <memory>

#include "journal/memory.h"
#include "journal/sqlite.h"
#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

// Every implementation keeps the contract of journal.h.
struct Implementation {
  const char* name;
  std::unique_ptr<Journal> (*make)(const std::string& path);
};

void PrintTo(const Implementation& kind, std::ostream* out) { *out << kind.name; }

class JournalContract : public ::testing::TestWithParam<Implementation> {
 protected:
  testing::Folder folder_;
  std::unique_ptr<Journal> journal_ = GetParam().make(folder_ / "journal.db");
};

INSTANTIATE_TEST_SUITE_P(
    All, JournalContract,
    ::testing::Values(Implementation{"memory",
                                     [](const std::string&) -> std::unique_ptr<Journal> {
                                       return std::make_unique<MemoryJournal>();
                                     }},
                      Implementation{"sqlite",
                                     [](const std::string& path) {
                                       return std::move(SqliteJournal::open(path)->journal);
                                     }}),
    [](const auto& info) { return info.param.name; });

TEST_P(JournalContract, ReturnsWhatWasAppendedInOrder) {
  EXPECT_EQ(journal_->next(), 1u);
  EXPECT_EQ(testing::all(*journal_)->size(), 0u);
  const auto sent = testing::samples(100);
  for (const auto& s : sent) {
    ASSERT_TRUE(journal_->append(s.batch()));
    EXPECT_EQ(journal_->next(), s.batch().end());
  }
  EXPECT_EQ(*testing::all(*journal_), sent);
}

TEST_P(JournalContract, ReplayFromAnyEventBeginsWithTheBatchThatHoldsIt) {
  const auto sent = testing::samples(30);
  for (const auto& s : sent) ASSERT_TRUE(journal_->append(s.batch()));
  for (std::uint64_t from = 0; from <= journal_->next() + 2; ++from) {
    std::vector<testing::Sample> expected;
    for (const auto& s : sent)
      if (s.batch().end() > from) expected.push_back(s);
    EXPECT_EQ(*testing::all(*journal_, from), expected) << from;
  }
}

TEST_P(JournalContract, ReplayStopsAtTheVisitorsError) {
  for (const auto& s : testing::samples(5)) ASSERT_TRUE(journal_->append(s.batch()));
  int seen = 0;
  const auto result = journal_->replay(1, [&](const Batch&) -> base::Result<> {
    if (++seen == 3) return base::fail(base::Code::conflict, "enough");
    return {};
  });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().message, "enough");
  EXPECT_EQ(seen, 3);
  EXPECT_EQ(testing::all(*journal_)->size(), 5u);
}

TEST_P(JournalContract, ABatchBeyondTheBoundIsAnErrorAndChangesNothing) {
  const std::string large(kMostBatchBytes + 1, 'x');
  const auto result = journal_->append({1, 1, large});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::too_large);
  EXPECT_EQ(journal_->next(), 1u);
  EXPECT_TRUE(journal_->append({1, 1, "small"}));
}

TEST_P(JournalContract, AWrongNumberEndsTheProcessBeforeItReachesTheJournal) {
  ASSERT_TRUE(journal_->append({1, 2, "two"}));
  EXPECT_DEATH(std::ignore = journal_->append({2, 1, "late"}), "batch.first == next");
  EXPECT_DEATH(std::ignore = journal_->append({4, 1, "early"}), "batch.first == next");
  EXPECT_DEATH(std::ignore = journal_->append({3, 0, "none"}), "batch.count > 0");
}

}  // namespace
}  // namespace souk::journal
