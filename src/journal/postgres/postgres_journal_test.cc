#include "journal/postgres/postgres_journal.h"

#include <gmock/gmock.h>

#include <thread>

#include "journal/archive.h"
#include "journal/open.h"
#include "journal/testing/postgres.h"
#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using base::Code;
using ::testing::HasSubstr;
using ::testing::Not;

// What every journal does is in journal_test.cc.
class PostgresJournalTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto url = testing::fresh_schema();
    if (!url) GTEST_SKIP() << "PostgreSQL is not installed";
    url_ = *url;
  }
  std::unique_ptr<PostgresJournal> open() { return testing::open_postgres(url_); }
  PgRows run(const char* sql) {
    auto db = PgConnection::make(url_);
    auto rows = db->run(sql);
    EXPECT_TRUE(rows) << rows.error().message;
    return *std::move(rows);
  }
  // Appends from where the journal ends.
  static std::vector<testing::Sample> fill(Journal& journal, std::size_t n) {
    auto sent = testing::samples(n);
    for (const auto& s : sent) EXPECT_TRUE(journal.append(s.batch()));
    return sent;
  }

  std::string url_;
};

TEST_F(PostgresJournalTest, AnotherProcessFindsWhatWasAppendedAndTheSameChain) {
  testing::Folder folder;
  const auto sent = fill(*open(), 50);
  EXPECT_EQ(*testing::all(*open()), sent);
  const auto file = open_chained("sqlite:" + folder / "journal.db");
  for (const auto& s : sent) ASSERT_TRUE((*file)->append(s.batch()));
  const auto found = open_chained(url_, {.read_only = true});
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*(*found)->chain_before(sent.back().batch().end()),
            *(*file)->chain_before(sent.back().batch().end()));
  EXPECT_GT(bytes_on_disk(url_), 10'000u);
}

TEST_F(PostgresJournalTest, AReaderFindsNoJournalWhereNobodyMadeOne) {
  const auto found = journal::open(url_, {.read_only = true});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, Code::not_found);
  EXPECT_THAT(found.error().message, HasSubstr("there is no journal in postgresql://127.0.0.1"));
}

TEST_F(PostgresJournalTest, ErrorsNeverShowThePassword) {
  const base::testing::Port port;
  const auto away =
      journal::open(fmt::format("postgres://u:hunter2@127.0.0.1:{}/db", port.number()));
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code, Code::unavailable);
  EXPECT_THAT(away.error().message, Not(HasSubstr("hunter2")));
  const auto wrong = journal::open("postgres://u:hunter2@host:port/db?nonsense=1");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message + wrong.error().hint, Not(HasSubstr("hunter2")));
}

