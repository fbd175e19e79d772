#include "relay/relay.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "base/text.h"
#include "net/http.h"
#include "net/line.h"
#include "relay/carrier.h"
#include "relay/joiner.h"

namespace souk::relay {
namespace {

using base::Code;
using base::Fd;
using base::Result;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostHead = 8 * 1024;
constexpr std::string_view kConnect = "CONNECT ";
constexpr std::string_view kTunnel = "GET /tunnel ";
constexpr std::chrono::seconds kToDecide{30};  // To say what it wants.

struct Free {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, Free>;

Result<Addresses> resolve(const std::string& host, std::uint16_t port, bool passive) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = passive ? AI_PASSIVE : 0;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
      error != 0)
    return base::fail(Code::unavailable,
                      fmt::format("cannot find {}: {}", host, ::gai_strerror(error)));
  return Addresses(found);
}

Fd open_socket(const addrinfo& a) {
  return Fd(::socket(a.ai_family, a.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, a.ai_protocol));
}

Result<Fd> listen_on(const RelayOptions& o) {
  SOUK_ASSIGN(const auto addresses, resolve(o.listen_host, o.listen_port, true));
  auto fd = open_socket(*addresses);
  const int yes = 1;
  if (fd) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (!fd || ::bind(fd.get(), addresses->ai_addr, addresses->ai_addrlen) != 0 ||
      ::listen(fd.get(), 128) != 0)
    return base::fail(Code::unavailable,
                      fmt::format("cannot listen on {}:{}: {}", o.listen_host, o.listen_port,
                                  std::strerror(errno)),
                      "choose another address with --listen");
  return fd;
}

// Somebody whose wish is not known yet, or whose server is being connected.
struct Guest {
  Fd client, server;
  std::string seen;    // What it has said so far.
  std::string answer;  // To be told once the server is connected.
  bool connecting = false;
  bool over = false;  // Carried by others now, or gone.
  Clock::time_point since = Clock::now();
};

// A short text into the empty buffer of a socket.
void tell(const Fd& fd, std::string_view text) {
  (void)::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
}

std::string_view value_of(std::string_view head, std::string_view name) {
  for (auto line : base::split(head, '\n')) {
    line = base::trim(line);
    const auto colon = line.find(':');
    if (colon != line.npos && net::equal_ignoring_case(line.substr(0, colon), name))
      return base::trim(line.substr(colon + 1));
  }
  return {};
}

}  // namespace

struct Relay::Impl {
  RelayOptions options;
  Fd listener, wake;
  std::atomic<bool> stopping = false;
  std::list<Guest> guests;
  std::unique_ptr<Carrier> carrier;
  std::unique_ptr<Joiner> joiner;

  void accept_all();
  void serve(Guest& guest, short client, short server);
  // What the guest wants, once that can be known.
  void decide(Guest& guest);
  void meet(Guest& guest, std::string_view head, std::size_t head_bytes);
  void dial(Guest& guest);
  [[nodiscard]] std::size_t connections() const {
    return guests.size() + carrier->counters().pairs + (joiner ? joiner->waiting() : 0);
  }
};

Relay::Relay(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Relay::~Relay() = default;

Result<std::unique_ptr<Relay>> Relay::open(RelayOptions options) {
  auto impl = std::make_unique<Impl>();
  SOUK_TRY(resolve(options.host, options.port, false));
  SOUK_ASSIGN(impl->listener, listen_on(options));
  impl->wake = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!impl->wake) return base::fail(Code::internal, "no event descriptor");
  SOUK_ASSIGN(impl->carrier, Carrier::start({.most_pairs = options.most_connections}));
  if (options.ticket_key) impl->joiner = std::make_unique<Joiner>(*impl->carrier);
  impl->options = std::move(options);
  return std::unique_ptr<Relay>(new Relay(std::move(impl)));
}

