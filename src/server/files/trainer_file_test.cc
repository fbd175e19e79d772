#include "server/files/trainer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/testing/market.h"

namespace souk::server {
namespace {

using testing::Folder;
using ::testing::HasSubstr;

constexpr std::size_t kTrainerBytes = 1'500'000;  // More than a piece.

std::string trainer_in(const Folder& folder, const char* name, char of) {
  const auto path = folder / name;
  std::ofstream(path, std::ios::binary) << "\x1f\x8b\x08" << std::string(kTrainerBytes, of);
  return path;
}

TEST(TrainerFile, IsHashedAndReadFromDisk) {
  const Folder folder;
  TrainerFile file(trainer_in(folder, "trainer", 'x'));
  const auto trainer = file.get();
  ASSERT_TRUE(trainer) << trainer.error().message;
  EXPECT_EQ((*trainer)->sha256(),
            "91614a80c62fa95772312dec45d09dcf608729261d961cc250bdf7a89c64d25c");
  EXPECT_EQ((*trainer)->bytes(), kTrainerBytes + 3);
  EXPECT_EQ((*trainer)->read(0, 3), "\x1f\x8b\x08");
  EXPECT_EQ((*trainer)->read(kTrainerBytes, 100), "xxx");
  EXPECT_EQ((*trainer)->read(kTrainerBytes + 3, 100), "");
}

TEST(TrainerFile, AFileThatWasReplacedIsAnnouncedAnewAndReadersOfTheOldOneGetThat) {
  const Folder folder;
  const auto path = trainer_in(folder, "trainer", 'x');
  TrainerFile file(path);
  const auto before = *file.get();
  std::filesystem::rename(trainer_in(folder, "new", 'y'), path);
  const auto after = *file.get();
  EXPECT_NE(after->sha256(), before->sha256());
  EXPECT_EQ(before->read(3, 1), "x");
  EXPECT_EQ(after->read(3, 1), "y");
}

TEST(TrainerFile, AFileThatIsWrittenOverIsNotSentUnderItsOldHash) {
  const Folder folder;
  const auto path = trainer_in(folder, "trainer", 'x');
  TrainerFile file(path);
  const auto trainer = *file.get();
  std::ofstream(path, std::ios::binary | std::ios::trunc) << "\x1f\x8b\x08 shorter";
  EXPECT_THAT(trainer->read(0, 3).error().message, HasSubstr("changed"));
}

TEST(TrainerFile, OtherFilesAreRefusedWithTheirNames) {
  const Folder folder;
  EXPECT_THAT(TrainerFile(folder / "none").get().error().message, HasSubstr("/none"));
  const auto path = folder / "text";
  std::ofstream(path) << "a text";
  EXPECT_THAT(TrainerFile(path).get().error().message, HasSubstr("/text is not a trainer"));
  EXPECT_THAT(TrainerFile(folder / "").get().error().message, HasSubstr("no file"));
  EXPECT_EQ(*TrainerFile("").get(), nullptr);
}

TEST(TrainerRoute, GivesTheOneThatTheApiAnnouncesAndGoesOnWhereADownloadStopped) {
  const Folder folder;
  auto options = testing::in_memory();
  options.trainer = trainer_in(folder, "trainer", 'x');
  testing::Market market(options);
  const auto about = market.call("GET", "/v1/agent").body;
  EXPECT_THAT(about, HasSubstr(R"("bytes":1500003)"));
  const auto whole = market.call("GET", "/v1/agent/trainer");
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(whole.body.size(), kTrainerBytes + 3);
  const auto etag = std::string(net::find_header(whole.headers, "ETag"));
  EXPECT_THAT(about, HasSubstr(etag));
  const auto rest = market.call("GET", "/v1/agent/trainer", "", "", {{"Range", "bytes=1000000-"}});
  EXPECT_EQ(rest.status, 206);
  EXPECT_EQ(rest.body.size(), kTrainerBytes + 3 - 1'000'000);
  EXPECT_EQ(net::find_header(rest.headers, "Content-Range"), "bytes 1000000-1500002/1500003");
  for (const auto* range : {"bytes=1500003-", "bytes=5-9", "bytes=-5", "lines=1-"})
    EXPECT_EQ(market.call("GET", "/v1/agent/trainer", "", "", {{"Range", range}}).status, 200)
        << range;
  EXPECT_EQ(market.call("GET", "/v1/agent/trainer", "", "", {{"If-None-Match", etag}}).status, 304);
}

TEST(TrainerRoute, AMarketWithoutATrainerSaysSo) {
  testing::Market market;
  EXPECT_EQ(market.call("GET", "/v1/agent").body.find("trainer"), std::string::npos);
  EXPECT_EQ(market.call("GET", "/v1/agent/trainer").status, 404);
}

}  // namespace
}  // namespace souk::server
