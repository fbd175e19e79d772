#include "agent/network/gang_link.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>

#include "agent/peers/direct_fetch.h"
#include "base/containment.h"
#include "base/text.h"
#include "net/address.h"
#include "net/dial.h"
#include "net/line.h"
#include "net/local_address.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::agent {
namespace {

using base::Code;
using base::Fd;
using relay::Overlay;
using relay::PathKind;

constexpr auto kOften = std::chrono::milliseconds(100);  // Until all are reached.
constexpr auto kSeldom = std::chrono::seconds(10);
constexpr auto kGangStep = std::chrono::milliseconds(20);
constexpr auto kListens = std::chrono::seconds(20);  // After the last newcomer.
constexpr auto kDirectFirst = std::chrono::milliseconds(300);
constexpr auto kMeetAgain = std::chrono::seconds(3);
constexpr auto kConnectAgain = std::chrono::seconds(1);
constexpr int kDirectTries = 5;
constexpr auto kToDial = base::seconds(5);
constexpr auto kToSayWho = std::chrono::seconds(3);
constexpr std::size_t kMostGuests = 64;

// As a socket for both families wants it.
sockaddr_in6 socket_address(const net::Address& address, std::int32_t port) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htons(static_cast<std::uint16_t>(port));
  std::memcpy(&out.sin6_addr, address.bytes.data(), address.bytes.size());
  return out;
}

Fd shared_socket() {
  Fd fd(::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1, off = 0;
  if (!fd) return fd;
  ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  return fd;
}

}  // namespace

// The port at which others of the gang reach this machine, while any is to be reached, and from
// which it connects to them: behind a router the same way out then leads in. Whoever connects says
// which worker it is; everything else is for the overlay to believe.
class GangLink::Listener {
 public:
  static std::unique_ptr<Listener> open() {
    auto fd = shared_socket();
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 ||
        ::listen(fd.get(), 64) != 0)
      return nullptr;
    socklen_t size = sizeof any;
    ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&any), &size);
    auto out = std::make_unique<Listener>();
    out->port_ = ntohs(any.sin6_port);
    out->fd_ = std::move(fd);
    return out;
  }

  [[nodiscard]] std::uint16_t port() const { return port_; }
  void close() {
    fd_.reset();
    guests_.clear();
  }
  [[nodiscard]] bool closed() const { return !fd_; }

  // A socket bound to the same port.
  [[nodiscard]] Fd connector() const {
    auto fd = shared_socket();
    sockaddr_in6 mine{};
    mine.sin6_family = AF_INET6;
    mine.sin6_port = htons(port_);
    if (!fd || ::bind(fd.get(), reinterpret_cast<sockaddr*>(&mine), sizeof mine) != 0) return Fd();
    return fd;
  }

  // Those who have said who they are: calls take(worker, socket).
  void accept(std::int32_t me, const std::function<void(std::int32_t, Fd)>& take) {
    while (fd_ && guests_.size() < kMostGuests) {
      Fd guest(::accept4(fd_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!guest) break;
      guests_.push_back({std::move(guest), {}, Clock::now()});
    }
    guests_.remove_if([&](Guest& g) {
      std::array<char, Overlay::kHeadBytes> piece;
      const auto n = ::recv(g.fd.get(), piece.data(), Overlay::kHeadBytes - g.head.size(), 0);
      if (n > 0) g.head.append(piece.data(), static_cast<std::size_t>(n));
      const bool gone = n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR) ||
                        Clock::now() - g.since > kToSayWho;
      if (g.head.size() < Overlay::kHeadBytes) return gone;
      if (const auto worker = Overlay::read_head(g.head, me); worker >= 0)
        take(worker, std::move(g.fd));
      return true;
    });
  }

 private:
  struct Guest {
    Fd fd;
    std::string head;
    Clock::time_point since;
  };
  Fd fd_;
  std::uint16_t port_ = 0;
  std::list<Guest> guests_;
};

// What was tried to reach one worker, under one key.
struct GangLink::Attempt {
  std::string key;
  Clock::time_point since = Clock::now();
  int direct_tries = 0;
  Clock::time_point next_direct = {};
  Clock::time_point next_meeting = {};
  std::size_t place = 0;  // The next of the meeting places.
  std::vector<Fd> connecting;
};

