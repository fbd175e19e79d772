#include "journal/migrate.h"

#include <gmock/gmock.h>

#include "journal/open.h"
#include "journal/testing/postgres.h"
#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using ::testing::HasSubstr;

std::unique_ptr<ChainedJournal> at(const std::string& where) {
  auto opened = open_chained(where);
  EXPECT_TRUE(opened) << opened.error().message;
  return *std::move(opened);
}

void cut(Journal& journal, std::uint64_t first, std::string_view base) {
  ASSERT_TRUE(journal.save_base(first, base));
  ASSERT_TRUE(journal.cut(first, base::blake2b(base)));
}

TEST(Migrate, ACopyGoesThereAndBackWithBaseAndDigests) {
  const auto url = testing::fresh_schema();
  if (!url) GTEST_SKIP() << "PostgreSQL is not installed";
  testing::Folder folder;
  auto from = at("sqlite:" + folder / "from.db");
  const auto sent = testing::samples(1'200);
  for (const auto& s : sent) ASSERT_TRUE(from->append(s.batch()));
  cut(*from, sent[100].first, "the state before it");
  auto there = at(*url), back = at("sqlite:" + folder / "back.db");
  std::uint64_t told = 0;
  const auto copied = migrate(*from, *there, [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(total, from->next() - 1);
    EXPECT_GT(done, told);
    told = done;
  });
  ASSERT_TRUE(copied) << copied.error().message;
  EXPECT_EQ(copied->events, from->next() - 1);
  EXPECT_GT(told, 0u);
  ASSERT_TRUE(migrate(*there, *back));
  for (auto* journal : {there.get(), back.get()}) {
    EXPECT_EQ(journal->first(), from->first());
    EXPECT_EQ(*journal->base(), "the state before it");
    EXPECT_EQ(*testing::all(*journal, from->first()), *testing::all(*from, from->first()));
    EXPECT_EQ(*journal->chain_before(from->next()), *from->chain_before(from->next()));
  }
  back.reset();
  EXPECT_EQ(*testing::all(*at("sqlite:" + folder / "back.db"), from->first()),
            *testing::all(*from, from->first()));
}

TEST(Migrate, ACopyThatWasInterruptedGoesOnWhereItStopped) {
  testing::Folder folder;
  auto from = at("sqlite:" + folder / "from.db"), to = at("sqlite:" + folder / "to.db");
  const auto sent = testing::samples(40);
  for (std::size_t i = 0; i < sent.size(); ++i) {
    ASSERT_TRUE(from->append(sent[i].batch()));
    if (i < 15) ASSERT_TRUE(to->append(sent[i].batch()));
  }
  const auto done = migrate(*from, *to);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->copied, from->next() - sent[15].first);
  EXPECT_EQ(*testing::all(*to), sent);
  EXPECT_EQ(migrate(*from, *to)->copied, 0u);
}

TEST(Migrate, AnythingElseInTheTargetIsRefusedAndStays) {
  testing::Folder folder;
  auto from = at("sqlite:" + folder / "from.db");
  for (const auto& s : testing::samples(10)) ASSERT_TRUE(from->append(s.batch()));
  auto other = at("sqlite:" + folder / "other.db");
  ASSERT_TRUE(other->append({1, 1, "another market"}));
  const auto refused = migrate(*from, *other);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, base::Code::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr("another history"));
  EXPECT_EQ(other->next(), 2u);
  auto ahead = at("sqlite:" + folder / "ahead.db");
  for (const auto& s : testing::samples(12)) ASSERT_TRUE(ahead->append(s.batch()));
  EXPECT_THAT(migrate(*from, *ahead).error().hint, HasSubstr("other way round"));
  // One that begins after the end of the target cannot go on there.
  auto late = at("sqlite:" + folder / "late.db");
  for (const auto& s : testing::samples(10)) ASSERT_TRUE(late->append(s.batch()));
  cut(*late, late->next(), "state");
  EXPECT_THAT(migrate(*late, *other).error().message, HasSubstr("another history"));
}

}  // namespace
}  // namespace souk::journal
