#include "journal/sqlite.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "journal/testing/fault_vfs.h"
#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class Sqlite : public ::testing::Test {
 protected:
  void fill(std::size_t n) {
    sent_ = testing::samples(n);
    auto opened = SqliteJournal::open(path_);
    for (const auto& s : sent_) ASSERT_TRUE(opened->journal->append(s.batch()));
  }

  void edit(const std::string& sql) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(path_.c_str(), &db), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(db);
    sqlite3_close(db);
  }

  testing::Folder folder_;
  std::string path_ = folder_ / "journal.db";
  std::vector<testing::Sample> sent_;
};

TEST_F(Sqlite, ComesBackAfterACleanCloseWithNoLogLeft) {
  fill(50);
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal"));
  const auto opened = SqliteJournal::open(path_);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->note, "");
  EXPECT_EQ(opened->journal->next(), sent_.back().batch().end());
  EXPECT_EQ(*testing::all(*opened->journal), sent_);
}

TEST_F(Sqlite, TwoWritersAreRefusedAndTheErrorNamesTheFolder) {
  const auto first = SqliteJournal::open(path_);
  ASSERT_TRUE(first);
  const auto second = SqliteJournal::open(path_);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::conflict);
  EXPECT_THAT(second.error().message,
              AllOf(HasSubstr(folder_.path().string()), HasSubstr(std::to_string(::getpid()))));
}

TEST_F(Sqlite, TheFolderIsFreeAgainWhenTheWriterIsGone) {
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(SqliteJournal::open(path_));
}

TEST_F(Sqlite, AReaderBesideALiveWriterSeesTheMomentOfOpening) {
  auto writer = SqliteJournal::open(path_);
  ASSERT_TRUE(writer->journal->append({1, 1, "one"}));
  const auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_TRUE(reader) << reader.error().message;
  ASSERT_TRUE(writer->journal->append({2, 1, "two"}));
  EXPECT_EQ(reader->journal->next(), 2u);
  EXPECT_EQ(testing::all(*reader->journal)->size(), 1u);
  EXPECT_EQ(testing::all(*SqliteJournal::open(path_, {.read_only = true})->journal)->size(), 2u);
  ASSERT_TRUE(writer->journal->append({3, 1, "three"}));
}

TEST_F(Sqlite, AWriterMayStartWhileAReaderIsOpen) {
  fill(3);
  const auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_TRUE(reader);
  EXPECT_TRUE(SqliteJournal::open(path_));
}

TEST_F(Sqlite, WhatLooksLikeDamageUnderAWriterThatCameLaterIsNotCalledDamage) {
  fill(300);
  edit("UPDATE batch SET bytes=x'00' WHERE first=" + std::to_string(sent_[20].first));
  const auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_TRUE(reader);
  EXPECT_EQ(testing::all(*reader->journal).error().code, base::Code::damaged);
  const auto writer = SqliteJournal::open(path_);
  ASSERT_TRUE(writer);
  EXPECT_EQ(testing::all(*reader->journal).error().code, base::Code::unavailable);
}

TEST_F(Sqlite, ReadingChangesNothingWithOrWithoutALog) {
  fill(20);
  auto files = testing::contents(folder_.path());
  EXPECT_EQ(testing::all(*SqliteJournal::open(path_, {.read_only = true})->journal)->size(), 20u);
  EXPECT_TRUE(testing::contents(folder_.path()) == files);

  auto writer = SqliteJournal::open(path_);
  ASSERT_TRUE(writer->journal->append({writer->journal->next(), 1, "in the log"}));
  files = testing::contents(folder_.path());
  files.erase("journal.db-shm");  // As a crash would leave it on a fresh machine.
  const testing::Folder copy;
  testing::put(copy.path(), files);
  const auto reader = SqliteJournal::open(copy / "journal.db", {.read_only = true});
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ(testing::all(*reader->journal)->size(), 21u);
  EXPECT_TRUE(testing::contents(copy.path()) == files);
}

TEST_F(Sqlite, AReaderFindsNoJournalWhereThereIsNone) {
  const auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, base::Code::not_found);
  EXPECT_TRUE(testing::contents(folder_.path()).empty());
}

TEST_F(Sqlite, AnUnknownFormatIsRefusedByNumber) {
  fill(3);
  edit("UPDATE meta SET format=3");
  for (const bool read_only : {true, false}) {
    const auto opened = SqliteJournal::open(path_, {.read_only = read_only});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, base::Code::invalid);
    EXPECT_THAT(opened.error().message, AllOf(HasSubstr(path_), HasSubstr("format 3")));
    EXPECT_THAT(opened.error().hint, HasSubstr("formats 1 and 2"));
  }
}

TEST_F(Sqlite, AnotherProgramsDatabaseIsNotTouched) {
  edit("CREATE TABLE other(x); INSERT INTO other VALUES(1)");
  const auto before = testing::slurp(path_);
  const auto opened = SqliteJournal::open(path_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("is not a journal"));
  EXPECT_TRUE(testing::slurp(path_) == before);
}

