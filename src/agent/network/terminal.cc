#include "agent/network/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>
#include <vector>

namespace souk::agent {
namespace {

using base::Code;
using base::Fd;
using net::Line;

constexpr int kTerminalStepMs = 50;
constexpr int kMostReads = 16;  // Before the others have their turn.
constexpr std::size_t kFrameHead = 3;

unsigned number(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]) * 256U + static_cast<unsigned char>(bytes[at + 1]);
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
      pollfd event{fd, POLLOUT, 0};
      // A program that does not read what is typed does not get more.
      if (::poll(&event, 1, kTerminalStepMs) <= 0) return false;
      continue;
    }
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

}  // namespace

base::Result<std::unique_ptr<Terminal>> Terminal::open(std::chrono::milliseconds patience) {
  int ours = -1, program = -1;
  const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
  if (::openpty(&ours, &program, nullptr, nullptr, &size) != 0)
    return base::fail(Code::exhausted, "this machine has no terminal to spare");
  ::fcntl(ours, F_SETFD, FD_CLOEXEC);
  ::fcntl(program, F_SETFD, FD_CLOEXEC);
  ::fcntl(ours, F_SETFL, ::fcntl(ours, F_GETFL) | O_NONBLOCK);
  return std::unique_ptr<Terminal>(new Terminal(Fd(ours), Fd(program), patience));
}

Terminal::Terminal(Fd ours, Fd program, std::chrono::milliseconds patience)
    : patience_(patience),
      ours_(std::move(ours)),
      program_(std::move(program)),
      thread_([this] { run(); }) {}

Terminal::~Terminal() {
  stopping_ = true;
  thread_.join();
}

void Terminal::connect(std::unique_ptr<Line> line) {
  if (!line) return;
  const std::lock_guard lock(mutex_);
  if (fresh_.size() < kMostPeople) fresh_.push_back(std::move(line));
}

void Terminal::run() {
  while (!stopping_) {
    {
      const std::lock_guard lock(mutex_);
      for (auto& line : fresh_)
        if (here_.size() < kMostPeople) here_.push_back({std::move(line), {}, remembered_});
      fresh_.clear();
    }
    // A negative descriptor is skipped.
    std::vector<pollfd> events{{waits() ? -1 : ours_.get(), POLLIN, 0}};
    for (const auto& person : here_)
      events.push_back({person.line->fd(),
                        static_cast<short>(person.unsent.empty() ? POLLIN : POLLIN | POLLOUT), 0});
    ::poll(events.data(), events.size(), kTerminalStepMs);
    read_program();
    here_.remove_if([this](Person& person) { return !serve(person); });
    people_ = here_.size();
  }
}

bool Terminal::waits() const {
  return std::ranges::any_of(here_, [](const Person& p) { return p.unsent.size() > kMostUnsent; });
}

void Terminal::read_program() {
  std::array<char, 16 * 1024> piece;
  for (int i = 0; i < kMostReads && !waits(); ++i) {
    const auto n = ::read(ours_.get(), piece.data(), piece.size());
    if (n <= 0) return;  // Nothing now; or nobody has the other end, which others notice.
    const std::string_view shown(piece.data(), static_cast<std::size_t>(n));
    bytes_ += shown.size();
    remembered_ += shown;
    if (remembered_.size() > 2 * kRemembered)
      remembered_.erase(0, remembered_.size() - kRemembered);
    for (auto& person : here_) person.unsent += shown;
  }
}

// False: they have left, or do not take what is shown.
bool Terminal::serve(Person& person) {
  const auto now = std::chrono::steady_clock::now();
  if (person.unsent.size() <= kMostUnsent) person.took = now;
  while (!person.unsent.empty()) {
    const iovec piece{person.unsent.data(), person.unsent.size()};
    const auto io = person.line->write({&piece, 1});
    if (io.outcome == Line::Outcome::closed) return false;
    if (io.outcome != Line::Outcome::done) break;
    person.unsent.erase(0, io.bytes);
    person.took = now;
  }
  if (now - person.took > patience_) return false;
  std::array<char, 4 * 1024> piece;
  while (true) {
    const auto io = person.line->read(piece);
    if (io.outcome == Line::Outcome::closed) return false;
    if (io.outcome != Line::Outcome::done) return true;
    person.typed.append(piece.data(), io.bytes);
    if (!obey(person.typed)) return false;
  }
}

bool Terminal::obey(std::string& typed) {
  while (typed.size() >= kFrameHead) {
    const auto length = number(typed, 1);
    if (typed.size() < kFrameHead + length) return true;
    const auto kind = typed[0];
    const auto text = std::string_view(typed).substr(kFrameHead, length);
    if (kind == 0) {
      bytes_ += text.size();
      (void)write_all(ours_.get(), text);
    } else if (kind == 1 && length == 4) {
      const winsize size{.ws_row = static_cast<unsigned short>(number(text, 2)),
                         .ws_col = static_cast<unsigned short>(number(text, 0)),
                         .ws_xpixel = 0,
                         .ws_ypixel = 0};
      ::ioctl(ours_.get(), TIOCSWINSZ, &size);
    } else {
      return false;
    }
    typed.erase(0, kFrameHead + length);
  }
  return true;
}

}  // namespace souk::agent