// The fence: whoever comes second at a number is refused by the database.
TEST_F(PostgresJournalTest, AWriterThatWasOvertakenIsRefusedAndChangesNothing) {
  auto old = open();
  fill(*old, 10);
  auto fresh = open();
  const auto at = fresh->next();
  ASSERT_TRUE(fresh->append({at, 1, "I lead"}));
  const auto refused = old->append({at, 3, "I still lead"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::conflict);
  EXPECT_THAT(refused.error().message, HasSubstr(fmt::format("event {} of ", at)));
  EXPECT_THAT(refused.error().message, HasSubstr("another server"));
  // Not even the same bytes would be taken for its own: the row before is another's from now on.
  EXPECT_EQ(old->append({at, 3, "again"}).error().code, Code::unavailable);
  ASSERT_TRUE(fresh->append({at + 1, 1, "more"}));
  EXPECT_EQ(testing::all(*open())->size(), 12u);
}

// The rows that another wrote at its numbers are removed by then: still they are not free.
TEST_F(PostgresJournalTest, AWriterThatIsOvertakenByACutIsRefused) {
  auto old = open(), older = open();
  auto fresh = open();
  const auto sent = fill(*fresh, 10);
  ASSERT_TRUE(fresh->save_base(sent[5].first, "state"));
  ASSERT_TRUE(fresh->cut(sent[5].first, base::blake2b("state")));
  while (*fresh->trim()) {
  }
  EXPECT_EQ(old->append({1, 1, "I still lead"}).error().code, Code::conflict);
  const Batch batches[] = {{1, 1, "I still"}, {2, 1, "lead"}};
  EXPECT_EQ(older->append_all(batches).error().code, Code::conflict);
  EXPECT_EQ(run("SELECT count(*) FROM souk_batches").number(0, 0), 5);
  ASSERT_TRUE(fresh->append({fresh->next(), 1, "more"}));
}

TEST_F(PostgresJournalTest, OfTwoWritersAtOneNumberOneIsTaken) {
  constexpr int writers = 4, rounds = 25;
  std::atomic<int> taken = 0, refused = 0;
  for (int round = 0; round < rounds; ++round) {
    std::vector<std::unique_ptr<PostgresJournal>> journals;
    for (int i = 0; i < writers; ++i) journals.push_back(open());
    std::vector<std::jthread> threads;
    for (int i = 0; i < writers; ++i)
      threads.emplace_back([&, i] {
        auto& journal = *journals[static_cast<std::size_t>(i)];
        const auto done = journal.append({journal.next(), 1, std::string(1, char('a' + i))});
        ++(done ? taken : refused);
        if (!done) EXPECT_EQ(done.error().code, Code::conflict) << done.error().message;
      });
  }
  EXPECT_EQ(taken, rounds);
  EXPECT_EQ(refused, rounds * (writers - 1));
  EXPECT_EQ(testing::all(*open())->size(), static_cast<std::size_t>(rounds));
}

TEST_F(PostgresJournalTest, AReaderGoesOnWithWhatOthersAppend) {
  auto writer = open();
  auto sent = fill(*writer, 5);
  auto follower = open();
  std::vector<testing::Sample> seen = *testing::all(*follower);
  const auto visit = [&](const Batch& b) -> base::Result<> {
    seen.push_back({b.first, b.count, std::string(b.bytes)});
    return {};
  };
  ASSERT_TRUE(follower->read_on(visit));
  EXPECT_EQ(seen, sent);
  for (int i = 0; i < 20; ++i) {
    sent.push_back({writer->next(), 2, std::string(100, char('a' + i))});
    ASSERT_TRUE(writer->append(sent.back().batch()));
    // However long it is told to wait, it is woken.
    while (follower->next() < writer->next()) {
      ASSERT_TRUE(follower->await_append(base::minutes(1)));
      ASSERT_TRUE(follower->read_on(visit));
    }
  }
  EXPECT_EQ(seen, sent);
  // Then it may lead.
  ASSERT_TRUE(follower->append({follower->next(), 1, "mine"}));
  EXPECT_EQ(writer->append({writer->next(), 1, "late"}).error().code, Code::conflict);
}

TEST_F(PostgresJournalTest, ARowThatChangedIsDamageThatNamesTheEvent) {
  const auto sent = fill(*open(), 20);
  const auto& victim = sent[7];
  run(fmt::format("UPDATE souk_batches SET bytes = bytes || 'x' WHERE first = {}", victim.first)
          .c_str());
  auto journal = open();  // Its end is good.
  const auto read = testing::all(*journal);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::damaged);
  EXPECT_THAT(read.error().message,
              HasSubstr(fmt::format("damaged at event {}: its row", victim.first)));
  EXPECT_EQ(testing::all(*journal, sent[9].first)->size(), 11u);
  run(fmt::format("DELETE FROM souk_batches WHERE first = {}", victim.first).c_str());
  EXPECT_THAT(testing::all(*journal).error().message, HasSubstr("the next row begins at event"));
  run("UPDATE souk_batches SET chain = 'x' WHERE first = (SELECT max(first) FROM souk_batches)");
  EXPECT_EQ(journal::open(url_).error().code, Code::damaged);
}

TEST_F(PostgresJournalTest, ABaseThatIsMissingOrAnotherIsDamage) {
  const auto sent = fill(*open(), 10);
  {
    auto journal = open();
    ASSERT_TRUE(journal->save_base(sent[5].first, "state"));
    ASSERT_TRUE(journal->cut(sent[5].first, base::blake2b("state")));
  }
  EXPECT_EQ(*open()->base(), "state");
  run("UPDATE souk_bases SET bytes = 'other'");
  EXPECT_THAT(open()->base().error().message, HasSubstr("not the one whose hash"));
  run("DELETE FROM souk_bases");
  EXPECT_EQ(open()->base().error().code, Code::damaged);
}

