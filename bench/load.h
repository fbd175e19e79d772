#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/report.h"
#include "net/client.h"
#include "wire/api/account.h"
#include "wire/api/machine.h"
#include "wire/api/offer.h"
#include "wire/json.h"

// The client side of the benchmarks: a patient client that sets a market up, and many connections
// on one thread with epoll. Speaks just enough HTTP for our own server's answers.

namespace souk::bench {

// One request at a time, to prepare the market.
class Caller {
 public:
  explicit Caller(const std::string& url) : client_(must(net::Client::make({.base_url = url}))) {}

  std::string send(std::string_view method, std::string_view path, std::string_view body = {}) {
    net::Headers headers{{"Content-Type", "application/json"}};
    headers.emplace_back("Idempotency-Key", fmt::format("setup-{}", ++calls_));
    if (!token_.empty()) headers.emplace_back("Authorization", "Bearer " + token_);
    auto response = must(client_.send(method, path, headers, body));
    if (response.status / 100 != 2)
      give_up(fmt::format("{} {}: {} {}", method, path, response.status, response.body));
    return std::move(response.body);
  }

  // The first account, which is the operator.
  void sign_up() {
    const auto body =
        send("POST", "/v1/accounts", R"({"name":"bench","password":"a long password"})");
    token_ = must(wire::from_json<wire::Session>(body)).token;
  }
  base::MachineId add_machine() {
    const auto body = fmt::format(
        R"({{"name":"box-{}","spec":{{"cores":64,"memory_mib":262144,"packages":[]}}}})", calls_);
    return must(wire::from_json<wire::Machine>(send("POST", "/v1/machines", body))).id;
  }
  // One slot of it.
  base::OfferId post_offer(base::MachineId machine) {
    const auto body = fmt::format(R"({{"machine":"{}","class":"c1","slots":1,"price":"0.5"}})",
                                  to_string(machine));
    return must(wire::from_json<wire::Offer>(send("POST", "/v1/offers", body))).id;
  }
  // The value of a line of /metrics.
  double metric(std::string_view name) {
    const auto text = send("GET", "/metrics");
    const auto at = text.find(fmt::format("\n{} ", name));
    if (at == std::string::npos) give_up(fmt::format("/metrics has no {}", name));
    return std::strtod(text.c_str() + at + name.size() + 2, nullptr);
  }

  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  net::Client client_;
  std::string token_;
  std::uint64_t calls_ = 0;
};

// Non-blocking connections to one port, watched together.
class Swarm {
 public:
  struct Peer {
    int fd = -1;
    std::string unread;  // Received, not yet taken.
    std::string unsent;
  };

  explicit Swarm(std::uint16_t port) : port_(port), epoll_(::epoll_create1(EPOLL_CLOEXEC)) {}
  Swarm(const Swarm&) = delete;
  Swarm& operator=(const Swarm&) = delete;
  ~Swarm() {
    for (const auto& peer : peers_)
      if (peer.fd >= 0) ::close(peer.fd);
    ::close(epoll_);
  }

  [[nodiscard]] std::size_t size() const { return peers_.size(); }
  [[nodiscard]] Peer& operator[](std::size_t i) { return peers_[i]; }

  // Connects one more and returns its number.
  std::size_t connect() {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{.sin_family = AF_INET, .sin_port = htons(port_)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
      give_up(fmt::format("connection {}: {}", peers_.size() + 1, std::strerror(errno)));
    const int one = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    ::fcntl(fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.u64 = peers_.size()}};
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event);
    peers_.push_back({fd, {}, {}});
    return peers_.size() - 1;
  }

  // Our requests are small and answered before the next, so the socket always takes them whole.
  void send(std::size_t i, std::string_view bytes) {
    if (::send(peers_[i].fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size()))
      give_up(fmt::format("cannot write to connection {}", i));
  }

  // Reads what has come within `timeout_ms` and calls received(i) for each connection with news.
  template <class Received>
  void poll(int timeout_ms, Received&& received) {
    epoll_event events[256];
    const int n = ::epoll_wait(epoll_, events, 256, timeout_ms);
    for (int k = 0; k < n; ++k) {
      const auto i = events[k].data.u64;
      char buffer[16'384];
      const auto got = ::recv(peers_[i].fd, buffer, sizeof buffer, 0);
      if (got == 0 || (got < 0 && errno != EAGAIN))
        give_up(fmt::format("the server closed connection {}", i));
      if (got < 0) continue;
      peers_[i].unread.append(buffer, static_cast<std::size_t>(got));
      received(i);
    }
  }

 private:
  const std::uint16_t port_;
  const int epoll_;
  std::vector<Peer> peers_;
};

struct Answer {
  int status = 0;
  std::string body;
};

// Takes one complete answer with a Content-Length from the front of `unread`.
inline std::optional<Answer> take_answer(std::string& unread) {
  const auto end = unread.find("\r\n\r\n");
  if (end == std::string::npos) return std::nullopt;
  const auto length_at = unread.find("Content-Length: ");
  if (length_at == std::string::npos || length_at > end) give_up("an answer without a length");
  const std::size_t length = std::strtoull(unread.c_str() + length_at + 16, nullptr, 10);
  if (unread.size() < end + 4 + length) return std::nullopt;
  Answer out{std::atoi(unread.c_str() + 9), unread.substr(end + 4, length)};
  unread.erase(0, end + 4 + length);
  return out;
}

struct LoadOptions {
  std::uint16_t port = 0;
  std::size_t connections = 128;
  std::size_t requests = 100'000;  // At most, and
  double seconds = 5;              // for at most this long.
};

struct LoadResult {
  double requests_per_second = 0;
  double p50_ms = 0, p99_ms = 0, worst_ms = 0;
  std::size_t requests = 0;
};

// Keeps one request under way on every connection. `make(i)` writes connection i's next request;
// every answer must be a 200.
inline LoadResult run_load(const LoadOptions& o,
                           const std::function<std::string(std::size_t)>& make) {
  Swarm swarm(o.port);
  std::vector<double> sent_at(o.connections);
  std::vector<double> latencies;
  latencies.reserve(o.requests);
  for (std::size_t i = 0; i < o.connections; ++i) swarm.connect();
  const Stopwatch watch;
  std::size_t sent = 0, answered = 0;
  const auto fire = [&](std::size_t i) {
    sent_at[i] = watch.seconds();
    swarm.send(i, make(i));
    ++sent;
  };
  for (std::size_t i = 0; i < o.connections; ++i) fire(i);
  while (answered < sent) {
    if (watch.seconds() > o.seconds + 30) give_up("the server stopped answering");
    swarm.poll(1'000, [&](std::size_t i) {
      const auto answer = take_answer(swarm[i].unread);
      if (!answer) return;
      if (answer->status != 200) give_up(fmt::format("{}: {}", answer->status, answer->body));
      const auto now = watch.seconds();
      latencies.push_back((now - sent_at[i]) * 1e3);
      ++answered;
      if (sent < o.requests && now < o.seconds) fire(i);
    });
  }
  const double spent = watch.seconds();
  std::ranges::sort(latencies);
  const auto at = [&](double q) {
    return latencies[static_cast<std::size_t>(q * static_cast<double>(latencies.size() - 1))];
  };
  return {static_cast<double>(answered) / spent, at(0.5), at(0.99), latencies.back(), answered};
}

}  // namespace souk::bench
