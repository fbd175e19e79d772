#pragma once

#include <fcntl.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/report.h"
#include "server/core/server.h"

// A market server in a process of its own: this program again, started with --serve.

namespace souk::bench {

// Raises the limit on open files as far as `wanted`, or as far as the system lets us. Returns it.
inline std::size_t raise_file_limit(std::size_t wanted) {
  rlimit limit{.rlim_cur = wanted, .rlim_max = wanted};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
    ::setrlimit(RLIMIT_NOFILE, &limit);
  }
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// What --serve does: runs until standard input ends, which it does when the parent goes.
inline int serve_as_child(const Flags& flags) {
  raise_file_limit(1'048'576);
  // Standard output is for the port.
  spdlog::set_default_logger(spdlog::stderr_logger_mt("server"));
  spdlog::set_level(spdlog::level::warn);
  std::signal(SIGPIPE, SIG_IGN);
  server::Options options;
  options.budgets = {"connections=100000/100000"};  // All come from one address.
  options.data = flags.text("data", "");
  options.port = 0;
  if (flags.has("memory")) options.journal = "memory:";
  options.requests_per_second = 0;
  options.challenge_every = {};  // Its machines exist on paper only.
  const auto server = must(server::Server::start(options));
  fmt::print("{}\n", server->port());
  std::fflush(stdout);
  char byte = 0;
  while (::read(STDIN_FILENO, &byte, 1) > 0) {
  }
  server->stop();
  return 0;
}

// The parent's end.
class Child {
 public:
  explicit Child(const std::vector<std::string>& flags) {
    int in[2], out[2];
    if (::pipe2(in, O_CLOEXEC) != 0 || ::pipe2(out, O_CLOEXEC) != 0) give_up("no pipe");
    pid_ = ::fork();
    if (pid_ < 0) give_up("cannot fork");
    if (pid_ == 0) {
      ::dup2(in[0], STDIN_FILENO);
      ::dup2(out[1], STDOUT_FILENO);
      std::vector<std::string> text{"server", "--serve"};
      text.insert(text.end(), flags.begin(), flags.end());
      std::vector<char*> argv;
      for (auto& t : text) argv.push_back(t.data());
      argv.push_back(nullptr);
      ::execv("/proc/self/exe", argv.data());
      ::_exit(127);
    }
    ::close(in[0]);
    ::close(out[1]);
    stop_ = in[1];
    auto* lines = ::fdopen(out[0], "r");
    int port = 0;
    if (std::fscanf(lines, "%d", &port) != 1) give_up("the server did not start");
    std::fclose(lines);
    port_ = static_cast<std::uint16_t>(port);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    ::close(stop_);
    ::waitpid(pid_, nullptr, 0);
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] std::string url() const { return fmt::format("http://127.0.0.1:{}", port_); }

  // Resident memory in bytes.
  [[nodiscard]] std::size_t resident() const {
    std::ifstream status(fmt::format("/proc/{}/status", pid_));
    for (std::string word; status >> word;) {
      std::size_t kib = 0;
      if (word == "VmRSS:" && status >> kib) return kib * 1024;
    }
    give_up("the server is gone");
  }

 private:
  pid_t pid_ = -1;
  int stop_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace souk::bench
