#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>

#include "agent/limits/cgroup.h"
#include "agent/sandbox/sandbox.h"
#include "agent/sandbox/sandbox_keep.h"
#include "agent/sandbox/sandbox_usage.h"
#include "base/testing/eventually.h"

// For the sandboxes' tests: runs a program to its end, or step by step, with deadlines.

namespace souk::agent::testing {

using base::testing::eventually;

inline std::unique_ptr<Sandbox> sandbox(std::string_view name) { return *make_sandbox(name); }

inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;

inline Program python(std::string script) {
  return {
      .argv = {"/usr/bin/python3", "-I", "-c", std::move(script)},
      .limits = {.cores = 1, .memory_bytes = 256 * kMiB, .scratch_bytes = 64 * kMiB, .pids = 64}};
}

inline Program shell(std::string script) {
  auto program = python("");
  program.argv = {"/bin/sh", "-c", std::move(script)};
  return program;
}

// A program, its process and what it has printed so far.
class Box {
 public:
  Box(const Sandbox& place, Program program) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    output_ = ends[0];
    fcntl(output_, F_SETFL, O_NONBLOCK);
    program.output_fd = ends[1];
    auto prepared = place.prepare(program);
    close(ends[1]);
    if (!prepared)
      ADD_FAILURE() << prepared.error().message << " (" << prepared.error().hint << ")";
    else
      process_ = std::move(*prepared);
  }
  ~Box() { close(output_); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  explicit operator bool() const { return process_ != nullptr; }
  Process& operator*() { return *process_; }
  Process* operator->() { return process_.get(); }
  void destroy() { process_.reset(); }

  void start() {
    const auto started = process_->start();
    EXPECT_TRUE(started) << started.error().message;
  }

  const std::string& output() {
    char bytes[4096];
    for (ssize_t got = 0; (got = read(output_, bytes, sizeof bytes)) > 0;)
      output_text_.append(bytes, static_cast<std::size_t>(got));
    return output_text_;
  }

  bool prints(std::string_view text) {
    return eventually([&] { return output().contains(text) || process_->poll().has_value(); }) &&
           output().contains(text);
  }

  Exit finish() {
    std::optional<Exit> exit;
    if (!eventually([&] {
          output();
          exit = process_->wait(base::milliseconds(5));
          return exit.has_value();
        })) {
      ADD_FAILURE() << "the program did not end; it printed: " << output();
      return {};
    }
    output();
    return *exit;
  }

 private:
  std::unique_ptr<Process> process_;
  int output_ = -1;
  std::string output_text_;
};

struct ProgramResult {
  Exit exit;
  std::string output;
  Usage usage;
};

inline ProgramResult run(const Sandbox& place, Program program) {
  Box box(place, std::move(program));
  if (!box) return {};
  box.start();
  auto exit = box.finish();
  return {std::move(exit), box.output(), box->usage()};
}

inline std::string slurp(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline bool alive(pid_t pid) {
  const auto stat = slurp("/proc/" + std::to_string(pid) + "/stat");
  const auto end = stat.rfind(')');
  return end != std::string::npos && stat.size() > end + 2 && stat[end + 2] != 'Z';
}

// The process on this machine whose command line contains `mark`, or 0.
inline pid_t find_process(std::string_view mark) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const auto name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (slurp(entry.path() / "cmdline").contains(mark)) return std::stoi(name);
  }
  return 0;
}

// Runs `body` in a forked child as an ordinary user, where the tests run as root.
inline void as_ordinary_user(const std::function<void()>& body) {
  if (geteuid() != 0) return body();
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const uid_t nobody = 65534;
    if (syscall(SYS_setgroups, 0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
        setresuid(nobody, nobody, nobody) != 0)
      _exit(2);
    prctl(PR_SET_DUMPABLE, 1);
    body();
    _exit(::testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0) << "the child that ran as an ordinary user failed";
}

// Mounts that a sandbox makes, where they do not belong. It makes them in a namespace of its own.
inline std::vector<std::string> sandbox_mounts() {
  std::vector<std::string> out;
  std::ifstream in("/proc/self/mountinfo");
  const auto below = std::string(" ") + kScratchPoint + "/";
  for (std::string line; std::getline(in, line);)
    if (line.contains(" souk ") || line.contains(below)) out.push_back(line);
  return out;
}

// What a sandbox could leave behind, to compare before and after. Only what bears this process's
// mark, as other tests may run beside this one.
struct Leftovers {
  std::vector<std::string> mounts = sandbox_mounts(), groups, files;
  std::ptrdiff_t descriptors =
      std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  int children = static_cast<int>(tree_of(getpid()).size()) - 1;

  Leftovers() {
    const auto me = std::to_string(getpid()) + "-";
    std::error_code none;
    for (const auto& place : Cgroups::find().places())
      for (const auto& entry : std::filesystem::directory_iterator(place.folder, none))
        if (entry.path().filename().string().starts_with("souk-lease-" + me))
          groups.push_back(entry.path());
    for (const auto& entry : std::filesystem::directory_iterator("/tmp", none))
      if (entry.path().filename().string().starts_with("souk-bare-" + me))
        files.push_back(entry.path());
    for (const char* path : {kWork, kTmp, kShm, kInputs})
      if (std::filesystem::exists(path, none)) files.push_back(path);
  }
  bool operator==(const Leftovers&) const = default;
};

}  // namespace souk::agent::testing
