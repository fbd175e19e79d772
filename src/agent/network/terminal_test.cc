#include "agent/network/terminal.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "base/testing/eventually.h"

namespace souk::agent {
namespace {

using base::Fd;
using base::testing::eventually;

constexpr std::size_t kMuch = 2 << 20;

// A program that shows so much, and then ends.
class TerminalProgram {
 public:
  TerminalProgram(const Terminal& terminal, std::size_t bytes)
      : end_(::dup(terminal.program_end())), thread_([this, bytes] {
          const std::string piece(4'096, 'x');
          while (shown < bytes) {
            const auto n = ::write(end_.get(), piece.data(), piece.size());
            if (n <= 0) return;
            shown += static_cast<std::size_t>(n);
          }
        }) {}
  ~TerminalProgram() { thread_.join(); }
  TerminalProgram(const TerminalProgram&) = delete;
  TerminalProgram& operator=(const TerminalProgram&) = delete;

  std::atomic<std::size_t> shown = 0;

 private:
  Fd end_;
  std::thread thread_;
};

struct Taken {
  std::atomic<std::size_t> bytes = 0;
  std::atomic<std::size_t> most_offered = 0;
  std::atomic<int> refused = 0;
  std::atomic<bool> takes = false;
};

// Whoever is connected: takes what is shown only when the test says so.
class SlowLine final : public net::Line {
 public:
  explicit SlowLine(std::shared_ptr<Taken> taken) : taken_(std::move(taken)) {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    fd_ = Fd(ends[0]);
    other_ = Fd(ends[1]);
  }
  [[nodiscard]] int fd() const override { return fd_.get(); }
  [[nodiscard]] bool plain() const override { return false; }
  Io read(std::span<char> /*into*/) override { return {Outcome::want_read}; }
  Io write(std::span<const iovec> from) override {
    taken_->most_offered = std::max<std::size_t>(taken_->most_offered, from[0].iov_len);
    if (!taken_->takes) {
      ++taken_->refused;
      return {Outcome::want_write};
    }
    taken_->bytes += from[0].iov_len;
    return {Outcome::done, from[0].iov_len};
  }
  void finish() override {}

 private:
  std::shared_ptr<Taken> taken_;
  Fd fd_, other_;
};

TEST(Terminal, TheProgramWaitsForWhoTakesSlowlyAndNothingIsLost) {
  auto terminal = Terminal::open(std::chrono::hours(1)).value();
  const auto taken = std::make_shared<Taken>();
  terminal->connect(std::make_unique<SlowLine>(taken));
  ASSERT_TRUE(eventually([&] { return terminal->people() == 1; }));
  const TerminalProgram program(*terminal, kMuch);
  // Until the program has stood still for some turns of the terminal.
  std::size_t before = 0;
  int since = 0;
  ASSERT_TRUE(eventually([&] {
    if (before != program.shown) since = taken->refused;
    before = program.shown;
    return before > 0 && taken->refused - since > 20;
  }));
  taken->takes = true;
  EXPECT_TRUE(eventually([&] { return taken->bytes == kMuch; }));
  EXPECT_LE(taken->most_offered, Terminal::kMostUnsent + (16 << 10));
}

TEST(Terminal, WhoTakesNothingForLongIsLetGoAndTheProgramGoesOn) {
  auto terminal = Terminal::open(std::chrono::milliseconds(100)).value();
  const auto taken = std::make_shared<Taken>();
  terminal->connect(std::make_unique<SlowLine>(taken));
  ASSERT_TRUE(eventually([&] { return terminal->people() == 1; }));
  const TerminalProgram program(*terminal, kMuch);
  EXPECT_TRUE(eventually([&] { return program.shown == kMuch; }));
  EXPECT_EQ(terminal->people(), 0u);
  EXPECT_EQ(taken->bytes, 0u);
}

TEST(Terminal, AProgramThatNeverStopsDoesNotKeepItFromEnding) {
  auto terminal = Terminal::open().value();
  const TerminalProgram program(*terminal, SIZE_MAX);
  ASSERT_TRUE(eventually([&] { return terminal->bytes() > kMuch; }));
  terminal->close_program_end();
  terminal.reset();
}

TEST(Terminal, WhoComesLaterSeesTheLastOfIt) {
  auto terminal = Terminal::open().value();
  const TerminalProgram program(*terminal, kMuch);
  ASSERT_TRUE(eventually([&] { return terminal->bytes() == kMuch; }));
  const auto taken = std::make_shared<Taken>();
  taken->takes = true;
  terminal->connect(std::make_unique<SlowLine>(taken));
  EXPECT_TRUE(eventually([&] { return taken->bytes > 0; }));
  EXPECT_GE(taken->bytes, 64u << 10);
  EXPECT_LE(taken->bytes, 128u << 10);
}

}  // namespace
}  // namespace souk::agent
