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
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/testing/eventually.h"

// Database servers of one's own, for tests and benchmarks: on loopback, in a folder that goes with
// them. Each is nothing where its program is not installed.

namespace souk::base::testing {

inline std::uint16_t free_port() {
  const Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  CHECK(::bind(fd.get(), any, size) == 0 && ::getsockname(fd.get(), any, &size) == 0);
  return ntohs(address.sin_port);
}

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

inline bool wait_for(const std::function<bool()>& condition) {
  return eventually(condition, std::chrono::seconds(30));
}

struct Database {
  Folder folder;
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

inline std::optional<Database> start_redis() {
  if (!std::filesystem::exists("/usr/bin/redis-server")) return std::nullopt;
  Folder folder;
  const auto port = free_port();
  Child child({"/usr/bin/redis-server", "--port", std::to_string(port), "--bind", "127.0.0.1",
               "--save", "", "--appendonly", "no", "--dir", folder.path()},
              folder.path());
  if (!wait_for([&] { return answers(port); })) return std::nullopt;
  return Database{std::move(folder), std::move(child), fmt::format("redis://127.0.0.1:{}/0", port)};
}

// Where PostgreSQL's programs are; empty when it is not installed.
inline std::string postgres_programs() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", ignored))
    if (std::filesystem::exists(entry.path() / "bin/postgres")) return entry.path() / "bin";
  return {};
}

inline std::optional<Database> start_postgres(bool durable) {
  const auto programs = postgres_programs();
  if (programs.empty()) return std::nullopt;
  Folder folder;
  std::vector<std::string> as_user;  // It refuses to run as root.
  if (::geteuid() == 0) {
    const auto* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(folder.path().c_str(), user->pw_uid, user->pw_gid) != 0)
      return std::nullopt;
    as_user = {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"};
  }
  const auto run = [as_user, log = folder.path()](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), as_user.begin(), as_user.end());
    return Child(arguments, log);
  };
  const auto data = folder.path() + "/data";
  if (run({programs + "/initdb", "-D", data, "-A", "trust", "-U", "souk", "--no-sync",
           "--no-locale", "-E", "UTF8"})
          .wait() != 0)
    return std::nullopt;
  const auto port = std::to_string(free_port());
  const auto start = [=, sockets = folder.path()]() -> std::optional<Child> {
    auto child = run({programs + "/postgres", "-D", data, "-p", port, "-k", sockets, "-c",
                      "listen_addresses=127.0.0.1", "-c", "max_wal_size=4GB", "-c",
                      durable ? "fsync=on" : "fsync=off"});
    // It takes connections before it takes requests.
    const auto ready = [&] {
      return run({programs + "/pg_isready", "-q", "-h", "127.0.0.1", "-p", port}).wait() == 0;
    };
    return wait_for(ready) ? std::optional(std::move(child)) : std::nullopt;
  };
  auto child = start();
  if (!child) return std::nullopt;
  return Database{std::move(folder), *std::move(child),
                  fmt::format("postgresql://souk@127.0.0.1:{}/postgres", port), start};
}

}  // namespace souk::base::testing
