#include "agent/probe/command_output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "base/fd.h"

namespace souk::agent {
namespace {

using Clock = std::chrono::steady_clock;
using base::Code;
using base::Fd;

// How soon the end of a program is noticed where the kernel has no pidfd (before Linux 5.3).
constexpr int kPollMs = 20;

struct Pipe {
  Fd read;
  Fd write;
};

base::Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  // Close-on-exec, so that programs started by other threads do not hold our pipes open.
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return base::fail(Code::exhausted, fmt::format("cannot make a pipe: {}", std::strerror(errno)));
  Pipe out{Fd(ends[0]), Fd(ends[1])};
  CHECK(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);  // Of the reading end only.
  return out;
}

base::Result<pid_t> spawn(const std::vector<std::string>& argv, const Pipe& out, const Pipe& err) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);

  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  CHECK(posix_spawn_file_actions_init(&files) == 0);
  CHECK(posix_spawnattr_init(&attributes) == 0);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, out.write.get(), 1);
  posix_spawn_file_actions_adddup2(&files, err.write.get(), 2);
  posix_spawn_file_actions_addclosefrom_np(&files, 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = -1;
  const int error = posix_spawnp(&pid, pointers[0], &files, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0)
    return base::fail(error == EAGAIN || error == ENOMEM ? Code::exhausted : Code::not_found,
                      fmt::format("cannot run '{}': {}", argv[0], std::strerror(error)),
                      "is it installed, and on PATH?");
  return pid;
}

// Has it ended? It stays a zombie, so that its number cannot come to mean another process.
bool has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

// Takes what is there. False when the stream holds more than `most`.
bool drain(Fd& from, std::string& into, std::size_t most) {
  std::array<char, 65536> buffer;
  while (from.get() >= 0) {
    const auto n = read(from.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return true;
    if (n <= 0) {
      from.reset();
      return true;
    }
    const auto room = most - into.size();
    const auto got = static_cast<std::size_t>(n);
    into.append(buffer.data(), std::min(got, room));
    if (got > room) return false;
  }
  return true;
}

}  // namespace

base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                        base::Duration timeout, std::size_t max_output) {
  CHECK(!argv.empty() && max_output > 0);
  SOUK_ASSIGN(auto out, make_pipe());
  SOUK_ASSIGN(auto err, make_pipe());
  SOUK_ASSIGN(const auto pid, spawn(argv, out, err));
  out.write.reset();
  err.write.reset();
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-vararg): there is no wrapper in glibc 2.36.
  const Fd ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));

  CommandOutput result;
  const auto deadline = Clock::now() + std::chrono::microseconds(timeout.us);
  while (true) {
    // First the end, then the pipes: what it wrote before its end is then all there.
    const bool over = has_ended(pid);
    result.truncated =
        !drain(out.read, result.out, max_output) || !drain(err.read, result.err, max_output);
    if (over || result.truncated) break;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) {
      result.timed_out = true;
      break;
    }
    const auto wait = static_cast<int>(std::min<long>(left, ended.get() >= 0 ? 60'000 : kPollMs));
    std::array<pollfd, 3> watched{
        {{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}, {ended.get(), POLLIN, 0}}};
    poll(watched.data(), watched.size(), wait);
  }
  kill(-pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return result;
}

}  // namespace souk::agent