TEST_F(Sqlite, AMissingFolderIsNamed) {
  const auto opened = SqliteJournal::open(folder_ / "nowhere/journal.db");
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("nowhere/journal.db"));
}

// What a tail may look like, and what is only called one.
TEST_F(Sqlite, AChangedLastRowIsCutAndTheNoteSaysFromWhichEvent) {
  fill(10);
  const auto last = sent_.back();
  edit("UPDATE batch SET bytes=x'00' WHERE first=(SELECT max(first) FROM batch)");
  const auto before = testing::contents(folder_.path());
  const auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_TRUE(reader);
  EXPECT_THAT(reader->note, AllOf(HasSubstr(path_), HasSubstr("would cut"),
                                  HasSubstr("from event " + std::to_string(last.first))));
  EXPECT_EQ(testing::all(*reader->journal)->size(), 9u);
  EXPECT_TRUE(testing::contents(folder_.path()) == before);

  auto writer = SqliteJournal::open(path_);
  ASSERT_TRUE(writer);
  EXPECT_THAT(writer->note, HasSubstr("from event " + std::to_string(last.first)));
  EXPECT_EQ(writer->journal->next(), last.first);
  ASSERT_TRUE(writer->journal->append(last.batch()));
  writer->journal.reset();
  const auto again = SqliteJournal::open(path_);
  EXPECT_EQ(again->note, "");
  EXPECT_EQ(*testing::all(*again->journal), sent_);
}

struct Middle {
  const char* name;
  const char* sql;  // ?: the first event of a batch in the middle.
};

class SqliteMiddle : public Sqlite, public ::testing::WithParamInterface<Middle> {};

INSTANTIATE_TEST_SUITE_P(
    All, SqliteMiddle,
    ::testing::Values(Middle{"bytes", "UPDATE batch SET bytes=x'00' WHERE first=?"},
                      Middle{"count", "UPDATE batch SET count=count+1 WHERE first=?"},
                      Middle{"count_absurd", "UPDATE batch SET count=-1 WHERE first=?"},
                      Middle{"chain", "UPDATE batch SET chain=zeroblob(32) WHERE first=?"},
                      Middle{"chain_short", "UPDATE batch SET chain=x'00' WHERE first=?"},
                      Middle{"removed", "DELETE FROM batch WHERE first=?"},
                      Middle{"renumbered", "UPDATE batch SET first=first+1000000 WHERE first=?"}),
    [](const auto& info) { return info.param.name; });

TEST_P(SqliteMiddle, HaltsAndNamesTheEventAndTheFile) {
  fill(40);
  // In the middle, and second to last: the nearest that is not the tail.
  const auto good = testing::contents(folder_.path());
  for (const std::size_t at : {std::size_t{0}, std::size_t{20}, sent_.size() - 2}) {
    testing::put(folder_.path(), good);
    const auto event = std::to_string(sent_[at].first);
    std::string sql = GetParam().sql;
    edit(sql.replace(sql.find('?'), 1, event));
    auto opened = SqliteJournal::open(path_);
    // Found at once near the end, else by the replay that reaches it.
    auto result =
        opened ? opened->journal->replay(1, [](const Batch&) -> base::Result<> { return {}; })
               : base::Result<>(std::unexpected(opened.error()));
    ASSERT_FALSE(result) << at;
    EXPECT_EQ(result.error().code, base::Code::damaged);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr(path_), HasSubstr("event " + event))) << at;
  }
}

TEST_F(Sqlite, RowsThatVanishedFromTheEndAreMissed) {
  fill(10);
  edit("DELETE FROM batch WHERE first=(SELECT max(first) FROM batch)");
  const auto opened = SqliteJournal::open(path_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::damaged);
  EXPECT_THAT(opened.error().message, HasSubstr("event " + std::to_string(sent_.back().first)));
}

TEST_F(Sqlite, AWrongRecordOfTheEndIsRewritten) {
  fill(10);
  for (const auto* sql : {"UPDATE meta SET next=next+64", "UPDATE meta SET chain=zeroblob(32)"}) {
    edit(sql);
    const auto opened = SqliteJournal::open(path_);
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_THAT(opened->note, HasSubstr("rewritten"));
    EXPECT_EQ(*testing::all(*opened->journal), sent_);
  }
  EXPECT_EQ(SqliteJournal::open(path_)->note, "");
}

TEST_F(Sqlite, MoreBadRowsThanAPageHoldsAreNoTail) {
  fill(300);
  edit("UPDATE batch SET chain=zeroblob(32) WHERE first > 100");
  const auto opened = SqliteJournal::open(path_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::damaged);
  EXPECT_THAT(opened.error().message, HasSubstr("more than 128 rows"));
}

TEST_F(Sqlite, AReplayFromASnapshotChecksWhatItPasses) {
  fill(300);  // More than open() looks at.
  edit("UPDATE batch SET bytes=x'00' WHERE first=" + std::to_string(sent_[20].first));
  auto opened = SqliteJournal::open(path_);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(testing::all(*opened->journal, sent_[21].first));
  EXPECT_FALSE(testing::all(*opened->journal, sent_[20].first));
}

}  // namespace
}  // namespace souk::journal