GangLink::GangLink(GangLinkOptions options)
    : options_(std::move(options)),
      market_is_here_(std::ranges::all_of(options_.link.servers, to_this_computer)),
      overlay_({.worker = options_.worker,
                .workers = options_.workers,
                .tun = base::Fd(::dup(options_.tun.get())),
                .keys = keys_}),
      listener_(options_.direct ? Listener::open() : nullptr),
      thread_([this] { run(); }) {}

GangLink::~GangLink() {
  stopping_ = true;
  thread_.join();
}

void GangLink::run() {
  Clock::time_point next = {};
  while (!stopping_) {
    if (Clock::now() >= next) {
      (void)base::contained([this]() -> base::Result<> {
        look();
        return {};
      });
      next = Clock::now() + (waits_for().empty() ? Clock::duration(kSeldom) : kOften);
    }
    if (listener_)
      listener_->accept(options_.worker, [this](std::int32_t worker, Fd fd) {
        overlay_.add_line(worker, net::line_of(std::move(fd)), PathKind::direct, true);
      });
    take_connected();
    std::this_thread::sleep_for(kGangStep);
  }
}

// Through the port that others may reach: the market then sees it as they would. Else as ever.
base::Result<wire::NetworkView> GangLink::ask() {
  const bool listens = listener_ && !listener_->closed();
  const wire::NetworkJoin body{.epoch = options_.epoch,
                               .key = relay::to_text(keys_.public_key),
                               .fast_aes = relay::has_fast_aes(),
                               .port = listens ? listener_->port() : 0};
  const auto path = fmt::format("/v1/leases/{}/network", to_string(options_.lease));
  if (listens && !from_port_) {
    auto client = net::Client::make({.base_url = options_.link.servers.front(),
                                     .connect_timeout = base::seconds(3),
                                     .total_timeout = base::seconds(5),
                                     .ca_file = options_.link.ca_file,
                                     .pinned_sha256 = options_.link.pin,
                                     .user_agent = "souk-agent",
                                     .local_port = listener_->port()});
    if (client) from_port_.emplace(*std::move(client));
  }
  if (listens && from_port_) {
    auto response = from_port_->send(
        "PUT", path, {{"Authorization", "Bearer " + options_.link.token}}, wire::to_json(body));
    if (response && response->status < 300)
      return wire::from_json<wire::NetworkView>(response->body);
    if (response) return std::unexpected(wire::refusal(response->status, response->body));
  }
  if (!link_) {
    SOUK_ASSIGN(link_, Link::make(options_.link));
  }
  SOUK_ASSIGN(const auto answer, link_->put(path, wire::to_json(body)));
  return wire::from_json<wire::NetworkView>(answer);
}

void GangLink::look() {
  auto view = ask();
  if (!view) return;  // Later: a market that is away delays nothing that runs.
  for (const auto& peer : view->peers) {
    const auto key = relay::parse_key(peer.key);
    if (!key || !overlay_.set_peer(peer.worker, *key, peer.fast_aes)) continue;
    auto& attempt = attempts_[peer.worker];
    if (attempt.key != peer.key) attempt = {.key = peer.key};
    reach(peer);
  }
  const bool complete = std::cmp_equal(view->peers.size() + 1, view->world);
  if (complete) drop_others(*view);
  // Nobody is let in for longer than somebody may come.
  const auto newest =
      std::ranges::max_element(attempts_, {}, [](const auto& entry) { return entry.second.since; });
  if (listener_ && complete && newest != attempts_.end() &&
      Clock::now() - newest->second.since > kListens)
    listener_->close();
  const std::lock_guard lock(mutex_);
  view_ = *std::move(view);
  if (!complete)
    complete_since_.reset();
  else if (!complete_since_)
    complete_since_ = Clock::now();
}

// Those that have left the gang. A market that was started again names nobody until they have told
// it again that they are there, so only a view of all tells who has left.
void GangLink::drop_others(const wire::NetworkView& view) {
  for (const auto& known : overlay_.peers()) {
    if (std::ranges::find(view.peers, known.worker, &wire::NetworkPeer::worker) != view.peers.end())
      continue;
    overlay_.drop_peer(known.worker);
    attempts_.erase(known.worker);
  }
}

