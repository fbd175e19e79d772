#include "agent/sandbox/sandbox_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>

#include "agent/limits/lease_watch.h"
#include "agent/sandbox/sandbox_usage.h"
#include "base/check.h"

namespace souk::agent {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;

namespace {

constexpr auto kRetry = base::milliseconds(20);

class KeptProcess final : public Process {
 public:
  explicit KeptProcess(ProcessParts parts) : parts_(std::move(parts)) {
    const auto& limits = parts_.limits;
    WatchPlan plan{.keeper = parts_.keeper->pid()};
    if (parts_.watch_memory) {
      // As with control groups, what scratch leaves free may be used as memory.
      plan.memory_limit = limits.memory_bytes + limits.scratch_bytes;
      plan.memory_scratch = parts_.memory_scratch;
    }
    if (!parts_.disk.folder.empty()) {
      plan.disk_limit = limits.disk_bytes;
      plan.disk_folder = parts_.disk.folder;
    }
    if (plan.memory_limit > 0 || plan.disk_limit > 0)
      watched_ = LeaseWatch::of_machine().watch(std::move(plan),
                                                [keeper = parts_.keeper.get()] { keeper->kill(); });
  }

  ~KeptProcess() override {
    watched_.reset();       // It orders the keeper about.
    parts_.keeper.reset();  // First, for everything below it dies with it.
    parts_.cgroup.reset();
    parts_.disk = {};
    if (!parts_.remove_at_end.empty()) remove_tree(parts_.remove_at_end);
  }

  std::string scratch() const override { return parts_.scratch; }

  Result<> start() override {
    if (started_) return fail(Code::conflict, "the program was already started");
    SOUK_TRY(give_scratch());
    started_ = true;
    parts_.keeper->start();
    return {};
  }

  Usage usage() override {
    if (!exit_) measure();
    if (!exit_ && started_ && parts_.own_network)
      measure_network(parts_.find_program(parts_.keeper->pid()), usage_);
    usage_.scratch_bytes = scratch_bytes();
    return usage_;
  }

  void terminate() override {
    if (!started_ || exit_) return;
    // It may not be there yet; poll() tries again.
    terminating_ = !signal_program();
  }

  void kill() override {
    if (!started_ || exit_) return;
    killed_ = true;
    parts_.keeper->kill();
  }

  std::optional<Exit> poll() override { return wait(Duration(0)); }

  std::optional<Exit> wait(Duration timeout) override {
    using std::chrono::steady_clock;
    const auto deadline = steady_clock::now() + std::chrono::microseconds(timeout.us);
    while (started_ && !exit_) {
      if (terminating_) terminating_ = !signal_program();
      const auto left = std::chrono::duration_cast<std::chrono::microseconds>(
          std::max(deadline - steady_clock::now(), steady_clock::duration::zero()));
      const Duration slice(left.count());
      const auto report = parts_.keeper->next(terminating_ ? std::min(slice, kRetry) : slice);
      if (report)
        take(*report);
      else if (slice.us == 0)
        break;
    }
    return exit_;
  }

 private:
  void take(const KeepReport& report) {
    if (report.word == Word::failed) failure_ = report;
    if (report.word != Word::ended) return;
    measure();
    usage_.processes = 0;
    exit_ = describe(report);
  }

  Result<> give_scratch() {
    if (parts_.scratch_owner == 0) return {};
    // Nothing runs in there yet, so the names cannot change under this walk.
    std::error_code error;
    for (auto it = std::filesystem::recursive_directory_iterator(parts_.scratch, error);
         !error && it != std::filesystem::recursive_directory_iterator(); it.increment(error))
      if (lchown(it->path().c_str(), parts_.scratch_owner, parts_.scratch_owner) != 0)
        return fail(Code::unavailable, fmt::format("cannot give {} to the program: {}",
                                                   it->path().string(), std::strerror(errno)));
    if (error) return fail(Code::unavailable, "cannot walk the scratch: " + error.message());
    return {};
  }

