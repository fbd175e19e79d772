#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/sandbox/sandbox.h"
#include "base/check.h"
#include "base/fd.h"
#include "base/testing/eventually.h"
#include "blob/testing/samples.h"

namespace souk::agent::testing {

// A program that the test plays. Thread-safe.
class FakeProgram {
 public:
  explicit FakeProgram(Program program)
      : program_(std::move(program)),
        output_(fcntl(program_.output_fd, F_DUPFD_CLOEXEC, 0)),
        talk_(program_.talk_fd < 0 ? -1 : fcntl(program_.talk_fd, F_DUPFD_CLOEXEC, 0)) {
    std::filesystem::create_directory(scratch());
  }

  [[nodiscard]] const Program& program() const { return program_; }
  [[nodiscard]] std::string scratch() const { return folder_ / "work"; }
  [[nodiscard]] std::string file(std::string_view name) const {
    return blob::testing::slurp(folder_ / "work" / name);
  }
  void write(std::string_view name, std::string_view text) const {
    blob::testing::spill(folder_ / "work" / name, text);
  }
  void print(std::string_view text) const {
    CHECK(::write(output_.get(), text.data(), text.size()) == std::ssize(text));
  }
  // Its end of the socket of a trainer.
  base::Fd take_talk() { return std::move(talk_); }
  void throw_when_measured() { set(throws_); }
  void end(Exit exit) {
    const std::lock_guard lock(mutex_);
    if (!exit_) exit_ = std::move(exit);
    output_.reset();
    changed_.notify_all();
  }

  [[nodiscard]] bool started() const { return read(started_); }
  [[nodiscard]] bool terminated() const { return read(terminated_); }
  [[nodiscard]] bool killed() const { return read(killed_); }
  [[nodiscard]] bool gone() const { return read(gone_); }  // Its sandbox was taken down.

 private:
  friend class FakeProcess;
  [[nodiscard]] bool read(const bool& flag) const {
    const std::lock_guard lock(mutex_);
    return flag;
  }
  void set(bool& flag) {
    const std::lock_guard lock(mutex_);
    flag = true;
  }

  const blob::testing::Folder folder_;
  const Program program_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  base::Fd output_, talk_;
  bool started_ = false, terminated_ = false, killed_ = false, gone_ = false, throws_ = false;
  std::optional<Exit> exit_;
};

class FakeProcess final : public Process {
 public:
  explicit FakeProcess(std::shared_ptr<FakeProgram> program) : program_(std::move(program)) {}
  ~FakeProcess() override {
    kill();
    program_->set(program_->gone_);
  }
  std::string scratch() const override { return program_->scratch(); }
  base::Result<> start() override {
    program_->set(program_->started_);
    return {};
  }
  Usage usage() override {
    if (program_->read(program_->throws_)) throw std::bad_alloc();
    return {.cpu_seconds = 1.5, .memory_peak_bytes = 1 << 20};
  }
  void terminate() override { program_->set(program_->terminated_); }
  void kill() override {
    if (!poll()) program_->set(program_->killed_);
    program_->end({.signal = 9, .text = "killed"});
  }
  std::optional<Exit> poll() override { return wait({}); }
  std::optional<Exit> wait(base::Duration timeout) override {
    std::unique_lock lock(program_->mutex_);
    program_->changed_.wait_for(lock, std::chrono::microseconds(timeout.us),
                                [&] { return program_->exit_.has_value(); });
    return program_->exit_;
  }

 private:
  const std::shared_ptr<FakeProgram> program_;
};

// Runs nothing: the test plays the programs, in the order in which they were prepared. Thread-safe.
class FakeSandbox final : public Sandbox {
 public:
  std::string_view name() const override { return "fake"; }
  base::Result<std::unique_ptr<Process>> prepare(const Program& program) const override {
    const std::lock_guard lock(mutex_);
    if (throws_) throw std::bad_alloc();
    if (trouble_) return std::unexpected(*trouble_);
    programs_.push_back(std::make_shared<FakeProgram>(program));
    if (!litter_.empty()) programs_.back()->write(litter_, "in the way");
    return std::make_unique<FakeProcess>(programs_.back());
  }
  std::vector<Finding> findings() const override { return {}; }

  void refuse(base::Error trouble) {
    const std::lock_guard lock(mutex_);
    trouble_ = std::move(trouble);
  }
  void throw_when_preparing() {
    const std::lock_guard lock(mutex_);
    throws_ = true;
  }
  // Scratches have this file from the beginning.
  void litter(std::string name) {
    const std::lock_guard lock(mutex_);
    litter_ = std::move(name);
  }
  [[nodiscard]] std::size_t count() const {
    const std::lock_guard lock(mutex_);
    return programs_.size();
  }
  // Waits until the program numbered `i` has started.
  [[nodiscard]] std::shared_ptr<FakeProgram> program(std::size_t i = 0) const {
    CHECK(base::testing::eventually([&] {
      const std::lock_guard lock(mutex_);
      return programs_.size() > i && programs_[i]->started();
    }));
    const std::lock_guard lock(mutex_);
    return programs_[i];
  }

 private:
  mutable std::mutex mutex_;  // Guards what follows.
  std::optional<base::Error> trouble_;
  bool throws_ = false;
  std::string litter_;
  mutable std::vector<std::shared_ptr<FakeProgram>> programs_;
};

}  // namespace souk::agent::testing
