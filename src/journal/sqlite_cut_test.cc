#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "journal/archive.h"
#include "journal/database.h"
#include "journal/open.h"
#include "journal/sqlite.h"
#include "journal/testing/fault_vfs.h"
#include "journal/testing/samples.h"

// Journals in files that lose their beginning: what must never be lost with it.

namespace souk::journal {
namespace {

namespace fs = std::filesystem;
using testing::Action;
using testing::faulty;
using ::testing::HasSubstr;
using testing::kDb;
using testing::Operations;

constexpr auto kNothing = [](const Batch&) { return base::Result<>(); };

std::string base_before(std::uint64_t first) {
  return "the state before event " + std::to_string(first);
}

base::Result<> drop(Journal& journal, std::uint64_t first) {
  SOUK_TRY(journal.save_base(first, base_before(first)));
  SOUK_TRY(journal.cut(first, base::blake2b(base_before(first))));
  while (true) {
    SOUK_ASSIGN(const bool more, journal.trim());
    if (!more) return {};
  }
}

class SqliteCut : public ::testing::Test {
 protected:
  // A journal of 60 batches, those before number `from` dropped.
  std::unique_ptr<Journal> cut_at(std::size_t from) {
    auto opened = SqliteJournal::open(path_);
    EXPECT_TRUE(opened);
    for (const auto& s : sent_) EXPECT_TRUE(opened->journal->append(s.batch()));
    EXPECT_TRUE(drop(*opened->journal, sent_[from].first));
    return std::move(opened->journal);
  }
  [[nodiscard]] std::vector<testing::Sample> from(std::size_t n) const {
    return {sent_.begin() + static_cast<long>(n), sent_.end()};
  }
  [[nodiscard]] std::string base_file(std::size_t n) const {
    return path_ + ".base-" + std::to_string(sent_[n].first - 1);
  }

