#include "net/server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "net/connection.h"

namespace souk::net {

bool Stream::write(std::shared_ptr<const std::string> data) const {
  return state_ && state_->write(std::move(data));
}
void Stream::close() const {
  if (state_) state_->close();
}
void Stream::cut() const {
  if (state_) state_->cut();
}
void Stream::when_sent(std::function<void()> fn) const {
  if (state_)
    state_->when_sent(std::move(fn));
  else
    fn();
}
bool Stream::open() const { return state_ && state_->open(); }
void Stream::on_close(std::function<void()> fn) const {
  if (state_)
    state_->on_close(std::move(fn));
  else
    fn();
}

Reply::~Reply() {
  if (exchange_) exchange_->dropped();
}
void Reply::send(Response response) {
  CHECK(exchange_ != nullptr);
  std::exchange(exchange_, nullptr)->answer(std::move(response));
}
Stream Reply::stream(Response head) {
  CHECK(exchange_ != nullptr);
  return std::exchange(exchange_, nullptr)->stream(std::move(head));
}

void Reply::hand_over(Response head, LineTaker taker) {
  CHECK(exchange_ != nullptr);
  std::exchange(exchange_, nullptr)->hand_over(std::move(head), std::move(taker));
}

void Reply::vouch() const {
  CHECK(exchange_ != nullptr);
  exchange_->vouch();
}

BodyDecision::~BodyDecision() {
  if (decide_) decide_(0, {}, std::nullopt, {});
}
void BodyDecision::read(std::size_t limit, std::shared_ptr<void> held, BodyPlace place) {
  CHECK(decide_ != nullptr);
  std::exchange(decide_, nullptr)(limit, std::move(held), std::nullopt, std::move(place));
}
void BodyDecision::refuse(Response answer) {
  CHECK(decide_ != nullptr);
  std::exchange(decide_, nullptr)(0, {}, std::move(answer), {});
}

namespace {

constexpr int kBacklog = 4096;
constexpr int kAcceptsPerTurn = 64;

class Fd {
 public:
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(other.release()) {}
  ~Fd() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

union SocketAddress {
  sockaddr any;
  sockaddr_in v4;
  sockaddr_in6 v6;
};

base::Result<SocketAddress> parse_address(const std::string& text, std::uint16_t port) {
  SocketAddress out{};
  if (::inet_pton(AF_INET, text.c_str(), &out.v4.sin_addr) == 1) {
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(port);
  } else if (::inet_pton(AF_INET6, text.c_str(), &out.v6.sin6_addr) == 1) {
    out.v6.sin6_family = AF_INET6;
    out.v6.sin6_port = htons(port);
  } else {
    return base::fail(base::Code::invalid, fmt::format("cannot listen on address '{}'", text),
                      "an IP address such as 127.0.0.1, ::1 or 0.0.0.0");
  }
  return out;
}

base::Result<Fd> listen_on(const ServerOptions& options) {
  SOUK_ASSIGN(const SocketAddress address, parse_address(options.address, options.port));
  Fd fd(::socket(address.any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  const int off = 0;
  const socklen_t size = address.any.sa_family == AF_INET ? sizeof address.v4 : sizeof address.v6;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (address.any.sa_family == AF_INET6)
    ::setsockopt(fd.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  if (fd.get() < 0 || ::bind(fd.get(), &address.any, size) != 0 ||
      ::listen(fd.get(), kBacklog) != 0) {
    const int error = errno;
    return base::fail(base::Code::unavailable,
                      fmt::format("cannot listen on {} port {}: {}", options.address, options.port,
                                  std::strerror(error)),
                      error == EADDRINUSE ? "another program uses this port: choose another port"
                                          : "choose an address of this computer and a free port");
  }
  return fd;
}

std::uint16_t port_of(int fd) {
  SocketAddress address{};
  socklen_t size = sizeof address;
  CHECK(::getsockname(fd, &address.any, &size) == 0);
  return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

Peer peer_of(const SocketAddress& from) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  in_addr v4 = from.v4.sin_addr;
  const bool six = from.any.sa_family == AF_INET6;
  const auto port = ntohs(six ? from.v6.sin6_port : from.v4.sin_port);
  if (six) {
    const in6_addr& v6 = from.v6.sin6_addr;
    if (!IN6_IS_ADDR_V4MAPPED(&v6)) {
      ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
      return {text.data(), static_cast<bool>(IN6_IS_ADDR_LOOPBACK(&v6)), port};
    }
    std::memcpy(&v4, v6.s6_addr + 12, 4);
  }
  ::inet_ntop(AF_INET, &v4, text.data(), text.size());
  return {text.data(), (ntohl(v4.s_addr) >> 24) == 127, port};
}

base::Result<> check(const ServerOptions& options) {
  const auto bad = [](std::string_view name, std::string_view accepted) {
    return base::fail(base::Code::invalid, fmt::format("bad server option '{}'", name),
                      std::string(accepted));
  };
  if (options.threads < 1 || options.threads > 256) return bad("threads", "1 to 256");
  if (options.max_header_bytes < 64 || options.max_header_bytes > (1U << 20))
    return bad("max_header_bytes", "64 bytes to 1 MiB");
  if (options.max_connections == 0) return bad("max_connections", "at least 1");
  if (options.stream_queue_bytes == 0 || options.stream_queue_count == 0)
    return bad("stream_queue", "at least 1 byte and 1 write");
  for (const base::Duration d :
       {options.idle_timeout, options.stranger_timeout, options.header_timeout,
        options.read_timeout, options.write_timeout})
    if (d.us <= 0) return bad("timeout", "more than zero");
  return {};
}

// Deadlines are checked this often: they may be late by an eighth, or a second if that is less.
base::Duration tick_period(const ServerOptions& options) {
  const auto shortest =
      std::min({options.idle_timeout, options.stranger_timeout, options.header_timeout,
                options.read_timeout, options.write_timeout});
  return std::clamp(shortest / 8, base::milliseconds(5), base::seconds(1));
}

// Accepts on the first shard's thread and deals connections to all shards in turn.
class Acceptor final : public Waiter, public std::enable_shared_from_this<Acceptor> {
 public:
  Acceptor(std::vector<std::shared_ptr<Shard>> shards, int fd)
      : shards_(std::move(shards)), socket_(shards_[0]->loop, fd) {}

  void listen() { socket_.wait(Direction::read, shared_from_this()); }
  void close() {
    closed_ = true;
    socket_.close();
  }
  // Out of descriptors or memory: tried again at the next tick.
  void tick() {
    if (std::exchange(exhausted_, false) && !closed_) listen();
  }
  void ready(Direction) override {
    if (closed_) return;
    for (int i = 0; i < kAcceptsPerTurn; ++i) {
      SocketAddress from{};
      socklen_t size = sizeof from;
      Fd fd(::accept4(socket_.fd(), &from.any, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (fd.get() < 0) {
        exhausted_ = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
        break;
      }
      accepted.fetch_add(1, std::memory_order_relaxed);
      deal(std::move(fd), peer_of(from));
    }
    if (!exhausted_) listen();
  }

  std::atomic<std::uint64_t> accepted = 0;
  std::atomic<std::uint64_t> refused = 0;

 private:
  void deal(Fd fd, Peer peer) {
    const auto& shard = shards_[next_++ % shards_.size()];
    const bool proxy = contains(shard->options.trusted_proxies, peer.address);
    auto place = shard->admission->enter({.address = address_key(peer.address),
                                          .local = peer.loopback && !proxy,
                                          .limited = !proxy});
    if (place.verdict() != Admission::Verdict::welcome)
      refused.fetch_add(1, std::memory_order_relaxed);
    if (place.verdict() == Admission::Verdict::cut) return;
    shard->loop.post([shard, fd = std::move(fd), peer = std::move(peer),
                      place = std::move(place)]() mutable {
      if (shard->stopping) return;
      const int on = 1;
      ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      ::setsockopt(fd.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
      std::make_shared<Connection>(shard, fd.release(), std::move(peer), std::move(place))->start();
    });
  }

  const std::vector<std::shared_ptr<Shard>> shards_;
  Socket socket_;
  std::size_t next_ = 0;
  bool exhausted_ = false;
  bool closed_ = false;
};

// From the back: a connection that closes is replaced by the last one.
template <class Fn>
void for_each_connection(Shard& shard, Fn fn) {
  for (std::size_t i = shard.connections.size(); i-- > 0;)
    fn(*std::shared_ptr(shard.connections[i]));
}

}  // namespace

struct Server::Impl {
  std::vector<std::shared_ptr<Shard>> shards;
  std::shared_ptr<Admission> admission;
  std::shared_ptr<Acceptor> acceptor;
  std::vector<std::thread> threads;
  std::uint16_t port = 0;
  std::mutex stop_mutex;

  void run() {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    for (const auto& shard : shards) threads.emplace_back([shard] { shard->loop.run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
};

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Server::~Server() { stop(base::Duration(0)); }

base::Result<std::unique_ptr<Server>> Server::start(ServerOptions options, Handler handler) {
  SOUK_TRY(check(options));
  std::shared_ptr<const TlsContext> tls;
  if (options.tls) {
    SOUK_ASSIGN(tls, TlsContext::make(options.tls->certificate_pem, options.tls->key_pem));
    options.tls->key_pem.clear();
  }
  SOUK_ASSIGN(Fd listening, listen_on(options));
  auto impl = std::make_unique<Impl>();
  impl->port = port_of(listening.get());
  impl->admission = std::make_shared<Admission>(
      AdmissionLimits{.total = options.max_connections,
                      .per_address = options.max_connections_per_address,
                      .reserved = options.reserved_connections});
  for (int i = 0; i < options.threads; ++i) {
    auto shard = std::make_shared<Shard>();
    shard->options = options;
    shard->handler = handler;
    shard->tls = tls;
    shard->admission = impl->admission;
    impl->shards.push_back(std::move(shard));
  }
  impl->acceptor = std::make_shared<Acceptor>(impl->shards, listening.release());
  for (const auto& shard : impl->shards) {
    const bool first = shard == impl->shards[0];
    shard->loop.every(tick_period(options),
                      [s = shard.get(), a = first ? impl->acceptor.get() : nullptr] {
                        const auto now = Connection::Clock::now();
                        for_each_connection(*s, [now](Connection& c) { c.sweep(now); });
                        if (a != nullptr) a->tick();
                      });
  }
  impl->acceptor->listen();
  impl->run();
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::uint16_t Server::port() const { return impl_->port; }
bool Server::tls() const { return impl_->shards[0]->tls != nullptr; }

ServerCounters Server::counters() const {
  ServerCounters out{.open = impl_->admission->open(),
                     .strangers = impl_->admission->strangers(),
                     .limit = impl_->admission->limits().total,
                     .accepted = impl_->acceptor->accepted,
                     .refused = impl_->acceptor->refused,
                     .evicted = impl_->admission->evicted()};
  for (const auto& shard : impl_->shards) {
    out.requests += shard->counters.requests;
    out.bytes_in += shard->counters.bytes_in;
    out.bytes_out += shard->counters.bytes_out;
  }
  return out;
}

std::size_t Server::open_from(std::string_view address) const {
  return impl_->admission->open_from(address_key(address));
}

void Server::stop(base::Duration grace) {
  const std::lock_guard lock(impl_->stop_mutex);
  if (impl_->threads.empty()) return;
  for (const auto& shard : impl_->shards) CHECK(!shard->loop.here());
  const auto deadline = Connection::Clock::now() + std::chrono::microseconds(grace.us);
  impl_->shards[0]->loop.post([acceptor = impl_->acceptor] { acceptor->close(); });
  for (const auto& shard : impl_->shards) {
    shard->loop.post([s = shard.get()] {
      s->stopping = true;
      for_each_connection(*s, [](Connection& c) { c.wind_down(); });
    });
  }
  impl_->admission->wait_until_empty(deadline);
  for (const auto& shard : impl_->shards) {
    shard->loop.post([s = shard.get()] {
      s->stopping = true;
      for_each_connection(*s, [](Connection& c) { c.close(); });
      s->loop.finish();
    });
  }
  for (std::thread& thread : impl_->threads) thread.join();
  impl_->threads.clear();
}

}  // namespace souk::net