void GangLink::reach(const wire::NetworkPeer& peer) {
  auto& attempt = attempts_[peer.worker];
  const auto now = Clock::now();
  if (listener_ && !listener_->closed() && attempt.direct_tries < kDirectTries &&
      now >= attempt.next_direct) {
    ++attempt.direct_tries;
    attempt.next_direct = now + kConnectAgain;
    connect(peer, attempt);
  }
  const bool wait = peer.address && listener_ && now - attempt.since < kDirectFirst;
  if (overlay_.reaches(peer.worker) || wait || now < attempt.next_meeting) return;
  attempt.next_meeting = now + kMeetAgain;
  meet(peer, attempt);
}

// As with files of a job (peers/peer_fetch.h): nobody is sent to addresses of this computer, unless
// the market itself is here.
void GangLink::connect(const wire::NetworkPeer& peer, Attempt& attempt) {
  const auto address = peer.address ? net::Address::parse(*peer.address) : std::nullopt;
  if (!address || (net::is_local(*peer.address) && !market_is_here_)) return;
  for (const auto port : peer.ports) {
    if (port < 1 || port > 65'535) continue;
    auto fd = listener_->connector();
    if (!fd) return;
    const auto to = socket_address(*address, port);
    if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) != 0 &&
        errno != EINPROGRESS)
      continue;
    attempt.connecting.push_back(std::move(fd));
  }
}

void GangLink::take_connected() {
  for (auto& [worker, attempt] : attempts_) {
    for (auto& fd : attempt.connecting) {
      pollfd event{fd.get(), POLLOUT, 0};
      if (::poll(&event, 1, 0) <= 0) continue;
      int error = 0;
      socklen_t size = sizeof error;
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error == 0)
        overlay_.add_line(worker, net::line_of(std::move(fd)), PathKind::direct);
      else
        fd.reset();
    }
    std::erase_if(attempt.connecting, [](const Fd& fd) { return !fd; });
  }
}

// Both sides try the places in the same order; one that waits in vain tries the next.
void GangLink::meet(const wire::NetworkPeer& peer, Attempt& attempt) {
  if (peer.places.empty()) return;
  const auto& place = peer.places[attempt.place++ % peer.places.size()];
  const bool at_market = place.url.empty();
  const net::ClientOptions options{
      .base_url = at_market ? options_.link.servers.front() : place.url,
      .connect_timeout = kToDial,
      .total_timeout = kToDial,
      .ca_file = at_market ? options_.link.ca_file : "",
      .pinned_sha256 = at_market ? options_.link.pin : "",
      .user_agent = "souk-agent"};
  const auto path =
      at_market ? fmt::format("/v1/leases/{}/tunnel?to={}", to_string(options_.lease), peer.worker)
                : std::string("/tunnel");
  auto dialled =
      net::dial(options, path,
                {{"Authorization", "Bearer " + (at_market ? options_.link.token : place.ticket)}});
  if (dialled && dialled->line)
    overlay_.add_line(peer.worker, std::move(dialled->line),
                      at_market ? PathKind::server : PathKind::relay);
}

std::string GangLink::waits_for() const {
  const std::lock_guard lock(mutex_);
  if (!view_) return "the market";
  std::vector<std::string> absent;
  for (const auto& peer : view_->peers)
    if (!overlay_.reaches(peer.worker)) absent.push_back(std::to_string(peer.worker));
  const auto missing = view_->world - 1 - static_cast<std::int32_t>(view_->peers.size());
  if (missing > 0) return fmt::format("{} more of {} workers", missing, view_->world);
  return absent.empty() ? "" : "a way to worker " + base::join(absent, ", ");
}

base::Duration GangLink::stuck_for() const {
  if (waits_for().empty()) return {};
  const std::lock_guard lock(mutex_);
  if (!complete_since_) return {};
  return base::Duration(
      std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - *complete_since_)
          .count());
}

std::string GangLink::paths() const {
  std::map<PathKind, int> counts;
  for (const auto& peer : overlay_.peers())
    if (peer.reached) ++counts[peer.path];
  std::vector<std::string> words;
  for (const auto& [kind, n] : counts)
    words.push_back(kind == PathKind::direct  ? fmt::format("{} direct", n)
                    : kind == PathKind::relay ? fmt::format("{} by a relay", n)
                                              : fmt::format("{} by the market", n));
  return base::join(words, ", ");
}

}  // namespace souk::agent
