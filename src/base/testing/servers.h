#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <pwd.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/testing/eventually.h"
#include "base/testing/port.h"

// Database servers of one's own, for tests and benchmarks: on loopback, at a port that stays
// theirs, in a folder that goes with them. Each is nothing where its program is not installed, and
// where it does not start; then its log is on stderr.

namespace souk::base::testing {

class Folder {
 public:
  Folder() {
    std::string name = "/tmp/souk-server-XXXXXX";
    CHECK(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  Folder(Folder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// A program that is running; ended and waited for when this goes.
class Child {
 public:
  explicit Child(const std::vector<std::string>& arguments, const std::string& folder) {
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const auto& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
    argv.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    const auto log = folder + "/log";
    posix_spawn_file_actions_addopen(&files, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0666);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    if (::posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), environ) != 0) pid_ = -1;
    posix_spawn_file_actions_destroy(&files);
  }
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&& other) noexcept {
    std::swap(pid_, other.pid_);
    return *this;
  }
  ~Child() { end(SIGINT); }

  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    wait();
  }
  [[nodiscard]] bool running() const {
    siginfo_t info{};
    return pid_ > 0 &&
           ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }
  int wait() {
    int status = -1;
    if (pid_ > 0) ::waitpid(std::exchange(pid_, -1), &status, 0);
    return status;
  }

 private:
  pid_t pid_ = -1;
};

inline bool answers(std::uint16_t port) {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

inline bool wait_for(const std::function<bool()>& condition) { return eventually(condition); }

// Tells why a server did not start.
inline void show_log(const std::string& folder) {
  std::ostringstream log;
  log << std::ifstream(folder + "/log").rdbuf();
  std::fputs(("a server did not start:\n" + log.str()).c_str(), stderr);
}

// Waits until `child` is `ready`. False if it ends before that.
inline bool begins(const Child& child, const std::string& folder,
                   const std::function<bool()>& ready) {
  if (wait_for([&] { return !child.running() || ready(); }) && child.running()) return true;
  show_log(folder);
  return false;
}

struct Database {
  Folder folder;
  Port port;
  Child child;
  std::string url;
  std::function<std::optional<Child>()> start = {};  // Again, over the same data.

  // Ends it by this signal and starts it again. False: it does not come back.
  bool restart(int signal) {
    child.end(signal);
    auto again = start();
    if (!again) return false;
    child = *std::move(again);
    return true;
  }
};

inline constexpr const char* kRedis = "/usr/bin/redis-server";

inline bool has_redis() { return std::filesystem::exists(kRedis); }

inline std::optional<Database> start_redis() {
  if (!has_redis()) return std::nullopt;
  Folder folder;
  Port port;
  Child child({kRedis, "--port", std::to_string(port.number()), "--bind", "127.0.0.1", "--save", "",
               "--appendonly", "no", "--dir", folder.path()},
              folder.path());
  if (!begins(child, folder.path(), [&] { return answers(port.number()); })) return std::nullopt;
  auto url = fmt::format("redis://127.0.0.1:{}/0", port.number());
  return Database{std::move(folder), std::move(port), std::move(child), std::move(url)};
}

// Where PostgreSQL's programs are; empty when it is not installed.
inline std::string postgres_programs() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(entry.path() / "bin/postgres")) return entry.path() / "bin";
  return {};
}

// It refuses to run as root, who therefore needs a user for it.
inline bool has_postgres() {
  return !postgres_programs().empty() && (::geteuid() != 0 || ::getpwnam("postgres") != nullptr);
}

inline std::optional<Database> start_postgres(bool durable) {
  const auto programs = postgres_programs();
  if (!has_postgres()) return std::nullopt;
  Folder folder;
  std::vector<std::string> as_user;
  if (::geteuid() == 0) {
    const auto* user = ::getpwnam("postgres");
    if (::chown(folder.path().c_str(), user->pw_uid, user->pw_gid) != 0) return std::nullopt;
    as_user = {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"};
  }
  const auto run = [as_user, log = folder.path()](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), as_user.begin(), as_user.end());
    return Child(arguments, log);
  };
  const auto data = folder.path() + "/data";
  if (run({programs + "/initdb", "-D", data, "-A", "trust", "-U", "souk", "--no-sync",
           "--no-locale", "-E", "UTF8"})
          .wait() != 0) {
    show_log(folder.path());
    return std::nullopt;
  }
  Port own;
  const auto port = std::to_string(own.number());
  const auto start = [=, path = folder.path()]() -> std::optional<Child> {
    auto child = run({programs + "/postgres", "-D", data, "-p", port, "-k", path, "-c",
                      "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB", "-c",
                      durable ? "fsync=on" : "fsync=off"});
    // It takes connections before it takes requests.
    const auto ready = [&] {
      return run({programs + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", port}).wait() == 0;
    };
    return begins(child, path, ready) ? std::optional(std::move(child)) : std::nullopt;
  };
  auto child = start();
  if (!child) return std::nullopt;
  auto url = fmt::format("postgresql://souk@127.0.0.1:{}/postgres", port);
  return Database{std::move(folder), std::move(own), *std::move(child), std::move(url), start};
}

}  // namespace souk::base::testing
