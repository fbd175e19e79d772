#include "agent/trainer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "wire/safetensors.h"

namespace souk::agent {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHello =
    R"({"ok":true,"name":"t","tensors":[{"name":"w","shape":[2,3]}],"more":[1]})"
    "\n";

// The trainer's end of the conversation is played by the test, which writes its answers first.
struct Talk {
  fs::path folder = fs::temp_directory_path() / ("souk-trainer-" + std::to_string(::getpid()));
  base::Fd theirs;
  std::unique_ptr<Trainer> trainer;
  bool hurry = false, give_up = false;

  Talk() {
    fs::remove_all(folder);
    fs::create_directories(folder);
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    theirs = base::Fd(ends[1]);
    trainer = std::make_unique<Trainer>(
        base::Fd(ends[0]), folder.string(), std::size_t{1} << 20, [this] { return give_up; },
        [this] { return hurry; });
  }
  ~Talk() { fs::remove_all(folder); }
  void say(std::string_view text) {
    EXPECT_EQ(::write(theirs.get(), text.data(), text.size()), std::ssize(text));
  }
  std::string heard() {
    std::string out(4'096, '\0');
    const auto n = ::recv(theirs.get(), out.data(), out.size(), MSG_DONTWAIT);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out;
  }
  void hello() {
    say(kHello);
    const auto answer = trainer->hello({{"model", "\"lenet\""}});
    ASSERT_TRUE(answer) << answer.error().message;
  }
};

TEST(Trainer, HelloNamesTheTensorsAndCarriesTheConfig) {
  Talk t;
  t.hello();
  EXPECT_EQ(t.trainer->size(), 6u);
  EXPECT_EQ(t.heard(), R"({"op":"hello","protocol":1,"config":{"model":"lenet"}})"
                       "\n");
}

TEST(Trainer, WhatATrainerSaysIsNotBelieved) {
  for (const std::string_view bad :
       {"hello\n", "{}\n", "{\"ok\":1}\n", "{\"ok\":false,\"error\":\"no model\"}\n",
        "{\"ok\":true,\"tensors\":[]}\n", "{\"ok\":true,\"tensors\":[{\"name\":\"w\"}]}\n",
        "{\"ok\":true,\"tensors\":[{\"name\":\"w\",\"shape\":[-1]}]}\n",
        "{\"ok\":true,\"tensors\":[{\"name\":\"w\",\"shape\":[1000000,1000000]}]}\n"}) {
    Talk t;
    t.say(bad);
    EXPECT_FALSE(t.trainer->hello({})) << bad;
  }
}

TEST(Trainer, AModelBeyondTheLeasesMemoryIsRefusedBeforeAnythingIsMadeForIt) {
  for (const std::string_view shapes :
       {R"({"name":"w","shape":[1073741823]})", R"({"name":"w","shape":[1048577]})",
        R"({"name":"w","shape":[1048576]},{"name":"b","shape":[1]})"}) {
    Talk t;
    t.say(fmt::format("{{\"ok\":true,\"tensors\":[{}]}}\n", shapes));
    const auto answer = t.trainer->hello({});
    ASSERT_FALSE(answer) << shapes;
    EXPECT_EQ(answer.error().code, base::Code::too_large);
    EXPECT_EQ(t.trainer->size(), 0u);
  }
  Talk t;
  t.say("{\"ok\":true,\"tensors\":[{\"name\":\"w\",\"shape\":[1048576]}]}\n");
  EXPECT_TRUE(t.trainer->hello({}));
}

TEST(Trainer, OneThatEndsOrIsSilentIsNotWaitedFor) {
  Talk t;
  t.hello();
  EXPECT_FALSE(t.trainer->ask("{}", base::milliseconds(50)));
  t.give_up = true;
  EXPECT_FALSE(t.trainer->ask("{}", base::hours(1)));
  t.give_up = false;
  t.theirs.reset();
  EXPECT_FALSE(t.trainer->ask("{}", base::hours(1)));
}

TEST(Trainer, OneThatMustHurryIsToldToStopOnce) {
  Talk t;
  t.hello();
  (void)t.heard();
  t.hurry = true;
  EXPECT_FALSE(t.trainer->ask("{\"op\":\"train\"}", base::milliseconds(100)));
  EXPECT_EQ(t.heard(), "{\"op\":\"train\"}\n{\"op\":\"stop\"}\n");
}

TEST(Trainer, ParametersComeBackAsTheyWere) {
  Talk t;
  t.hello();
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(t.trainer->write("p", values));
  std::vector<float> back;
  const auto read = t.trainer->read("p", back);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(back, values);
}

TEST(Trainer, ParametersAreWrittenInPlaceUnlessTheTrainerChangedTheFile) {
  Talk t;
  t.hello();
  const auto path = t.folder / "p";
  const auto file = [&] {
    struct stat info{};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_ino;
  };
  const auto check = [&](float first) {
    ASSERT_TRUE(t.trainer->write("p", std::vector<float>{first, 2, 3, 4, 5, 6}));
    std::vector<float> back;
    ASSERT_TRUE(t.trainer->read("p", back));
    EXPECT_EQ(back[0], first);
  };
  check(1);
  const base::Fd kept(::open(path.c_str(), O_RDONLY | O_CLOEXEC));  // Keeps its number in use.
  const auto first = file();
  check(2);
  EXPECT_EQ(file(), first);
  fs::resize_file(path, 4);
  check(3);
  EXPECT_NE(file(), first);
  // What was put there instead is left alone.
  const auto other = t.folder / "other";
  std::ofstream(other) << "mine";
  fs::remove(path);
  fs::create_symlink(other, path);
  check(4);
  EXPECT_EQ(fs::file_size(other), 4u);
  fs::remove(path);
  check(5);
}

TEST(Trainer, AFileThatIsATrapIsRefused) {
  Talk t;
  t.hello();
  const auto outside = t.folder / "secret";
  const std::vector<float> values{1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(t.trainer->write("secret", values));
  fs::create_symlink(outside, t.folder / "link");
  std::vector<float> back;
  EXPECT_FALSE(t.trainer->read("link", back));
  ASSERT_EQ(::mkfifo((t.folder / "pipe").c_str(), 0600), 0);
  EXPECT_FALSE(t.trainer->read("pipe", back));  // And does not block.
  EXPECT_FALSE(t.trainer->read("none", back));
  std::ofstream(t.folder / "short") << "12345678";
  EXPECT_FALSE(t.trainer->read("short", back));
  const auto other =
      wire::safetensors_head({{.name = "w", .dtype = "F32", .shape = {3, 2}}}) + std::string(24, 0);
  std::ofstream(t.folder / "other") << other;
  EXPECT_FALSE(t.trainer->read("other", back));
  // What is written replaces a link, and leaves what it led to alone.
  ASSERT_TRUE(t.trainer->write_bytes("link", "x"));
  EXPECT_TRUE(t.trainer->read("secret", back));
}

}  // namespace
}  // namespace souk::agent