  testing::Folder folder_;
  const std::string path_ = folder_ / kDb;
  const std::vector<testing::Sample> sent_ = testing::samples(60, 3);
};

TEST_F(SqliteCut, ComesBackAsItWasForWritersAndReaders) {
  cut_at(40).reset();
  for (const bool read_only : {true, false}) {
    auto opened = SqliteJournal::open(path_, {.read_only = read_only});
    ASSERT_TRUE(opened) << opened.error().message;
    EXPECT_EQ(opened->note, "");
    EXPECT_EQ(opened->journal->first(), sent_[40].first);
    EXPECT_EQ(*opened->journal->base(), base_before(sent_[40].first));
    EXPECT_EQ(*testing::all(*opened->journal, sent_[40].first), from(40));
  }
}

TEST_F(SqliteCut, TheFileStopsGrowing) {
  auto opened = SqliteJournal::open(path_, {.checkpoint_pages = 100});
  auto& journal = *opened->journal;
  const std::string bytes(50'000, 'x');
  std::uintmax_t early = 0;
  for (int i = 0; i < 200; ++i) {
    ASSERT_TRUE(journal.append({journal.next(), 1, bytes}));
    if (i % 10 == 9) ASSERT_TRUE(drop(journal, journal.next() - 5));
    if (i == 60) early = fs::file_size(path_);
  }
  EXPECT_LE(fs::file_size(path_), early + 500'000);
  EXPECT_EQ(std::ranges::count_if(fs::directory_iterator(folder_.path()),
                                  [](const auto& e) {
                                    return e.path().string().find(".base-") != std::string::npos;
                                  }),
            1);
}

TEST_F(SqliteCut, AMissingOrDamagedBaseIsAnErrorThatNamesIt) {
  cut_at(40).reset();
  const auto good = testing::slurp(base_file(40));
  auto flipped = good;
  flipped.back() ^= 1;
  {
    SqliteJournal::open(path_)->journal->save_base(sent_[40].first, "another state").value();
  }
  const auto another = testing::slurp(base_file(40));
  for (const auto& bytes : {std::string(), flipped, another}) {
    testing::spill(base_file(40), bytes);
    const auto opened = SqliteJournal::open(path_, {.read_only = true});
    ASSERT_TRUE(opened);
    const auto base = opened->journal->base();
    ASSERT_FALSE(base);
    EXPECT_EQ(base.error().code, base::Code::damaged);
    EXPECT_THAT(base.error().hint, HasSubstr(base_file(40)));
  }
  fs::remove(base_file(40));
  EXPECT_FALSE(SqliteJournal::open(path_)->journal->base());
  testing::spill(base_file(40), good);
  EXPECT_TRUE(SqliteJournal::open(path_)->journal->base());
}

TEST_F(SqliteCut, AReaderFromBeforeACutGoesOnFromTheNewBeginning) {
  auto writer = cut_at(20);
  auto reader = SqliteJournal::open(path_, {.read_only = true});
  ASSERT_TRUE(reader);
  ASSERT_TRUE(drop(*writer, sent_[30].first));
  // The rows it was opened with are gone, and it says so.
  const auto old = testing::all(*reader->journal, sent_[20].first);
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, base::Code::not_found) << old.error().message;
  EXPECT_EQ(*reader->journal->base(), base_before(sent_[30].first));
  EXPECT_EQ(reader->journal->first(), sent_[30].first);
  EXPECT_EQ(*testing::all(*reader->journal, sent_[30].first), from(30));
}

TEST_F(SqliteCut, ARowDroppedWhileAReaderIsInTheMiddleIsStillRead) {
  auto writer = cut_at(20);
  auto reader = SqliteJournal::open(path_, {.read_only = true});
  std::size_t seen = 0;
  const auto done = reader->journal->replay(sent_[20].first, [&](const Batch&) -> base::Result<> {
    return ++seen == 5 ? drop(*writer, sent_[50].first) : base::Result<>();
  });
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(seen, 40u);
}

TEST_F(SqliteCut, AWrongRecordOfTheBeginningDropsNothing) {
  cut_at(20).reset();
  for (const auto* edit :
       {"UPDATE cut SET first=(SELECT first FROM batch WHERE first > cut.first LIMIT 1)",
        "UPDATE cut SET first=first+1", "UPDATE cut SET chain=zeroblob(32)", "DELETE FROM cut",
        "UPDATE cut SET first=1", "UPDATE meta SET format=1"}) {
    SCOPED_TRACE(edit);
    const testing::Folder copy;
    testing::put(copy.path(), testing::contents(folder_.path()));
    ASSERT_TRUE(Database::open(copy / kDb, Database::Mode::read_write)->exec(edit));
    for (const bool read_only : {true, false}) {
      const auto opened = SqliteJournal::open(copy / kDb, {.read_only = read_only});
      const auto found = opened ? testing::all(*opened->journal, opened->journal->first())
                                : std::unexpected(opened.error());
      ASSERT_FALSE(found);
      EXPECT_EQ(found.error().code, base::Code::damaged) << found.error().message;
    }
  }
}

TEST_F(SqliteCut, NoBitOfTheFileFlipsUnseen) {
  cut_at(45).reset();
  const auto whole = testing::slurp(path_);
  base::Random random(31);
  for (int i = 0; i < 1'500; ++i) {
    auto bytes = whole;
    // Every other time in the first pages, where the tables' own records are.
    const auto bit = random.below(i % 2 == 0 ? std::size_t{5} * 4096 * 8 : bytes.size() * 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    SCOPED_TRACE(bit);
    testing::spill(path_, bytes);
    const auto opened = SqliteJournal::open(path_, {.read_only = true});
    if (!opened) continue;
    const auto found = testing::all(*opened->journal, opened->journal->first());
    if (!found || !opened->journal->base()) continue;
    ASSERT_EQ(opened->journal->first(), sent_[45].first);
    ASSERT_TRUE(*found == from(45) || !opened->note.empty()) << "lost in silence";
  }
}

// --- Crashes -------------------------------------------------------------------------------------

// Appends, and drops all but the last 3 batches again and again.
void live_and_drop(const std::string& path, const std::vector<testing::Sample>& sent, int acks) {
  auto opened = SqliteJournal::open(path, faulty());
  if (!opened) ::_exit(1);
  auto& journal = *opened->journal;
  for (std::size_t i = 0; i < sent.size(); ++i) {
    if (!journal.append(sent[i].batch())) ::_exit(2);
    const char ack = 'a';
    if (::write(acks, &ack, 1) != 1) ::_exit(3);
    if (i % 5 == 4 && !drop(journal, sent[i - 2].first)) ::_exit(4);
  }
}

// Whatever the moment: every acknowledged batch is behind the base or in the journal.
void expect_whole(const std::string& path, const std::vector<testing::Sample>& sent,
                  std::size_t acked) {
  testing::fault_plan() = {.skip_sync = true};
  auto opened = SqliteJournal::open(path, faulty());
  ASSERT_TRUE(opened) << opened.error().message;
  auto& journal = *opened->journal;
  const auto first = journal.first();
  const auto base = journal.base();
  ASSERT_TRUE(base) << base.error().message;
  ASSERT_EQ(*base, first == 1 ? "" : base_before(first));
  const auto found = testing::all(journal, first);
  ASSERT_TRUE(found) << found.error().message;
  const auto begin = std::ranges::find(sent, first, &testing::Sample::first);
  const auto dropped = static_cast<std::size_t>(begin - sent.begin());
  ASSERT_TRUE(first == 1 || dropped % 5 == 2);
  ASSERT_GE(dropped + found->size(), acked);
  ASSERT_LE(dropped + found->size(), acked + 1);
  for (std::size_t i = 0; i < found->size(); ++i) ASSERT_EQ((*found)[i], sent[dropped + i]);
  // And it goes on: what was left half dropped can be dropped now.
  ASSERT_TRUE(journal.append({journal.next(), 1, "afterwards"}));
  ASSERT_TRUE(drop(journal, journal.next()));
}

void die_everywhere_while_dropping(Action action, Operations of, std::uint64_t seed) {
  const auto sent = testing::samples(15, seed);
  for (std::uint64_t at = 1; at < 5'000; ++at) {
    const testing::Folder folder;
    int ends[2];
    CHECK(::pipe(ends) == 0);
    const auto child = ::fork();
    CHECK(child >= 0);
    if (child == 0) {
      ::close(ends[0]);
      testing::fault_plan() = {
          .action = action, .of = of, .at = at, .skip_sync = true, .seed = seed + at};
      live_and_drop(folder / kDb, sent, ends[1]);
      ::_exit(0);
    }
    ::close(ends[1]);
    std::size_t acked = 0;
    for (char ack = 0; ::read(ends[0], &ack, 1) == 1;) ++acked;
    ::close(ends[0]);
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    ASSERT_TRUE(WIFEXITED(status));
    SCOPED_TRACE(::testing::Message() << "operation " << at << " seed " << seed);
    expect_whole(folder / kDb, sent, acked);
    if (::testing::Test::HasFatalFailure()) return;
    if (WEXITSTATUS(status) == 0) {
      EXPECT_EQ(acked, sent.size());
      EXPECT_GT(at, 60u);
      return;
    }
    ASSERT_EQ(WEXITSTATUS(status), testing::kExitCode);
  }
  FAIL() << "the scenario never ends";
}

TEST(CutCrash, NeverLeavesAJournalWithoutItsBaseWhenKilledBeforeAnyWriteOrSync) {
  die_everywhere_while_dropping(Action::exit_before, Operations::both, 1);
}

TEST(CutCrash, NeverLeavesAJournalWithoutItsBaseWhenKilledInTheMiddleOfAnyWrite) {
  die_everywhere_while_dropping(Action::exit_torn, Operations::writes, 3);
}

TEST(CutCrash, NeverLeavesAJournalWithoutItsBaseWhenThePowerFails) {
  for (const std::uint64_t seed : {4, 5})
    die_everywhere_while_dropping(Action::power_cut, Operations::both, seed);
}

TEST(CutCrash, AFailedCutIsAnErrorAfterWhichNothingIsWritten) {
  for (const auto operation : {Operations::writes, Operations::syncs}) {
    const testing::Folder folder;
    testing::fault_plan() = {.skip_sync = true};
    auto opened = SqliteJournal::open(folder / kDb, faulty());
    auto& journal = *opened->journal;
    for (const auto& s : testing::samples(10)) ASSERT_TRUE(journal.append(s.batch()));
    ASSERT_TRUE(journal.save_base(journal.next(), "state"));
    testing::fault_plan() = {.action = Action::fail_io, .of = operation, .at = 1};
    ASSERT_FALSE(journal.cut(journal.next(), base::blake2b("state")));
    EXPECT_FALSE(journal.append({journal.next(), 1, "more"}));
    EXPECT_FALSE(journal.trim());
    testing::fault_plan() = {};
  }
}

// --- Archives ------------------------------------------------------------------------------------

class Archive : public SqliteCut {
 protected:
  // Archives and drops what comes before each of `cuts`.
  void archive(std::initializer_list<std::size_t> cuts) {
    fs::create_directories(archives_);
    auto writer = SqliteJournal::open(path_);
    for (const auto& s : sent_) ASSERT_TRUE(writer->journal->append(s.batch()));
    for (const auto n : cuts) {
      const auto reader = SqliteJournal::open(path_, {.read_only = true});
      ASSERT_TRUE(reader->journal->archive(archives_, sent_[n].first, kNothing));
      ASSERT_TRUE(drop(*writer->journal, sent_[n].first));
    }
  }
  [[nodiscard]] std::string file(std::size_t n) const {
    return archive_path(archives_, sent_[n].first);
  }

  const std::string archives_ = folder_ / "archive";
};

TEST_F(Archive, TogetherWithTheJournalTellsAllThatHappened) {
  archive({10, 11, 40});
  const auto opened = open_archived(path_, archives_);
  ASSERT_TRUE(opened) << opened.error().message;
  auto& history = *opened->journal;
  EXPECT_EQ(history.first(), 1u);
  for (const std::size_t n : {0, 5, 10, 12, 40, 59}) {
    std::vector<testing::Sample> found;
    ASSERT_TRUE(history.replay(sent_[n].first, [&](const Batch& b) -> base::Result<> {
      found.push_back({b.first, b.count, std::string(b.bytes)});
      return {};
    }));
    EXPECT_EQ(found, from(n));
  }
}

TEST_F(Archive, EachIsAJournalItself) {
  archive({10, 40});
  const auto opened = open(file(10), {.read_only = true});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->note, "");
  EXPECT_EQ(opened->journal->next(), sent_[40].first);
  EXPECT_EQ(testing::all(*opened->journal, sent_[10].first)->size(), 30u);
}

TEST_F(Archive, ThatBeginsLateIsReadFromThere) {
  archive({10, 40});
  fs::remove(file(0));
  const auto opened = open_archived(path_, archives_);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->journal->first(), sent_[10].first);
}

TEST_F(Archive, AGapIsNamed) {
  archive({10, 20, 40});
  fs::remove(file(10));
  const auto opened = open_archived(path_, archives_);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::damaged);
  EXPECT_THAT(opened.error().message, HasSubstr(std::to_string(sent_[20].first - 1)));
}

TEST_F(Archive, AnotherMarketsDoesNotJoin) {
  archive({10, 40});
  const testing::Folder other;
  auto writer = SqliteJournal::open(other / kDb);
  auto forged = sent_;
  forged[3].bytes += "more";
  for (const auto& s : forged) ASSERT_TRUE(writer->journal->append(s.batch()));
  fs::remove(file(0));
  ASSERT_TRUE(writer->journal->archive(archives_, sent_[10].first, kNothing));
  const auto opened = open_archived(path_, archives_);
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().message, HasSubstr("does not join"));
}

