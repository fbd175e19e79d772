#include "journal/journal.h"

#include <gmock/gmock.h>

#include <memory>

#include "journal/memory.h"
#include "journal/sqlite.h"
#include "journal/testing/postgres.h"
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
  void SetUp() override {
    if (!journal_) GTEST_SKIP() << GetParam().name << " is not installed";
  }
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
                                     }},
                      Implementation{"postgres",
                                     [](const std::string&) -> std::unique_ptr<Journal> {
                                       const auto url = testing::fresh_schema();
                                       if (!url) return nullptr;
                                       return std::move(PostgresJournal::open(*url)->journal);
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

// Drops what comes before `first`, all the way.
void drop(Journal& journal, std::uint64_t first, std::string_view base) {
  ASSERT_TRUE(journal.save_base(first, base));
  ASSERT_TRUE(journal.cut(first, base::blake2b(base)));
  base::Result<bool> more = true;
  while (more && *more) more = journal.trim();
  ASSERT_TRUE(more);
}

TEST_P(JournalContract, BeginsWhereItWasCutAndHandsBackTheStateBeforeThat) {
  const auto sent = testing::samples(60);
  for (const auto& s : sent) ASSERT_TRUE(journal_->append(s.batch()));
  EXPECT_EQ(journal_->first(), 1u);
  EXPECT_EQ(*journal_->base(), "");
  for (const std::size_t kept_from : {20, 21, 50}) {
    const auto first = sent[kept_from].first;
    const auto base = "the state before " + std::to_string(first);
    drop(*journal_, first, base);
    EXPECT_EQ(journal_->first(), first);
    EXPECT_EQ(*journal_->base(), base);
    const std::vector kept(sent.begin() + static_cast<long>(kept_from), sent.end());
    EXPECT_EQ(*testing::all(*journal_, first), kept);
    EXPECT_EQ(*testing::all(*journal_, sent[55].first + 1),
              std::vector(sent.begin() + 55, sent.end()));
  }
}

TEST_P(JournalContract, AnEventThatWasDroppedIsSaidToBe) {
  const auto sent = testing::samples(10);
  for (const auto& s : sent) ASSERT_TRUE(journal_->append(s.batch()));
  drop(*journal_, sent[5].first, "state");
  for (const std::uint64_t from : {std::uint64_t{0}, std::uint64_t{1}, sent[5].first - 1}) {
    const auto found = testing::all(*journal_, from);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().code, base::Code::not_found);
    EXPECT_THAT(found.error().message,
                ::testing::HasSubstr("begins with event " + std::to_string(sent[5].first)));
    EXPECT_THAT(found.error().hint, ::testing::HasSubstr("--archive"));
  }
}

TEST_P(JournalContract, ACutInsideABatchIsRefusedAndChangesNothing) {
  ASSERT_TRUE(journal_->append({1, 5, "five"}));
  ASSERT_TRUE(journal_->append({6, 1, "one"}));
  ASSERT_TRUE(journal_->save_base(3, "state"));
  const auto result = journal_->cut(3, base::blake2b("state"));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, base::Code::invalid);
  EXPECT_EQ(journal_->first(), 1u);
  EXPECT_EQ(testing::all(*journal_)->size(), 2u);
}

TEST_P(JournalContract, AJournalOfWhichAllWasDroppedGoesOn) {
  ASSERT_TRUE(journal_->append({1, 5, "five"}));
  drop(*journal_, 6, "state");
  EXPECT_EQ(journal_->next(), 6u);
  EXPECT_EQ(testing::all(*journal_, 6)->size(), 0u);
  ASSERT_TRUE(journal_->append({6, 2, "two"}));
  EXPECT_EQ(testing::all(*journal_, 6)->size(), 1u);
}

}  // namespace
}  // namespace souk::journal
