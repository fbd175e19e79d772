#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "cli/commands/commands.h"
#include "server/testing/market.h"

// Command lines, run in this process as main() runs them, against a real server in memory.

namespace souk::cli::testing {

// What a command left behind.
struct CommandResult {
  int status = 0;
  std::string out, err;

  // As the server's answers, for commands with --json.
  [[nodiscard]] server::testing::Answer answer() const { return {.status = 200, .body = out}; }
  // The value at a path such as "items.0.state" of what --json printed.
  [[nodiscard]] std::string at(std::string_view path) const { return answer().at(path); }
};

inline std::ostream& operator<<(std::ostream& stream, const CommandResult& ran) {
  return stream << "status " << ran.status << "\n" << ran.out << ran.err;
}

// Everything that is written to a descriptor while this lives, by whomever.
class Captured {
 public:
  Captured(int fd, std::FILE* stream)
      : fd_(fd), stream_(stream), file_(::memfd_create("captured", MFD_CLOEXEC)), was_(::dup(fd)) {
    std::fflush(stream_);
    CHECK(::dup2(file_.get(), fd_) == fd_);
  }
  ~Captured() { restore(); }

  std::string text() {
    restore();
    std::string out(static_cast<std::size_t>(::lseek(file_.get(), 0, SEEK_END)), '\0');
    CHECK(::pread(file_.get(), out.data(), out.size(), 0) == std::ssize(out));
    return out;
  }

 private:
  void restore() {
    if (!was_) return;
    std::fflush(stream_);
    CHECK(::dup2(was_.get(), fd_) == fd_);
    was_.reset();
  }
  const int fd_;
  std::FILE* const stream_;
  base::Fd file_, was_;
};

// One person's shell: a home folder and an environment of its own.
class Shell {
 public:
  explicit Shell(const std::string& server = "") {
    for (const auto* name : {"XDG_CONFIG_HOME", "XDG_CACHE_HOME"}) env[name] = home / name;
    env["SOUK_PASSWORD"] = server::testing::kPassword;
    if (!server.empty()) env["SOUK_SERVER"] = server;
  }

  CommandResult run(const std::vector<std::string>& arguments) const {
    Captured out(1, stdout), err(2, stderr);
    CommandResult ran;
    ran.status = cli::run(arguments, [this](const char* name) -> std::optional<std::string> {
      const auto it = env.find(name);
      return it == env.end() ? std::nullopt : std::optional(it->second);
    });
    ran.out = out.text();
    ran.err = err.text();
    return ran;
  }
  // As run(), and it must succeed.
  CommandResult must(const std::vector<std::string>& arguments) const {
    auto ran = run(arguments);
    EXPECT_EQ(ran.status, 0) << ::testing::PrintToString(arguments) << ": " << ran;
    return ran;
  }
  // A file in the home folder; its path.
  std::string file(const std::string& name, std::string_view text) const {
    const auto path = home / name;
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    journal::testing::spill(path, text);
    return path;
  }

  server::testing::Folder home;
  std::map<std::string, std::string, std::less<>> env;
};

// A command line and what a person must see of it.
struct CommandRow {
  std::vector<std::string> arguments;
  int status = 0;
  std::vector<std::string> out = {};  // Each is part of stdout,
  std::vector<std::string> err = {};  // and these of stderr.
};

inline void check(const Shell& shell, const std::vector<CommandRow>& rows) {
  for (const auto& row : rows) {
    const auto ran = shell.run(row.arguments);
    const auto line = ::testing::PrintToString(row.arguments);
    EXPECT_EQ(ran.status, row.status) << line << ": " << ran;
    for (const auto& text : row.out) EXPECT_TRUE(ran.out.contains(text)) << line << ": " << ran;
    for (const auto& text : row.err) EXPECT_TRUE(ran.err.contains(text)) << line << ": " << ran;
  }
}

// A market whose operator, the boss, is logged in at `boss`, with 500 credits.
class MarketShell : public ::testing::Test {
 protected:
  MarketShell() : boss(market.server().url()) {
    boss.must({"account", "create", "boss"});
    boss.must({"account", "grant", "boss", "500"});
  }
  // The boss lends two slots of class c1: machine m1, offer o1.
  void lend() const {
    boss.must({"machine", "add", "box", "--cores", "8", "--memory", "64G"});
    boss.must({"offer", "create", "m1", "--class", "c1", "--slots", "2", "--price", "0.5"});
  }

  server::testing::Market market;
  Shell boss;
};

}  // namespace souk::cli::testing
