#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <list>
#include <memory>
#include <thread>

#include "base/fd.h"
#include "cli/commands/commands.h"
#include "cli/commands/job_flags.h"
#include "cli/shell/human.h"
#include "net/dial.h"
#include "relay/carrier.h"

// Talking to the program of a job on somebody else's machine: `souk shell` and `souk forward`.

namespace souk::cli {
namespace {

using base::Fd;
using net::Line;

constexpr char kLeave = 0x1d;  // Ctrl-]
constexpr auto kLineLook = std::chrono::seconds(1);

struct Connect : OneJob {
  std::int32_t worker = 0;
  std::uint16_t port = 0;
  std::optional<std::uint16_t> local;
};

Result<std::unique_ptr<Line>> connect(const Target& target, const Connect& o) {
  std::vector<std::pair<std::string, std::string>> query{{"worker", std::to_string(o.worker)}};
  if (o.port != 0) query.emplace_back("port", std::to_string(o.port));
  auto dialled = net::dial({.base_url = target.server,
                            .connect_timeout = base::seconds(10),
                            .total_timeout = base::seconds(20),
                            .ca_file = target.ca,
                            .pinned_sha256 = target.pin},
                           o.path("/connect") + query_string(query),
                           {{"Authorization", "Bearer " + target.token}});
  if (!dialled) return std::unexpected(dialled.error());
  if (!dialled->line) return std::unexpected(refusal(dialled->answer));
  return std::move(dialled->line);
}

// Until the job's worker runs, as far as it may still.
Result<wire::Job> await_running(Context& c, const Connect& o) {
  SOUK_ASSIGN(auto* api, c.api());
  bool told = false;
  while (true) {
    SOUK_ASSIGN(auto job, parsed<wire::Job>(api->get(o.path())));
    if (base::is_final(job.state))
      return failed(fmt::format("job {} has ended: {}", to_string(o.id), job.reason));
    const bool runs = std::ranges::any_of(job.leases, [&](const wire::Lease& l) {
      return l.part.value_or(0) == o.worker && l.state != base::LeaseState::granted;
    });
    if (runs) return job;
    if (!std::exchange(told, true))
      c.note(fmt::format("waiting for a machine; `souk why {}` says for what", to_string(o.id)));
    std::this_thread::sleep_for(kLineLook);
  }
}

// --- A terminal ----------------------------------------------------------------------------------

// The user's terminal passes on what is typed as it is, until this goes.
class RawTerminal {
 public:
  RawTerminal() : raw_(::isatty(0) != 0 && ::tcgetattr(0, &before_) == 0) {
    if (!raw_) return;
    termios now = before_;
    ::cfmakeraw(&now);
    ::tcsetattr(0, TCSANOW, &now);
  }
  ~RawTerminal() {
    if (raw_) ::tcsetattr(0, TCSANOW, &before_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  [[nodiscard]] bool raw() const { return raw_; }

 private:
  termios before_{};
  bool raw_;
};

std::string frame(char kind, std::string_view text) {
  std::string out(1, kind);
  out += static_cast<char>(text.size() >> 8);
  out += static_cast<char>(text.size() & 255);
  return out += text;
}

std::string size_frame() {
  winsize size{};
  if (::ioctl(1, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return "";
  std::string text;
  for (const unsigned n : {size.ws_col + 0U, size.ws_row + 0U}) {
    text += static_cast<char>(n >> 8);
    text += static_cast<char>(n & 255);
  }
  return frame(1, text);
}

std::atomic<bool> resized = false;

// All of it, waiting where it must. False: the other side is gone.
bool send_all(Line& line, std::string_view text) {
  while (!text.empty()) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    const auto io = line.write({&piece, 1});
    if (io.outcome == Line::Outcome::closed) return false;
    if (io.outcome == Line::Outcome::done) {
      text.remove_prefix(io.bytes);
      continue;
    }
    pollfd event{line.fd(), POLLOUT, 0};
    ::poll(&event, 1, 1'000);
  }
  return true;
}

// What is typed until the end, and what is shown. True: the user left, and the session goes on.
bool talk(Line& line, bool raw) {
  std::array<char, 4096> piece;
  bool typing = true;
  if (!send_all(line, size_frame())) return false;
  while (true) {
    std::array<pollfd, 2> events{pollfd{line.fd(), POLLIN, 0}, pollfd{typing ? 0 : -1, POLLIN, 0}};
    ::poll(events.data(), events.size(), 500);
    if (resized.exchange(false) && !send_all(line, size_frame())) return false;
    while (true) {
      const auto io = line.read(piece);
      if (io.outcome == Line::Outcome::closed) return false;
      if (io.outcome != Line::Outcome::done) break;
      std::size_t done = 0;
      while (done < io.bytes) {
        const auto n = ::write(1, piece.data() + done, io.bytes - done);
        if (n <= 0) return true;
        done += static_cast<std::size_t>(n);
      }
    }
    if (!typing || (events[1].revents & (POLLIN | POLLHUP)) == 0) continue;
    const auto n = ::read(0, piece.data(), 1024);
    if (n <= 0) {  // A pipe that has ended: the shell should, too.
      typing = false;
      if (!send_all(line, frame(0, "\x04"))) return false;
      continue;
    }
    const std::string_view text(piece.data(), static_cast<std::size_t>(n));
    if (raw && text.contains(kLeave)) return true;
    if (!send_all(line, frame(0, text))) return false;
  }
}

Result<> shell(Context& c, const Connect& o) {
  SOUK_ASSIGN(const auto job, await_running(c, o));
  if (!job.batch || !job.batch->session)
    return failed(fmt::format("job {} is no session, but of kind {}", to_string(o.id), job.kind),
                  "kind: session makes one: souk examples session");
  if (job.batch->session->port != 0)
    return failed(
        fmt::format("session {} listens at port {}", to_string(o.id), job.batch->session->port),
        fmt::format("souk forward {} {}", to_string(o.id), job.batch->session->port));
  SOUK_ASSIGN(const auto* target, c.target());
  SOUK_ASSIGN(const auto line, connect(*target, o));
  c.note(fmt::format("connected; Ctrl-] leaves it running, it ends after {} without use",
                     to_string(job.batch->session->idle)));
  std::signal(SIGWINCH, [](int) { resized = true; });
  bool left = false;
  {
    const RawTerminal terminal;
    left = talk(*line, terminal.raw());
  }
  c.note(left ? fmt::format("left; souk shell {0} comes back, souk cancel {0} ends it",
                            to_string(o.id))
              : "the session has ended");
  return {};
}

// --- Ports ---------------------------------------------------------------------------------------

Result<Fd> listen_here(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(fd.get(), 64) != 0)
    return failed(fmt::format("cannot listen at 127.0.0.1:{}", port),
                  "choose another port with --local; 0 is any that is free");
  return fd;
}

std::uint16_t port_of(const Fd& fd) {
  sockaddr_in address{};
  socklen_t size = sizeof address;
  ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.sin_port);
}

Result<> forward(Context& c, const Connect& o) {
  if (o.port == 0) return usage("port 0 is none", "for example: souk forward j7 8888");
  sigset_t signals;
  sigemptyset(&signals);
  for (const int s : {SIGTERM, SIGINT}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  SOUK_TRY(await_running(c, o));
  SOUK_ASSIGN(const auto* target, c.target());
  SOUK_ASSIGN(const auto listener, listen_here(o.local.value_or(o.port)));
  SOUK_ASSIGN(const auto carrier, relay::Carrier::start());
  c.print(fmt::format("127.0.0.1:{} leads to port {} of worker {} of {}; Ctrl-C ends it\n",
                      port_of(listener), o.port, o.worker, to_string(o.id)));
  std::atomic<bool> over = false;
  std::thread accepting([&, target = *target] {
    while (!over) {
      pollfd event{listener.get(), POLLIN, 0};
      if (::poll(&event, 1, 200) <= 0) continue;
      Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!fd) continue;
      auto line = connect(target, o);
      if (line)
        carrier->carry(net::line_of(std::move(fd)), *std::move(line));
      else
        c.note(line.error().message);
    }
  });
  int signal = 0;
  sigwait(&signals, &signal);
  over = true;
  accepting.join();
  return {};
}

}  // namespace

Command shell_command() {
  auto o = std::make_shared<Connect>();
  Command out{.name = "shell",
              .summary = "sit at the terminal of a session on a leased machine",
              .examples = {"shell j7", "examples session > session.yaml"}};
  out.options = {job_argument(*o, "the id of a job of kind session")};
  out.details =
      "Waits until a machine runs it. What you type goes through the market to that machine, which "
      "nobody can connect to. Ctrl-] leaves without ending it; exit ends it, and so does its idle "
      "limit. What lies in its volumes is kept.";
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return shell(c, *o);
  };
  return out;
}

Command forward_command() {
  auto o = std::make_shared<Connect>();
  Command out{.name = "forward",
              .summary = "reach a port of a job's program as if it were on this computer",
              .examples = {"forward j7 8888", "forward j7 8080 --worker 0 --local 9000"}};
  out.options = {job_argument(*o, "the id of a session, a service or a gang"),
                 argument("PORT", "where its program listens", o->port),
                 flag("--worker N", "which of its workers; default 0", o->worker),
                 flag("--local PORT", "where to listen here; default the same port", o->local)};
  out.run = [o](Context& c) -> Result<> {
    SOUK_TRY(o->find(c));
    return forward(c, *o);
  };
  return out;
}

}  // namespace souk::cli