TEST_F(PostgresJournalTest, ACutOfAWriterThatWasOvertakenIsRefused) {
  auto old = open();
  const auto sent = fill(*old, 30);
  auto fresh = open();
  ASSERT_TRUE(fresh->save_base(sent[20].first, "later"));
  ASSERT_TRUE(fresh->cut(sent[20].first, base::blake2b("later")));
  ASSERT_TRUE(old->save_base(sent[10].first, "earlier"));
  EXPECT_EQ(old->cut(sent[10].first, base::blake2b("earlier")).error().code, Code::conflict);
  EXPECT_EQ(open()->first(), sent[20].first);
  EXPECT_EQ(*open()->base(), "later");
}

TEST_F(PostgresJournalTest, WhatWasDroppedIsReadFromItsArchives) {
  testing::Folder folder;
  std::filesystem::create_directories(folder.path() / "archive");
  const auto sent = fill(*open(), 40);
  for (const std::size_t from : {15, 30}) {
    auto journal = open();
    ASSERT_TRUE(journal->save_base(sent[from].first, "state"));
    const auto archived = journal->archive(folder / "archive", sent[from].first,
                                           [](const Batch&) { return base::Result<>(); });
    ASSERT_TRUE(archived) << archived.error().message;
    ASSERT_TRUE(journal->cut(sent[from].first, base::blake2b("state")));
    while (*journal->trim()) {
    }
  }
  EXPECT_EQ(run("SELECT count(*) FROM souk_batches").number(0, 0), 10);
  EXPECT_EQ(run("SELECT count(*) FROM souk_bases").number(0, 0), 1);
  const auto all = open_archived(url_, folder / "archive");
  ASSERT_TRUE(all) << all.error().message;
  std::vector<testing::Sample> seen;
  ASSERT_TRUE(all->journal->replay(1, [&](const Batch& b) -> base::Result<> {
    seen.push_back({b.first, b.count, std::string(b.bytes)});
    return {};
  }));
  EXPECT_EQ(seen, sent);
}

// An answer that got lost is asked for again, and what it was about happened once.
TEST_F(PostgresJournalTest, AppendsGoOnOverADatabaseThatIsRestarted) {
  auto& server = testing::postgres();
  auto journal = open();
  std::atomic<bool> over = false;
  std::uint64_t appended = 0;
  std::jthread writer([&] {
    while (!over) {
      const auto done = journal->append({journal->next(), 1, std::to_string(appended)});
      ASSERT_TRUE(done) << done.error().message;
      ++appended;
    }
  });
  bool back = true;
  for (const int signal : {SIGINT, SIGQUIT}) back = back && server->restart(signal);
  over = true;
  writer.join();
  ASSERT_TRUE(back);
  EXPECT_GT(appended, 0u);
  const auto found = *testing::all(*open());
  ASSERT_EQ(found.size(), appended);
  for (std::uint64_t i = 0; i < appended; ++i) EXPECT_EQ(found[i].bytes, std::to_string(i));
}

TEST_F(PostgresJournalTest, ASessionThatIsCutOffIsMadeAnew) {
  auto journal = open();
  fill(*journal, 3);
  run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND "
      "application_name = 'souk: a journal'");
  ASSERT_TRUE(journal->append({journal->next(), 1, "on"}));
  EXPECT_EQ(testing::all(*open())->size(), 4u);
}

TEST_F(PostgresJournalTest, ADatabaseThatStaysAwayIsAnErrorInTheEnd) {
  auto journal = testing::open_postgres(url_, {.patience = base::milliseconds(100)});
  testing::postgres()->child.end(SIGINT);
  const auto done = journal->append({1, 1, "x"});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::unavailable);
  EXPECT_THAT(done.error().message, HasSubstr("cannot append event 1"));
  EXPECT_THAT(done.error().hint, HasSubstr("PostgreSQL running"));
  testing::postgres()->child = *testing::postgres()->start();
}

}  // namespace
}  // namespace souk::journal