  bool signal_program() {
    const pid_t pid = parts_.find_program(parts_.keeper->pid());
    if (pid == 0) return false;
    const Fd process(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    // Looked up again: now that it is held, its number cannot have gone to another process.
    if (process.get() < 0 || parts_.find_program(parts_.keeper->pid()) != pid) return false;
    // All of its group, or a shell would die of it before the program that it waits for. The group
    // is the sandbox's own: its leader is the program or the sandbox's first process.
    const auto group = ::getpgid(pid);
    if (group > 1 && group != ::getpgrp() && ::kill(-group, SIGTERM) == 0) return true;
    return syscall(SYS_pidfd_send_signal, process.get(), SIGTERM, nullptr, 0) == 0;
  }

  void measure() {
    const bool counted = watched_ && parts_.watch_memory;
    if (counted)
      measure_processes(parts_.keeper->pid(), watched_->processes(), usage_);
    else if (!parts_.cgroup || !parts_.cgroup->measures_all())
      measure_tree(parts_.keeper->pid(), usage_);
    if (parts_.cgroup) parts_.cgroup->measure(usage_);
    if (!counted) return;
    usage_.memory_bytes = watched_->memory_bytes();
    usage_.memory_peak_bytes = watched_->memory_peak_bytes();
  }

  std::int64_t scratch_bytes() const {
    if (watched_ && !parts_.disk.folder.empty()) return watched_->disk_bytes();
    return parts_.remove_at_end.empty() ? used_bytes(parts_.scratch) : 0;
  }

  std::string describe(const Excess& excess) const {
    const auto& limits = parts_.limits;
    if (excess.disk)
      return fmt::format("out of scratch: the limit is {} MiB, and its files had {} MiB",
                         limits.disk_bytes >> 20, excess.bytes >> 20);
    return fmt::format(
        "out of memory: the limit is {} MiB and {} MiB of scratch, and {} process{} held {} MiB",
        limits.memory_bytes >> 20, limits.scratch_bytes >> 20, excess.processes,
        excess.processes == 1 ? "" : "es", excess.bytes >> 20);
  }

  // Did bwrap say with which code the program ended? If not, there was no program.
  bool program_ran(int code) const {
    if (failure_ || (code >= parts_.first_failure_code && code <= 127)) return false;
    if (parts_.status.get() < 0) return true;
    std::string text(4096, '\0');
    const auto got = read(parts_.status.get(), text.data(), text.size());
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return text.contains("exit-code");
  }

  Exit describe(const KeepReport& report) {
    Exit exit;
    if (WIFSIGNALED(report.status)) exit.signal = WTERMSIG(report.status);
    if (WIFEXITED(report.status)) exit.code = WEXITSTATUS(report.status);
    if (exit.code > 128 && exit.code <= 128 + 64) exit.signal = std::exchange(exit.code, 0) - 128;
    const bool failed = exit.code != 0 || exit.signal != 0;
    const auto excess = watched_ ? watched_->excess() : std::nullopt;
    exit.out_of_memory = failed && ((excess && !excess->disk) ||
                                    (parts_.cgroup && parts_.cgroup->out_of_memory_kills() > 0));
    // bwrap itself would have said with which code it failed.
    const bool shot = WIFSIGNALED(report.status);
    exit.started =
        (shot && !failure_) || program_ran(exit.code) || exit.out_of_memory || excess || killed_;
    if (failure_)
      exit.text = explain(*failure_).message;
    else if (!exit.started)
      exit.text = "the sandbox could not start the program; its output says why";
    else if (failed && excess)
      exit.text = describe(*excess);
    else if (exit.out_of_memory)
      exit.text =
          fmt::format("out of memory: the limit is {} MiB", parts_.limits.memory_bytes >> 20);
    else if (exit.signal != 0)
      exit.text = fmt::format("ended by signal {} ({}){}", exit.signal, strsignal(exit.signal),
                              killed_ ? ", sent by the agent" : "");
    else
      exit.text = fmt::format("exited with code {}", exit.code);
    return exit;
  }

  ProcessParts parts_;
  std::unique_ptr<LeaseWatch::Lease> watched_;
  Usage usage_;
  bool started_ = false;
  bool killed_ = false;
  bool terminating_ = false;
  std::optional<KeepReport> failure_;
  std::optional<Exit> exit_;
};

}  // namespace

Result<Fd> memory_file(const char* name, std::string_view content) {
  Fd file(memfd_create(name, MFD_CLOEXEC));
  if (file.get() < 0 ||
      write(file.get(), content.data(), content.size()) != static_cast<ssize_t>(content.size()) ||
      lseek(file.get(), 0, SEEK_SET) != 0)
    return fail(Code::exhausted, fmt::format("cannot create a memory file for {}", name));
  return file;
}

std::unique_ptr<Process> make_process(ProcessParts parts) {
  CHECK(parts.keeper && parts.find_program != nullptr);
  return std::make_unique<KeptProcess>(std::move(parts));
}

}  // namespace souk::agent
