#pragma once

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/fd.h"
#include "base/random.h"
#include "hub/service.h"
#include "net/client.h"
#include "net/server.h"
#include "train/codecs/codec.h"
#include "train/update.h"

// A model of 20 MB pushed to and pulled from a hub by several workers, beside the same bytes over
// raw TCP: for benchmarks.

namespace souk::hub::testing {

using Clock = std::chrono::steady_clock;

inline constexpr std::size_t kModelFloats = 4'972'746;  // ResNet-sized: 19.9 MB.

inline const std::string kTransferSecret = "for one run on loopback";

inline double seconds_since(Clock::time_point from) {
  return std::chrono::duration<double>(Clock::now() - from).count();
}

inline double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto of = [](timeval t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

inline double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(q * static_cast<double>(values.size() - 1))];
}

// How long it takes until all of `count` threads have done work(i).
template <class Work>
double together(std::size_t count, Work work) {
  std::barrier begin(static_cast<std::ptrdiff_t>(count) + 1);
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i)
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      work(i);
    });
  begin.arrive_and_wait();
  const auto from = Clock::now();
  threads.clear();
  return seconds_since(from);
}

// The sum of four uniform numbers is near enough to normal for codecs.
inline std::vector<float> changes(std::size_t size) {
  base::Random random(1);
  std::vector<float> out(size);
  for (auto& v : out) {
    const auto bits = random.next();
    const auto sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    v = (static_cast<float>(sum) - 131'070.F) * 1e-8F;
  }
  return out;
}

inline std::string fp32_update() {
  static const auto codec = *train::make_codec("fp32");
  return train::pack(changes(kModelFloats), *codec, {});
}

// Raw TCP.

inline bool send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

inline bool receive_all(int fd, std::span<char> into) {
  while (!into.empty()) {
    const auto n = ::recv(fd, into.data(), into.size(), 0);
    if (n <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(n));
  }
  return true;
}

inline base::Fd connected(std::uint16_t port) {
  base::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in to{
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
  CHECK(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0);
  const int on = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return fd;
}

// Takes connections, each to a thread of its own that runs serve(fd) until it returns.
class Listener {
 public:
  explicit Listener(std::function<void(int)> serve) : serve_(std::move(serve)) {
    socket_ = base::Fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    auto* any = reinterpret_cast<sockaddr*>(&at);
    CHECK(::bind(socket_.get(), any, size) == 0 && ::listen(socket_.get(), 64) == 0 &&
          ::getsockname(socket_.get(), any, &size) == 0);
    port_ = ntohs(at.sin_port);
    accepting_ = std::jthread([this] {
      while (true) {
        base::Fd fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (!fd) return;
        serving_.emplace_back([this, fd = std::move(fd)] { serve_(fd.get()); });
      }
    });
  }
  // Those connected must have left.
  ~Listener() { ::shutdown(socket_.get(), SHUT_RDWR); }
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  std::function<void(int)> serve_;
  base::Fd socket_;
  std::uint16_t port_ = 0;
  std::vector<std::jthread> serving_;
  std::jthread accepting_;  // Ends before serving_ does.
};

// The least that any transfer must do: 'p' and the bytes are answered by one byte, 'g' by the
// bytes.
inline void serve_raw(int fd, std::size_t size) {
  std::string memory(size, '\1');
  for (char what = 0; receive_all(fd, {&what, 1});) {
    const bool good =
        what == 'p' ? receive_all(fd, memory) && send_all(fd, "k") : send_all(fd, memory);
    if (!good) return;
  }
}

// One way of moving the model. Its baseline is the raw one of the same direction.
struct Way {
  std::string what;
  std::function<bool(std::size_t worker)> move;
  bool raw = false;
  std::vector<double> seconds = {}, ratios = {};
  double cpu = 0;
};

// Several workers with a connection each to a raw server, to HTTP without a hub, and to a hub.
class Transfer {
 public:
  static base::Result<std::unique_ptr<Transfer>> make(std::size_t workers);
  // All ways in turn, so many times. False when a transfer failed.
  bool run(int turns);
  [[nodiscard]] const std::vector<Way>& ways() const { return ways_; }
  // One more way, after those that are there.
  void add(Way way) { ways_.push_back(std::move(way)); }
  // Leaves out those of whose names `only` is no part; never the raw ones.
  void keep(const std::string& only) {
    std::erase_if(ways_, [&](const Way& w) { return !w.raw && !w.what.contains(only); });
  }
  [[nodiscard]] const std::string& update() const { return update_; }
  [[nodiscard]] double bytes() const {
    return static_cast<double>(update_.size() * workers_.size());
  }

 private:
  struct Worker {
    base::Fd raw;
    net::Client bare, hub;
    std::string memory, pulled;
    std::int64_t next;  // Id of an update.
  };
  static bool good(const base::Result<net::Response>& r) { return r && r->status == 200; }
  base::Result<> connect(std::size_t workers);
  bool fold(Worker& w) {
    const auto path =
        fmt::format("/v1/hub/b2/fold?id={}&base=0&rule=downpour&rule.eta=0.1", w.next++);
    return good(w.hub.move("POST", path, secret_, update_, {}));
  }
  // Into memory that is used again.
  bool pull(Worker& w) {
    auto answer = w.hub.move("GET", "/v1/hub/b2/parameters", secret_, {}, std::move(w.pulled));
    if (!good(answer)) return false;
    w.pulled = std::move(answer->body);
    return true;
  }
  bool push_raw(Worker& w) {
    char ok = 0;
    return send_all(w.raw.get(), "p") && send_all(w.raw.get(), update_) &&
           receive_all(w.raw.get(), {&ok, 1});
  }
  bool pull_raw(Worker& w) {
    return send_all(w.raw.get(), "g") && receive_all(w.raw.get(), w.memory);
  }

  const std::string update_ = fp32_update();
  const net::Headers secret_{{"Authorization", "Bearer " + kTransferSecret}};
  std::unique_ptr<net::Server> bare_;
  std::unique_ptr<hub::Service> service_;
  Listener raw_{[this](int fd) { serve_raw(fd, update_.size()); }};
  std::vector<Worker> workers_;  // Gone before the servers.
  std::vector<Way> ways_{
      {"push, raw TCP", [this](std::size_t i) { return push_raw(workers_[i]); }, true},
      {"push, HTTP",
       [this](std::size_t i) { return good(workers_[i].bare.send("POST", "/", {}, update_)); }},
      {"push and fold, hub", [this](std::size_t i) { return fold(workers_[i]); }},
      {"pull, raw TCP", [this](std::size_t i) { return pull_raw(workers_[i]); }, true},
      {"pull, HTTP", [this](std::size_t i) { return good(workers_[i].bare.send("GET", "/")); }},
      {"pull, hub", [this](std::size_t i) { return pull(workers_[i]); }}};
};

inline base::Result<std::unique_ptr<Transfer>> Transfer::make(std::size_t workers) {
  auto out = std::make_unique<Transfer>();
  SOUK_TRY(out->connect(workers));
  return out;
}

inline base::Result<> Transfer::connect(std::size_t workers) {
  SOUK_ASSIGN(bare_, net::Server::start({.threads = 2, .max_body_bytes = std::size_t{64} << 20},
                                        [this](net::Request http, net::Reply reply) {
                                          const bool get = http.method == "GET";
                                          reply.send({.body = get ? update_ : "{}"});
                                        }));
  SOUK_ASSIGN(service_,
              hub::Service::start({.store = "memory", .secret = kTransferSecret, .threads = 2}));
  const auto client = [](std::uint16_t port) {
    return net::Client::make({.base_url = fmt::format("http://127.0.0.1:{}", port)});
  };
  workers_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) {
    SOUK_ASSIGN(auto bare, client(bare_->port()));
    SOUK_ASSIGN(auto hub, client(service_->port()));
    workers_.push_back({connected(raw_.port()), std::move(bare), std::move(hub),
                        std::string(update_.size(), '\0'), std::string(),
                        static_cast<std::int64_t>(i) << 32 | 1});
  }
  if (!good(workers_[0].hub.send("PUT", "/v1/hub/b2/parameters?rule=downpour", secret_,
                                 std::string(kModelFloats * sizeof(float), '\0'))))
    return base::fail(base::Code::internal, "the hub did not take the parameters");
  return {};
}

inline bool Transfer::run(int turns) {
  std::atomic<bool> broken = false;
  for (int turn = 0; turn <= turns && !broken; ++turn) {
    std::map<std::string, double> baselines;  // By "push" and "pull".
    for (auto& way : ways_) {
      const auto cpu = cpu_seconds();
      const auto seconds = together(workers_.size(), [&](std::size_t i) {
        if (!way.move(i)) broken = true;
      });
      const auto direction = way.what.substr(0, 4);
      if (way.raw) baselines[direction] = seconds;
      if (turn == 0) continue;  // Connections and pages are made.
      way.cpu += cpu_seconds() - cpu;
      way.seconds.push_back(seconds);
      way.ratios.push_back(baselines.at(direction) / seconds);
    }
  }
  return !broken;
}

}  // namespace souk::hub::testing
