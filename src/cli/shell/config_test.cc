#include "cli/shell/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace souk::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Environment environment(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto it = values.find(name);
    return it == values.end() || it->second.empty() ? std::nullopt : std::optional(it->second);
  };
}

Config stored() {
  Config config{.server = "http://127.0.0.1:9000", .servers = {}};
  config.servers["http://127.0.0.1:9000"] = {.account = "ada", .token = "file-token", .pin = "aa"};
  config.servers["https://souk.example"] = {.account = "bob", .token = "other-token"};
  return config;
}

TEST(Resolve, WithNothingSaidItIsThisComputer) {
  const auto target = resolve({}, environment({}), {});
  ASSERT_TRUE(target);
  EXPECT_EQ(target->server, kDefaultServer);
  EXPECT_EQ(target->token, "");
}

TEST(Resolve, FlagsGoBeforeEnvironmentBeforeFile) {
  const auto env = environment({{"SOUK_SERVER", "http://127.0.0.1:8000"}, {"SOUK_PIN", "bb"}});
  EXPECT_EQ(resolve({}, environment({}), stored())->server, "http://127.0.0.1:9000");
  EXPECT_EQ(resolve({}, env, stored())->server, "http://127.0.0.1:8000");
  EXPECT_EQ(resolve({.server = "localhost:7000"}, env, stored())->server, "http://localhost:7000");
  EXPECT_EQ(resolve({}, environment({}), stored())->pin, "aa");
  EXPECT_EQ(resolve({}, env, stored())->pin, "bb");
  EXPECT_EQ(resolve({.pin = "cc"}, env, stored())->pin, "cc");
}

TEST(Resolve, ATokenIsSentToItsOwnServerOnly) {
  EXPECT_EQ(resolve({}, environment({}), stored())->token, "file-token");
  EXPECT_EQ(resolve({.server = "https://souk.example/"}, environment({}), stored())->token,
            "other-token");
  EXPECT_EQ(resolve({.server = "https://evil.example"}, environment({}), stored())->token, "");
}

TEST(Resolve, TheEnvironmentsTokenGoesBeforeTheStoredOne) {
  const auto target = resolve({}, environment({{"SOUK_TOKEN", "mine"}}), stored());
  EXPECT_EQ(target->token, "mine");
  EXPECT_EQ(target->account, "");  // Whose it is, nobody knows.
}

TEST(NormalUrl, AddsTheSchemeThatIsSafe) {
  EXPECT_EQ(*normal_url("127.0.0.1:7070/"), "http://127.0.0.1:7070");
  EXPECT_EQ(*normal_url("[::1]:7070"), "http://[::1]:7070");
  EXPECT_EQ(*normal_url("souk.example"), "https://souk.example");
  EXPECT_EQ(*normal_url(" http://souk.example// "), "http://souk.example");
  for (const auto* bad : {"", "ftp://x", "http://", "https://me:secret@souk.example"})
    EXPECT_FALSE(normal_url(bad)) << bad;
}

class ConfigFile : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("souk-config-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "home/souk/config.yaml").string();
  }
  void TearDown() override { fs::remove_all(folder_); }
  static mode_t mode(const std::string& path) {
    struct stat info{};
    return stat(path.c_str(), &info) == 0 ? info.st_mode & 0777 : 0;
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(ConfigFile, NobodyElseCanReadTheTokens) {
  ASSERT_TRUE(save_config(path_, stored()));
  EXPECT_EQ(mode(path_), 0600u);
  EXPECT_EQ(mode(fs::path(path_).parent_path()), 0700u);
  chmod(path_.c_str(), 0644);
  EXPECT_TRUE(readable_by_others(path_));
  ASSERT_TRUE(save_config(path_, stored()));
  EXPECT_EQ(mode(path_), 0600u);
  EXPECT_FALSE(readable_by_others(path_));
}

TEST_F(ConfigFile, ReadsBackWhatItWrote) {
  auto config = stored();
  config.servers["https://empty.example"] = {};
  config.servers["https://souk.example"].account = "o'hara: \"the # one\"";
  ASSERT_TRUE(save_config(path_, config));
  const auto read = load_config(path_);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->server, config.server);
  EXPECT_EQ(read->servers.size(), 3u);
  EXPECT_EQ(read->servers.at("https://souk.example").account, "o'hara: \"the # one\"");
  EXPECT_EQ(read->servers.at("http://127.0.0.1:9000").token, "file-token");
}

TEST_F(ConfigFile, LeavesNoHalfWrittenFileBehind) {
  ASSERT_TRUE(save_config(path_, stored()));
  ASSERT_TRUE(save_config(path_, stored()));
  const auto parent = fs::path(path_).parent_path();
  EXPECT_EQ(std::distance(fs::directory_iterator(parent), fs::directory_iterator()), 1);
}

TEST_F(ConfigFile, AnAbsentFileIsAnEmptyOne) {
  const auto read = load_config(path_);
  ASSERT_TRUE(read);
  EXPECT_TRUE(read->servers.empty());
}

TEST_F(ConfigFile, AMisspeltKeyIsNamedWithItsLine) {
  fs::create_directories(fs::path(path_).parent_path());
  std::ofstream(path_) << "servers:\n  http://127.0.0.1:7070:\n    tokn: x\n";
  const auto read = load_config(path_);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr(":3: "));
  EXPECT_THAT(read.error().hint + read.error().message, HasSubstr("'token'"));
}

TEST(ConfigPath, FollowsXdgThenHome) {
  EXPECT_EQ(*config_path(environment({{"HOME", "/h"}})), "/h/.config/souk/config.yaml");
  EXPECT_EQ(*config_path(environment({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}})),
            "/x/souk/config.yaml");
  EXPECT_FALSE(config_path(environment({})));
}

}  // namespace
}  // namespace souk::cli