std::uint16_t Relay::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  ::getsockname(impl_->listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

void Relay::stop() {
  impl_->stopping = true;
  const std::uint64_t one = 1;
  (void)!::write(impl_->wake.get(), &one, sizeof one);
}

// Begins the connection to the server; whether it succeeds shows when it can be written to.
void Relay::Impl::dial(Guest& guest) {
  const auto addresses = resolve(options.host, options.port, false);
  for (const auto* a = addresses ? addresses->get() : nullptr; a != nullptr; a = a->ai_next) {
    auto fd = open_socket(*a);
    if (!fd) continue;
    if (::connect(fd.get(), a->ai_addr, a->ai_addrlen) != 0 && errno != EINPROGRESS) continue;
    guest.server = std::move(fd);
    guest.connecting = true;
    return;
  }
  guest.over = true;
}

// Two machines meet.
void Relay::Impl::meet(Guest& guest, std::string_view head, std::size_t head_bytes) {
  constexpr std::string_view bearer = "Bearer ";
  auto token = value_of(head, "Authorization");
  Result<MeetingTicket> ticket = base::fail(Code::forbidden, "machines do not meet here");
  if (joiner && token.starts_with(bearer))
    ticket =
        read_meeting_ticket(token.substr(bearer.size()), *options.ticket_key, options.clock->now());
  guest.over = true;
  if (!ticket) {
    tell(guest.client,
         "HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
         "Connection: close\r\n\r\nno ticket\n");
    return;
  }
  tell(guest.client,
       "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: souk\r\n\r\n");
  joiner->bring(ticket->meeting, ticket->side,
                net::line_of(std::move(guest.client), guest.seen.substr(head_bytes)));
}

void Relay::Impl::decide(Guest& guest) {
  const auto begins = [&](std::string_view word) {
    const auto known = std::min(guest.seen.size(), word.size());
    return guest.seen.compare(0, known, word, 0, known) == 0;
  };
  if (!begins(kConnect) && !begins(kTunnel)) return dial(guest);
  const auto end = guest.seen.find("\r\n\r\n");
  if (end == guest.seen.npos) {
    guest.over = guest.seen.size() >= kMostHead;
    return;
  }
  const auto head = std::string_view(guest.seen).substr(0, end);
  if (begins(kTunnel)) return meet(guest, head, end + 4);
  const auto target =
      head.substr(kConnect.size(), head.find(' ', kConnect.size()) - kConnect.size());
  if (target != fmt::format("{}:{}", options.host, options.port)) {
    tell(guest.client, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    guest.over = true;
    return;
  }
  guest.answer = "HTTP/1.1 200 Connection established\r\n\r\n";
  guest.seen.erase(0, end + 4);
  dial(guest);
}

void Relay::Impl::accept_all() {
  while (true) {
    Fd fd(::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    if (connections() >= options.most_connections) continue;  // Closed at once.
    guests.emplace_back().client = std::move(fd);
  }
}

void Relay::Impl::serve(Guest& guest, short client, short server) {
  if (guest.connecting) {
    if ((server & (POLLOUT | POLLERR | POLLHUP)) == 0) return;
    int error = 0;
    socklen_t size = sizeof error;
    ::getsockopt(guest.server.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    guest.over = true;
    if (error != 0) return;
    tell(guest.client, guest.answer);
    carrier->carry(net::line_of(std::move(guest.client), std::move(guest.seen)),
                   net::line_of(std::move(guest.server)), options.idle);
    return;
  }
  if ((client & (POLLIN | POLLHUP)) == 0) return;
  std::array<char, kMostHead> piece;
  const auto n = ::recv(guest.client.get(), piece.data(), piece.size() - 1, 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (n <= 0) {
    guest.over = true;
    return;
  }
  guest.seen.append(piece.data(), static_cast<std::size_t>(n));
  decide(guest);
}

void Relay::run() {
  auto& m = *impl_;
  std::vector<pollfd> polled;
  while (!m.stopping) {
    polled.clear();
    polled.push_back({m.wake.get(), POLLIN, 0});
    polled.push_back({m.listener.get(), POLLIN, 0});
    for (const auto& g : m.guests) {
      // A negative descriptor is skipped.
      polled.push_back({g.connecting ? -1 : g.client.get(), POLLIN, 0});
      polled.push_back({g.connecting ? g.server.get() : -1, POLLOUT, 0});
    }
    if (::poll(polled.data(), polled.size(), 1'000) < 0 && errno != EINTR) return;
    const auto late = Clock::now() - std::min<Clock::duration>(
                                         kToDecide, std::chrono::microseconds(m.options.idle.us));
    std::size_t at = 2;
    for (auto& g : m.guests) {
      m.serve(g, polled[at].revents, polled[at + 1].revents);
      g.over |= g.since < late || (polled[at].revents & (POLLERR | POLLNVAL)) != 0;
      at += 2;
    }
    m.guests.remove_if([](const Guest& g) { return g.over; });
    if (m.joiner) m.joiner->tidy();
    if (polled[1].revents != 0) m.accept_all();
  }
  m.guests.clear();
  if (m.joiner) m.joiner->close();
}

}  // namespace souk::relay
