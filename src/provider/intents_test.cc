#include "provider/intents.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "provider/testing/start.h"

namespace souk::provider {
namespace {

namespace fs = std::filesystem;
using testing::kStart;

class Intents : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string path = (fs::temp_directory_path() / "souk-intents-XXXXXX").string();
    ASSERT_NE(::mkdtemp(path.data()), nullptr);
    folder_ = path + "/pool";
    root_ = path;
  }
  void TearDown() override { fs::remove_all(root_); }

  Result<Fleet> write(const std::vector<Record>& records) {
    Fleet fleet;
    SOUK_ASSIGN(const auto file, IntentFile::open(folder_, fleet, kStart));
    for (const auto& r : records) {
      SOUK_TRY(file->append(r));
      apply(fleet, r);
    }
    return fleet;
  }
  static Record intended(const std::string& id) {
    return {.kind = RecordKind::intended,
            .at = kStart,
            .intent = id,
            .machine = MachineKind{.type = "m5.large", .hourly = Credits(5)},
            .end = kStart + base::hours(1)};
  }
  [[nodiscard]] std::string log() const { return folder_ + "/intents.log"; }

  std::string root_, folder_;
};

TEST_F(Intents, AreThereAfterTheProcessIsGone) {
  ASSERT_TRUE(write({intended("a"),
                     {.kind = RecordKind::started, .at = kStart, .intent = "a", .handle = "i-1"}}));
  const auto fleet = read_intents(folder_);
  ASSERT_TRUE(fleet) << fleet.error().message;
  const auto& a = fleet->intents.at("a");
  EXPECT_EQ(a.handle, "i-1");
  EXPECT_EQ(a.phase, Phase::running);
  EXPECT_EQ(a.machine.type, "m5.large");
  EXPECT_EQ(a.end, kStart + base::hours(1));
}

TEST_F(Intents, AreReadableByTheirOwnerAlone) {
  ASSERT_TRUE(write({intended("a")}));
  struct stat info{};
  ASSERT_EQ(::stat(log().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(folder_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
}

TEST_F(Intents, ALineCutOffAtAnyByteCostsThatLineAlone) {
  ASSERT_TRUE(write({intended("a")}));
  const auto first = fs::file_size(log());
  ASSERT_TRUE(write({intended("b")}));
  const auto whole = fs::file_size(log());
  for (auto size = whole - 1; size > first; --size) {
    fs::resize_file(log(), size);
    Fleet fleet;
    const auto file = IntentFile::open(folder_, fleet, kStart);
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(fleet.intents.size(), 1u);
    EXPECT_EQ(fs::file_size(log()), first);
    ASSERT_TRUE((*file)->append(intended("b")));
    ASSERT_EQ(fs::file_size(log()), whole);
  }
}

TEST_F(Intents, DamageInTheMiddleIsSaidAndNotSkipped) {
  ASSERT_TRUE(write({intended("a"), intended("b")}));
  {
    std::fstream file(log(), std::ios::in | std::ios::out);
    file.seekp(30);
    file.put('#');
  }
  const auto before = fs::file_size(log());
  Fleet fleet;
  const auto file = IntentFile::open(folder_, fleet, kStart);
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, base::Code::damaged);
  EXPECT_EQ(fs::file_size(log()), before);
}

TEST_F(Intents, TwoProvidersCannotHaveOnePool) {
  Fleet fleet;
  const auto first = IntentFile::open(folder_, fleet, kStart);
  ASSERT_TRUE(first);
  const auto second = IntentFile::open(folder_, fleet, kStart);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::conflict);
}

TEST_F(Intents, ALongJournalIsShortenedAndForgetsNothingThatLives) {
  std::vector<Record> records{intended("live")};
  for (std::size_t i = 0; i < kShortenAfter / 2; ++i) {
    const auto id = "x" + std::to_string(i);
    records.push_back(intended(id));
    records.push_back(
        {.kind = RecordKind::ended, .at = kStart + base::hours(1), .intent = id, .text = "over"});
  }
  std::string text;
  ASSERT_TRUE(write({}));
  {
    Fleet fleet;
    const auto file = IntentFile::open(folder_, fleet, kStart);
    ASSERT_TRUE(file);
    for (const auto& r : records) ASSERT_TRUE((*file)->append(r));
  }
  const auto before = fs::file_size(log());
  const auto whole = read_intents(folder_);
  Fleet fleet;
  ASSERT_TRUE(IntentFile::open(folder_, fleet, kStart));
  EXPECT_LT(fs::file_size(log()), before / 50);
  EXPECT_EQ(fleet.intents.size(), 1u);
  EXPECT_EQ(committed(fleet), committed(*whole));
  EXPECT_EQ(read_intents(folder_)->intents.size(), 1u);
}

}  // namespace
}  // namespace souk::provider
