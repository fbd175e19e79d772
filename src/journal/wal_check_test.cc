#include "journal/wal_check.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include "journal/testing/samples.h"

namespace souk::journal {
namespace {

using ::testing::HasSubstr;
using testing::kFrame;

constexpr std::size_t kHeader = 32;

// A log that SQLite itself wrote, by transactions of one or more frames.
class WalCheck : public ::testing::Test {
 protected:
  WalCheck() {
    CHECK(sqlite3_open((folder_ / "db").c_str(), &db_) == SQLITE_OK);
    exec("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t(x)");
    exec("PRAGMA wal_checkpoint(RESTART)");
  }
  ~WalCheck() override { sqlite3_close(db_); }

  void exec(const char* sql) {
    CHECK(sqlite3_exec(db_, sql, nullptr, nullptr, nullptr) == SQLITE_OK);
  }
  // A transaction of one frame, or of several.
  void small() { exec("INSERT INTO t VALUES('x')"); }
  void large() { exec("INSERT INTO t VALUES(zeroblob(9000))"); }

  std::string log() { return testing::slurp(folder_ / "db-wal"); }
  std::size_t frames() { return (log().size() - kHeader) / kFrame; }

  WalReport check(const std::string& bytes) {
    testing::spill(folder_ / "copy", bytes);
    const auto report = check_wal(folder_ / "copy");
    CHECK(report);
    return *report;
  }

  static std::string flip(std::string bytes, std::size_t at, int bit = 0) {
    bytes.at(at) = static_cast<char>(bytes.at(at) ^ 1 << bit);
    return bytes;
  }

  testing::Folder folder_;
  sqlite3* db_ = nullptr;
};

TEST_F(WalCheck, NoFileAndAnEmptyOneHoldNothing) {
  EXPECT_EQ(check_wal(folder_ / "none")->state, WalState::nothing);
  EXPECT_EQ(check("").state, WalState::nothing);
}

TEST_F(WalCheck, WholeTransactionsAreClean) {
  for (int i = 0; i < 3; ++i) small(), large();
  const auto report = check(log());
  EXPECT_EQ(report.state, WalState::clean) << report.what;
  EXPECT_EQ(report.good_frames, frames());
}

TEST_F(WalCheck, OldFramesAfterTheEndAreClean) {
  for (int i = 0; i < 5; ++i) large();
  const auto size = log().size();
  exec("PRAGMA wal_checkpoint(RESTART)");
  small();
  small();
  ASSERT_EQ(log().size(), size);  // Written again from the start, over the old.
  const auto report = check(log());
  EXPECT_EQ(report.state, WalState::clean) << report.what;
  EXPECT_EQ(report.good_frames, 2u);
}

TEST_F(WalCheck, AnyBitOfTheLastOfOldFramesAndNewIsToldApart) {
  for (int i = 0; i < 5; ++i) large();
  exec("PRAGMA wal_checkpoint(RESTART)");
  small();
  small();
  // The header of the second frame, byte by byte: page, commit, salts, checksums.
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_EQ(check(flip(log(), kHeader + kFrame + i)).state, WalState::flipped) << i;
  for (std::size_t i = 0; i < 24; ++i)
    EXPECT_EQ(check(flip(log(), kHeader + i)).state, WalState::damaged) << i;
  // Old frames are nobody's any more.
  EXPECT_EQ(check(flip(log(), kHeader + 3 * kFrame + 500)).state, WalState::clean);
}

TEST_F(WalCheck, AnUnfinishedTransactionIsATornTail) {
  small();
  large();
  for (const auto cut : {std::size_t{1}, kFrame / 2, kFrame, kFrame + 1, 2 * kFrame}) {
    const auto bytes = log();
    const auto report = check(bytes.substr(0, bytes.size() - cut));
    EXPECT_EQ(report.state, WalState::unfinished) << cut;
    EXPECT_EQ(report.good_frames, 1u);
  }
}

TEST_F(WalCheck, AFrameWhosePageWasNotWrittenIsATornTail) {
  small();
  large();
  const auto bytes = log();
  const auto page = bytes.size() - kFrame + 24;
  for (const auto written :
       {std::size_t{0}, std::size_t{512}, std::size_t{2048}, std::size_t{4000}}) {
    auto torn = bytes;
    for (auto i = page + written; i < torn.size(); ++i) torn[i] = static_cast<char>(i * 37 % 251);
    const auto report = check(torn);
    EXPECT_EQ(report.state, WalState::unfinished) << written;
    EXPECT_EQ(report.good_frames, 1u);
  }
}

TEST_F(WalCheck, AnyBitOfTheLastPageThatIsWrongIsAFlippedTail) {
  small();
  large();
  const auto bytes = log();
  for (auto i = bytes.size() - kFrame; i < bytes.size(); ++i)
    EXPECT_EQ(check(flip(bytes, i)).state, WalState::flipped) << i;
}

TEST_F(WalCheck, AHeaderAloneIsATornTail) {
  small();
  EXPECT_EQ(check(log().substr(0, 20)).state, WalState::unfinished);
  EXPECT_EQ(check(flip(log().substr(0, kHeader), 3)).state, WalState::unfinished);
  EXPECT_EQ(check(log().substr(0, kHeader)).state, WalState::clean);
}

TEST_F(WalCheck, ADamagedHeaderBeforeFramesHalts) {
  small();
  for (std::size_t i = 0; i < kHeader; ++i)
    EXPECT_EQ(check(flip(log(), i)).state, WalState::damaged) << i;
}

TEST_F(WalCheck, ABadFrameInTheLastTransactionIsAFlippedTail) {
  small();
  large();
  ASSERT_GE(frames(), 4u);
  for (std::size_t frame = 1; frame < frames(); ++frame) {
    const auto report = check(flip(log(), kHeader + frame * kFrame + 100));
    EXPECT_EQ(report.state, WalState::flipped) << frame;
    EXPECT_EQ(report.good_frames, 1u);
    EXPECT_THAT(report.what, HasSubstr("frame " + std::to_string(frame + 1)));
  }
}

TEST_F(WalCheck, ABadFrameBeforeAWholeTransactionIsDamage) {
  small();
  large();
  const auto before = frames();
  small();
  for (std::size_t frame = 0; frame < before; ++frame)
    for (const std::size_t at : {0, 9, 13, 17, 23, 24, 4000})
      EXPECT_EQ(check(flip(log(), kHeader + frame * kFrame + at)).state, WalState::damaged)
          << frame << " " << at;
}

}  // namespace
}  // namespace souk::journal
