#include "cli/shell/config_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace souk::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Settings {
  std::string data;
  std::int32_t threads = 2;
  bool memory = false;
  base::Duration keep = base::days(90);
  std::vector<std::string> proxies;
  std::optional<Memory> blobs;

  std::vector<Option> options() {
    return {flag("--data FOLDER", "where it is", data),
            flag("--threads N", "how many", threads),
            flag("--memory", "nothing on disk", memory),
            flag("--keep-journal TIME", "how long", keep),
            flag("--trusted-proxy ADDRESS", "who", proxies),
            flag("--blobs SIZE", "how much", blobs)};
  }
  base::Result<> read(const std::string& text, const std::string& given = "") {
    const auto folder = fmt::format("{}souk-settings-{}", ::testing::TempDir(), ::getpid());
    std::filesystem::create_directory(folder);
    const auto path = folder + "/souk-config.yaml";
    std::ofstream(path) << text;
    auto out = read_config_file(path, options(), [&](const Option& o) { return o.name == given; });
    std::filesystem::remove_all(folder);
    return out;
  }
};

TEST(SettingsFile, EveryFlagIsAKey) {
  Settings s;
  const auto read = s.read(
      "data: ./market\nthreads: 4\nmemory: true\nkeep_journal: 30d\n"
      "trusted_proxy: [10.0.0.1, 10.0.0.2]\nblobs: 50G\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(s.data, "./market");
  EXPECT_EQ(s.threads, 4);
  EXPECT_TRUE(s.memory);
  EXPECT_EQ(s.keep, base::days(30));
  EXPECT_THAT(s.proxies, ElementsAre("10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(s.blobs->mib, 50 << 10);
}

TEST(SettingsFile, FlagsComeFirst) {
  Settings s{.threads = 8};
  ASSERT_TRUE(s.read("threads: 4\ndata: x\n", "--threads"));
  EXPECT_EQ(s.threads, 8);
  EXPECT_EQ(s.data, "x");
}

TEST(SettingsFile, WhatIsWrongIsNamedWithItsLine) {
  const std::pair<std::string, std::string> cases[] = {
      {"data: x\ntreads: 4\n", "souk-config.yaml:2: unknown key 'treads'"},
      {"data: x\n\nthreads: many\n", "souk-config.yaml:3: threads: "},
      {"threads: [1, 2]\n", "souk-config.yaml:1: 'threads' is no list"},
      {"data: {a: b}\n", "souk-config.yaml:1: 'data' is no map"},
      {"config: other.yaml\n", "unknown key 'config'"},
      {"- a\n", "not a list of keys"},
      {"data: [\n", "souk-config.yaml:"},
  };
  for (const auto& [text, said] : cases) {
    Settings s;
    const auto read = s.read(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, HasSubstr(said)) << text;
  }
  Settings s;
  EXPECT_THAT(s.read("treads: 4\n").error().hint, HasSubstr("'threads'"));
  EXPECT_TRUE(s.read(""));
  EXPECT_TRUE(s.read("# threads: 4\n\n  # data: x"));
  EXPECT_TRUE(s.read("data:\n"));
}

TEST(SettingsFile, WhatIsPrintedIsReadBack) {
  Settings s{.data = "a: b #c",
             .threads = 3,
             .memory = true,
             .keep = base::hours(5),
             .proxies = {"[::1]", "10.0.0.0/8"}};
  const auto text = config_text(s.options());
  EXPECT_THAT(text, HasSubstr("# TIME: how long\nkeep_journal: 5h\n"));
  EXPECT_THAT(text, HasSubstr("# SIZE: how much\n# blobs:\n"));
  Settings again;
  ASSERT_TRUE(again.read(text)) << again.read(text).error().message;
  EXPECT_EQ(config_text(again.options()), text);
  EXPECT_EQ(again.data, "a: b #c");
}

}  // namespace
}  // namespace souk::cli
