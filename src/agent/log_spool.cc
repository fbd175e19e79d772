#include "agent/log_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "base/containment.h"
#include "base/text.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kSentAtOnce = 128 * 1024;  // Sent at once.
constexpr auto kEvery = std::chrono::milliseconds(250);
constexpr auto kAfterTrouble = std::chrono::seconds(2);

// Every byte that is not part of a UTF-8 character becomes '?': a log is for people.
std::string printable(std::string text) {
  if (wire::valid_utf8(text)) return text;
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t length = 0;
    for (const std::size_t n : {1, 2, 3, 4})
      if (length == 0 && at + n <= text.size() && wire::valid_utf8(text.substr(at, n))) length = n;
    out += length == 0 ? "?" : text.substr(at, length);
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

}  // namespace

LogSpool::LogSpool(int file, int read_fd, int write_fd, std::int64_t most, Send send)
    : file_(file), read_fd_(read_fd), write_fd_(write_fd), most_(most), send_(std::move(send)) {}

// Apart from the constructor: where the second thread is not to be had, the destructor ends the
// first.
void LogSpool::start() {
  reader_ = std::thread([this] { read(); });
  shipper_ = std::thread([this] { ship(); });
}

base::Result<std::unique_ptr<LogSpool>> LogSpool::open(const std::string& path, std::int64_t most,
                                                       Send send) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  std::array<int, 2> ends{};
  if (file < 0 || ::pipe2(ends.data(), O_CLOEXEC) != 0) {
    const auto why = std::strerror(errno);
    if (file >= 0) ::close(file);
    return fail(Code::unavailable, fmt::format("cannot keep a log at {}: {}", path, why),
                "check the folder and its disk");
  }
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  std::unique_ptr<LogSpool> out(new LogSpool(file, ends[0], ends[1], most, std::move(send)));
  out->start();
  return out;
}

LogSpool::~LogSpool() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  close_program_end();
  wake_.notify_all();
  for (auto* thread : {&reader_, &shipper_})
    if (thread->joinable()) thread->join();
  ::close(read_fd_);
  ::close(file_);
}

void LogSpool::close_program_end() {
  if (write_fd_ >= 0) ::close(std::exchange(write_fd_, -1));
}

void LogSpool::say(std::string_view line) {
  const std::lock_guard lock(mutex_);
  keep(printable(fmt::format("[souk] {}\n", line)));
}

void LogSpool::take(std::string_view bytes, bool last) {
  const std::lock_guard lock(mutex_);
  auto text = std::exchange(cut_, {}) + std::string(bytes);
  if (!last) {
    const auto whole = base::whole_characters(text);
    cut_ = text.substr(whole);
    text.resize(whole);
  }
  keep(printable(std::move(text)));
}

void LogSpool::keep(std::string_view text) {
  if (full_) return;
  const auto room = static_cast<std::size_t>(most_ - size_);
  full_ = text.size() >= room;
  if (!full_) return write(text);
  text = text.substr(0, room);
  write(text.substr(0, base::whole_characters(text)));
  write("\n[souk] the log is full: what follows is dropped\n");
}

void LogSpool::write(std::string_view text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto n = ::pwrite(file_, text.data() + done, text.size() - done, size_);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // The disk is full: the program matters more than its log.
    done += static_cast<std::size_t>(n);
    size_ += n;
  }
}

// True when there is nothing left to send.
bool LogSpool::send_some() {
  const std::lock_guard sending(sending_);
  std::string piece;
  std::int64_t offset = 0;
  {
    const std::lock_guard lock(mutex_);
    if (sent_ >= size_ || enough_) return true;
    offset = sent_;
    piece.resize(static_cast<std::size_t>(std::min<std::int64_t>(kSentAtOnce, size_ - sent_)));
    const auto n = ::pread(file_, piece.data(), piece.size(), offset);
    piece.resize(static_cast<std::size_t>(std::max<ssize_t>(0, n)));
  }
  piece.resize(base::whole_characters(piece));
  if (piece.empty()) return true;
  const auto size = send_(offset, piece);
  if (!size) return false;
  const std::lock_guard lock(mutex_);
  sent_ = *size;
  enough_ = sent_ < offset + std::ssize(piece);
  return sent_ >= size_ || enough_;
}

void LogSpool::read() {
  std::array<char, 64 * 1024> buffer;
  for (;;) {
    pollfd wait{.fd = read_fd_, .events = POLLIN, .revents = 0};
    ::poll(&wait, 1, 100);
    const auto n = ::read(read_fd_, buffer.data(), buffer.size());
    const bool again = n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
    (void)base::contained([&]() -> base::Result<> {
      if (n > 0) take({buffer.data(), static_cast<std::size_t>(n)});
      if (!again) take({}, true);
      return {};
    });
    const std::lock_guard lock(mutex_);
    if (!again) ended_ = true;
    if (ended_ || stopping_) return wake_.notify_all();
  }
}

void LogSpool::ship() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const auto before = sent_;
    lock.unlock();
    const bool all =
        base::contained([this]() -> base::Result<bool> { return send_some(); }).value_or(false);
    lock.lock();
    if (all) wake_.wait_for(lock, kEvery, [this] { return stopping_; });
    if (!all && sent_ == before) wake_.wait_for(lock, kAfterTrouble, [this] { return stopping_; });
  }
}

base::Result<> LogSpool::finish(base::Duration patience) {
  close_program_end();
  const auto deadline = Clock::now() + std::chrono::microseconds(patience.us);
  {
    // Something outside the sandbox may hold the pipe open; it has a second.
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, std::chrono::seconds(1), [this] { return ended_; });
  }
  for (std::int64_t before = -1;;) {
    if (send_some()) return {};
    if (Clock::now() >= deadline)
      return fail(Code::unavailable, "the end of the log could not be sent");
    std::unique_lock lock(mutex_);
    if (std::exchange(before, sent_) != sent_) continue;  // It goes on: no need to wait.
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

}  // namespace souk::agent
