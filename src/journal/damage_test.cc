#include <gmock/gmock.h>

#include "journal/sqlite.h"
#include "journal/testing/fault_vfs.h"
#include "journal/testing/samples.h"

// Bits that flip and files that end early must never change or drop history unseen: either the
// journal halts, or it ends before the damage and says so.

namespace souk::journal {
namespace {

using Files = std::map<std::string, std::string>;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using testing::kDb;
using testing::kFrame;

constexpr const char* kLog = "journal.db-wal";

SqliteOptions fast() {
  testing::fault_plan() = {.skip_sync = true};
  return {.vfs = testing::fault_vfs()};
}

struct Original {
  std::vector<testing::Sample> sent;
  Files files;
};

// A journal as a crash leaves it: the first half in the database, the second in the log.
const Original& crashed() {
  static const auto original = [] {
    const testing::Folder folder;
    Original out{testing::samples(120, 11), {}};
    for (const std::size_t half : {0, 1}) {
      auto opened = SqliteJournal::open(folder / kDb, fast());
      for (std::size_t i = half * 60; i < (half + 1) * 60; ++i)
        CHECK(opened->journal->append(out.sent[i].batch()));
      out.files = testing::contents(folder.path());
    }
    out.files.erase("journal.db-shm");
    out.files.erase("journal.db.lock");
    CHECK(out.files[kLog].size() > 60 * kFrame);
    return out;
  }();
  return original;
}

// The same, closed in good order: no log.
const Original& closed() {
  static const auto original = [] {
    const testing::Folder folder;
    testing::put(folder.path(), crashed().files);
    {
      const auto opened = SqliteJournal::open(folder / kDb, fast());
      CHECK(opened);
    }
    Original out{crashed().sent, testing::contents(folder.path())};
    out.files.erase("journal.db.lock");
    CHECK(out.files.size() == 1);
    return out;
  }();
  return original;
}

struct Outcome {
  std::string error;  // Empty if it opened and replayed.
  std::string note;
  std::size_t batches = 0;
};

Outcome look(const testing::Folder& folder, const SqliteOptions& options,
             const std::vector<testing::Sample>& sent) {
  auto opened = SqliteJournal::open(folder / kDb, options);
  const auto found = opened ? testing::all(*opened->journal) : std::unexpected(opened.error());
  if (!found) {
    EXPECT_THAT(found.error().code,
                AnyOf(base::Code::damaged, base::Code::invalid, base::Code::unavailable))
        << found.error().message;
    EXPECT_THAT(found.error().message, HasSubstr(folder / kDb));
    return {found.error().message, {}, 0};
  }
  EXPECT_LE(found->size(), sent.size());
  for (std::size_t i = 0; i < found->size(); ++i) EXPECT_EQ((*found)[i], sent[i]) << i;
  EXPECT_TRUE(found->size() == sent.size() || !opened->note.empty()) << "lost in silence";
  return {{}, opened->note, found->size()};
}

// Looks read-only, then as a writer. The reader must change nothing and come to the same end.
Outcome survey(const Files& files, const std::vector<testing::Sample>& sent) {
  static const testing::Folder folder;
  testing::put(folder.path(), files);
  const auto reader = look(folder, {.read_only = true}, sent);
  EXPECT_TRUE(testing::contents(folder.path()) == files) << "a reader changed something";
  const auto writer = look(folder, fast(), sent);
  if (!writer.error.empty()) return writer;  // It may halt where reading alone goes well.
  EXPECT_EQ(reader.error, "");
  EXPECT_EQ(reader.batches, writer.batches);
  EXPECT_EQ(reader.note.empty(), writer.note.empty()) << reader.note << " / " << writer.note;
  // What it was cut to is sound: no second note, and it can go on.
  auto again = SqliteJournal::open(folder / kDb, fast());
  EXPECT_TRUE(again) << again.error().message;
  if (again) {
    EXPECT_EQ(again->note, "");
    EXPECT_TRUE(again->journal->append({again->journal->next(), 1, "afterwards"}));
    const auto all = testing::all(*again->journal);
    EXPECT_TRUE(all) << all.error().message;
    if (all) EXPECT_EQ(all->size(), writer.batches + 1);
  }
  return writer;
}

Files flip(Files files, const char* name, std::size_t bit) {
  auto& byte = files[name].at(bit / 8);
  byte = static_cast<char>(byte ^ 1 << bit % 8);
  return files;
}

void flip_at_random(const Original& original, const char* name, std::size_t from_byte, int trials,
                    std::uint64_t seed) {
  base::Random random(seed);
  std::map<std::string, int> tally;
  const auto size = original.files.at(name).size();
  for (int i = 0; i < trials; ++i) {
    const auto bit = (from_byte + random.below(size - from_byte)) * 8 + random.below(8);
    SCOPED_TRACE(::testing::Message() << name << " byte " << bit / 8 << " bit " << bit % 8);
    const auto out = survey(flip(original.files, name, bit), original.sent);
    if (::testing::Test::HasFailure()) return;
    ++tally[!out.error.empty() ? "halted" : out.note.empty() ? "harmless" : "cut"];
  }
  for (const auto& [what, times] : tally) ::testing::Test::RecordProperty(what, times);
}

TEST(Damage, NoBitOfTheDatabaseFlipsUnseen) { flip_at_random(closed(), kDb, 0, 500, 21); }

TEST(Damage, NoBitOfItsHeaderAndSchemaFlipsUnseen) {
  for (std::size_t bit = 0; bit < 108 * 8; ++bit) {
    SCOPED_TRACE(bit);
    survey(flip(closed().files, kDb, bit), closed().sent);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Damage, NoBitOfItsLastPagesFlipsUnseen) {
  flip_at_random(closed(), kDb, closed().files.at(kDb).size() - 3 * 4096, 300, 22);
}

TEST(Damage, NoBitOfAPagesHeaderFlipsUnseen) {
  const auto pages = closed().files.at(kDb).size() / 4096;
  base::Random random(23);
  for (int i = 0; i < 400; ++i) {
    const auto page = random.below(pages);
    const auto bit = (page * 4096 + random.below(24)) * 8 + random.below(8);
    SCOPED_TRACE(bit);
    survey(flip(closed().files, kDb, bit), closed().sent);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Damage, NoBitOfTheLogFlipsUnseen) { flip_at_random(crashed(), kLog, 0, 400, 24); }

TEST(Damage, NoBitOfTheEndOfTheLogFlipsUnseen) {
  flip_at_random(crashed(), kLog, crashed().files.at(kLog).size() - 3 * kFrame, 300, 25);
}

TEST(Damage, NoBitOfTheDatabaseUnderALogFlipsUnseen) { flip_at_random(crashed(), kDb, 0, 300, 26); }

TEST(Damage, ALogThatEndsAnywhereLosesAtMostItsEndAndSaysSo) {
  base::Random random(27);
  const auto& log = crashed().files.at(kLog);
  for (int i = 0; i < 200; ++i) {
    auto files = crashed().files;
    // A cut on the border of a transaction leaves what was once a whole journal: nothing can tell.
    auto size = random.below(log.size());
    if (size >= 32 && (size - 32) % kFrame == 0) ++size;
    files[kLog].resize(size);
    SCOPED_TRACE(size);
    const auto out = survey(files, crashed().sent);
    if (size > 0 && size != 32) EXPECT_NE(out.note, "");
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Damage, ADatabaseThatEndsEarlyHalts) {
  base::Random random(28);
  for (int i = 0; i < 100; ++i) {
    auto files = closed().files;
    const auto size = i == 0 ? 0 : random.below(files[kDb].size());
    files[kDb].resize(size);
    SCOPED_TRACE(size);
    EXPECT_NE(survey(files, closed().sent).error, "");
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Damage, ALogWithoutItsDatabaseHalts) {
  auto files = crashed().files;
  files.erase(kDb);
  const testing::Folder folder;
  testing::put(folder.path(), files);
  const auto opened = SqliteJournal::open(folder / kDb, fast());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::damaged);
  EXPECT_TRUE(testing::slurp(folder / kLog) == files.at(kLog));
}

// Known answers: the same batch hit where it lies, in the middle and at the end.
std::size_t place_of(const std::string& file, const testing::Sample& sample) {
  const auto at = file.rfind(sample.bytes.substr(0, 60));
  CHECK(at != std::string::npos);
  return at;
}

const testing::Sample& last_with_bytes(const std::vector<testing::Sample>& sent,
                                       std::size_t before) {
  while (sent[--before].bytes.size() < 60) continue;
  return sent[before];
}

TEST(Damage, AFlippedBitInTheLastBatchOfTheDatabaseIsCut) {
  // An edited copy in which the last batch surely has bytes.
  const testing::Folder folder;
  testing::put(folder.path(), closed().files);
  auto sent = closed().sent;
  {
    auto opened = SqliteJournal::open(folder / kDb, fast());
    sent.push_back({opened->journal->next(), 3, std::string(100, 'z')});
    ASSERT_TRUE(opened->journal->append(sent.back().batch()));
  }
  Files files{{kDb, testing::slurp(folder / kDb)}};
  const auto out = survey(flip(files, kDb, place_of(files[kDb], sent.back()) * 8 + 5), sent);
  EXPECT_EQ(out.error, "");
  EXPECT_EQ(out.batches, sent.size() - 1);
  EXPECT_THAT(out.note, HasSubstr("3 events from event " + std::to_string(sent.back().first)));
}

TEST(Damage, AFlippedBitInTheMiddleOfTheDatabaseHaltsWithItsEvent) {
  const auto& hit = last_with_bytes(closed().sent, 60);
  const auto at = place_of(closed().files.at(kDb), hit);
  const auto out = survey(flip(closed().files, kDb, at * 8), closed().sent);
  EXPECT_THAT(out.error, AllOf(HasSubstr("at event " + std::to_string(hit.first)),
                               HasSubstr("last good event is " + std::to_string(hit.first - 1))));
}

TEST(Damage, AFlippedBitInTheMiddleOfTheLogHaltsBeforeSqliteCanDropTheRest) {
  const auto& log = crashed().files.at(kLog);
  const auto bit = (32 + 40 * kFrame + 1000) * 8;
  const testing::Folder folder;
  testing::put(folder.path(), flip(crashed().files, kLog, bit));
  const auto opened = SqliteJournal::open(folder / kDb, fast());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, base::Code::damaged);
  EXPECT_THAT(opened.error().message,
              AllOf(HasSubstr("frame 41"), HasSubstr("the last good event is")));
  EXPECT_EQ(testing::slurp(folder / kLog).size(), log.size());
}

}  // namespace
}  // namespace souk::journal
