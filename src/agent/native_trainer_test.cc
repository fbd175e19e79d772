#include "agent/native_trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "agent/fetch/sha256.h"
#include "agent/testing/scripted_server.h"
#include "agent/testing/tars.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;
using blob::testing::Folder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::refused;

std::string trainer_archive_of(const std::string& top) {
  testing::Tar tar;
  tar.folder(top).folder(top + "/lib").folder(top + "/bin");
  tar.file(top + "/lib/ld-linux-x86-64.so.2", "loader", 0755);
  tar.file(top + "/lib/souk-torch", std::string(100'000, 'x'), 0755);
  tar.file(top + "/bin/souk-torch", "#!/bin/sh\n", 0755);
  return tar.text();
}

// A market that gives one archive, as `instead_` says or as it should.
class NativeTrainerTest : public ::testing::Test {
 protected:
  base::Result<KeptTrainer> get() {
    return get_trainer(
        *trees_, {.servers = {market_.url()}}, offered_, folder_.path(), [this] { ++fetches_; },
        [this] { return given_up_; });
  }
  std::vector<std::string> left() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      if (entry.is_regular_file()) out.push_back(entry.path().filename());
    return out;
  }
  net::Response part(std::size_t from, std::size_t count, int status) const {
    return {.status = status,
            .content_type = "application/octet-stream",
            .body = archive_.substr(from, count)};
  }

  const std::string archive_ = trainer_archive_of("souk-torch-1-linux-x86_64");
  OfferedTrainer offered_{sha256_hex(archive_), std::ssize(archive_)};
  std::vector<net::Response> instead_;  // The first answers.
  testing::ScriptedServer market_{[this](const net::Request& r) -> std::optional<net::Response> {
    const auto number = market_.asked().size() - 1;
    if (number < instead_.size()) return instead_[number];
    const auto range = r.header("Range");
    if (range.empty()) return part(0, archive_.size(), 200);
    return part(std::stoul(std::string(range.substr(6))), archive_.size(), 206);
  }};
  Folder folder_;
  std::unique_ptr<Trees> trees_ = *Trees::open(folder_ / "trees", std::int64_t{1} << 30);
  int fetches_ = 0;
  bool given_up_ = false;
};

TEST_F(NativeTrainerTest, IsFetchedOnceAndKept) {
  for (int i = 0; i < 2; ++i) {
    const auto got = get();
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_TRUE(got->trainer.folder);
    EXPECT_TRUE(fs::exists(got->trainer.path + "/lib/souk-torch"));
  }
  EXPECT_EQ(fetches_, 1);
  EXPECT_EQ(market_.asked().size(), 1U);
  EXPECT_FALSE(fs::exists(folder_ / ("trainer-" + offered_.sha256))) << "the archive";
  trees_.reset();
  trees_ = *Trees::open(folder_ / "trees", std::int64_t{1} << 30);
  const auto kept = find_kept_trainer(folder_ / "trees");
  ASSERT_TRUE(kept);
  EXPECT_EQ(get()->trainer.path, kept->path);
  EXPECT_EQ(fetches_, 1) << "by the next agent";
}

TEST_F(NativeTrainerTest, AnotherOneThanWasAnnouncedIsNotKept) {
  instead_ = {part(0, archive_.size(), 200)};
  instead_[0].body.back() = 'x';
  const auto got = get();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("SHA-256 differs"));
  EXPECT_TRUE(left().empty());
  EXPECT_EQ(market_.asked().size(), 1U);
  EXPECT_FALSE(find_kept_trainer(folder_ / "trees"));
}

TEST_F(NativeTrainerTest, ADownloadThatBreaksGoesOnWhereItStopped) {
  instead_ = {part(0, 60'000, 200)};
  ASSERT_TRUE(get());
  ASSERT_EQ(market_.asked().size(), 2U);
  EXPECT_EQ(market_.asked()[1].header("Range"), "bytes=60000-");
}

TEST_F(NativeTrainerTest, ADownloadGoesOnAfterTheAgentWasEnded) {
  std::ofstream(folder_ / ("trainer-" + offered_.sha256), std::ios::binary)
      << archive_.substr(0, 50'000);
  ASSERT_TRUE(get());
  EXPECT_EQ(market_.asked()[0].header("Range"), "bytes=50000-");
}

TEST_F(NativeTrainerTest, AProxyThatKnowsNoRangesIsAskedForAllOfIt) {
  instead_ = {part(0, 60'000, 200), part(0, 40'000, 200)};
  ASSERT_TRUE(get());
  EXPECT_EQ(market_.asked().size(), 3U);
}

TEST_F(NativeTrainerTest, ABusyMarketIsAskedAgainAndOneThatHasNoneIsNot) {
  instead_ = {refused(base::Code::exhausted, "busy")};
  EXPECT_TRUE(get());
  offered_.sha256 = std::string(64, 'a');
  instead_ = {{}, {}, refused(base::Code::not_found, "no trainer")};
  const auto got = get();
  ASSERT_FALSE(got);
  EXPECT_THAT(got.error().message, HasSubstr("no trainer"));
  EXPECT_EQ(market_.asked().size(), 3U);
}

TEST_F(NativeTrainerTest, WhatDoesNotFitOrHasNoNameIsNotFetched) {
  trees_ = *Trees::open(folder_ / "small", 50'000);
  EXPECT_THAT(get().error().message, HasSubstr("--cache"));
  offered_.sha256 = "../../etc";
  EXPECT_FALSE(get());
  EXPECT_TRUE(market_.asked().empty());
}

TEST_F(NativeTrainerTest, ItEndsWhenItsUserEndsIt) {
  given_up_ = true;
  EXPECT_EQ(get().error().code, base::Code::conflict);
}

TEST(NativeTrainerWords, AFolderStartsWithItsOwnLoaderAndAProgramAsItIs) {
  EXPECT_THAT((NativeTrainer{"/usr/bin/souk-torch", false}).command("/work/t"),
              ElementsAre("/work/t"));
  const NativeTrainer whole{"/cache/t", true};
  EXPECT_THAT(whole.command("/work/t"),
              ElementsAre("/work/t/lib/ld-linux-x86-64.so.2", "--argv0", "souk-torch",
                          "--library-path", "/work/t/lib", "/work/t/lib/souk-torch"));
  EXPECT_EQ(whole.program("/work/t"), "/work/t/bin/souk-torch");
}

TEST(NativeTrainerWords, APersonMayNameTheFolderOrTheProgramInIt) {
  const Folder folder;
  for (const auto* name : {"lib/ld-linux-x86-64.so.2", "lib/souk-torch", "bin/souk-torch"}) {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / name) << "x";
  }
  EXPECT_TRUE(trainer_at(folder.path()).folder);
  EXPECT_TRUE(trainer_at(folder / "bin/souk-torch").folder);
  EXPECT_FALSE(trainer_at(folder / "lib/souk-torch").folder);
  EXPECT_EQ(trainer_at("").path, "");
}

}  // namespace
}  // namespace souk::agent