TEST_F(Archive, WhatWasArchivedAndNotCutIsReadOnce) {
  archive({10});
  {
    const auto reader = SqliteJournal::open(path_, {.read_only = true});
    ASSERT_TRUE(reader->journal->archive(archives_, sent_[40].first, kNothing));
  }
  // The next try has a later cut, and replaces it.
  auto writer = SqliteJournal::open(path_);
  for (const std::size_t n : {30, 50}) {
    ASSERT_TRUE(writer->journal->archive(archives_, sent_[n].first, kNothing));
    const auto opened = open_archived(path_, archives_);
    ASSERT_TRUE(opened) << opened.error().message;
    std::size_t batches = 0;
    ASSERT_TRUE(opened->journal->replay(1, [&](const Batch&) -> base::Result<> {
      ++batches;
      return {};
    }));
    EXPECT_EQ(batches, 60u);
  }
}

TEST_F(Archive, TheVisitorsErrorEndsItWithoutAFile) {
  fs::create_directories(archives_);
  auto writer = SqliteJournal::open(path_);
  for (const auto& s : sent_) ASSERT_TRUE(writer->journal->append(s.batch()));
  const auto done = writer->journal->archive(archives_, sent_[40].first, [](const Batch&) {
    return base::Result<>(base::fail(base::Code::unavailable, "stopping"));
  });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().message, "stopping");
  EXPECT_FALSE(fs::exists(file(0)));
}

}  // namespace
}  // namespace souk::journal
