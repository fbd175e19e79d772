#include "relay/carrier.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <list>
#include <mutex>
#include <thread>
#include <utility>

#include "base/fd.h"

namespace souk::relay {
namespace {

using base::Fd;
using net::Line;
using Clock = std::chrono::steady_clock;

constexpr int kPipeBytes = 1 << 20;
constexpr std::size_t kBufferBytes = 256 << 10;
constexpr int kRounds = 32;  // Of one pair, before others have their turn.
constexpr std::size_t kSparePipes = 8;

struct Pipe {
  Fd read, write;
};

// A computer that has vanished is noticed after about two minutes of silence.
void keep_alive(int fd) {
  const int on = 1, idle = 60, every = 20, count = 3;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

// Bytes on their way from one side to the other: in a pipe, or in memory where one side is
// encrypted.
struct Flow {
  Pipe pipe;
  std::unique_ptr<std::array<char, kBufferBytes>> buffer;
  std::size_t from = 0, size = 0;  // What waits; `from` in the buffer.
  bool ended = false;              // Nothing more comes,
  bool told = false;               // and the other side knows.
};

struct Pair {
  std::array<std::unique_ptr<Line>, 2> lines;
  std::array<Flow, 2> flows;  // flows[i]: from lines[i] to the other.
  Clock::duration idle = {};
  std::shared_ptr<void> held;
  Clock::time_point moved = Clock::now();
  bool dead = false;
  bool queued = false;  // To be pumped again.
};

}  // namespace

class Carrier::Worker {
 public:
  explicit Worker(Counters& counters)
      : counters_(counters),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wake_.get(), &event);
    sigset_t all, before;  // Signals are for the program's own threads.
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::thread([this] { run(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Worker() {
    stopping_ = true;
    wake();
    thread_.join();
    counters_.pairs -= pairs_.size() + fresh_.size();
  }

  [[nodiscard]] bool good() const { return epoll_ && wake_; }

  void add(std::unique_ptr<Pair> pair) {
    {
      const std::lock_guard lock(mutex_);
      fresh_.push_back(std::move(pair));
    }
    wake();
  }

 private:
  void wake() {
    const std::uint64_t one = 1;
    (void)!::write(wake_.get(), &one, sizeof one);
  }

  void run() {
    std::array<epoll_event, 64> events;
    while (!stopping_) {
      const int timeout = queue_.empty() ? 1'000 : 0;
      const int n = ::epoll_wait(epoll_.get(), events.data(), events.size(), timeout);
      for (int i = 0; i < n; ++i) {
        auto* pair = static_cast<Pair*>(events[static_cast<std::size_t>(i)].data.ptr);
        if (pair == nullptr)
          take_fresh();
        else if (!std::exchange(pair->queued, true))
          queue_.push_back(pair);
      }
      for (auto* pair : std::exchange(queue_, {})) {
        pair->queued = false;
        if (!pair->dead) pump(*pair);
      }
      if (Clock::now() >= next_sweep_) sweep();
    }
  }

  void take_fresh() {
    std::uint64_t count = 0;
    (void)!::read(wake_.get(), &count, sizeof count);
    std::list<std::unique_ptr<Pair>> fresh;
    {
      const std::lock_guard lock(mutex_);
      fresh.swap(fresh_);
    }
    for (auto& pair : fresh) {
      for (const auto& line : pair->lines) {
        keep_alive(line->fd());
        epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                          .data = {.ptr = pair.get()}};
        if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, line->fd(), &event) != 0) pair->dead = true;
      }
      pair->queued = true;
      queue_.push_back(pair.get());
      pairs_.push_back(std::move(pair));
    }
  }

  // About once a second: whoever is dead goes.
  void sweep() {
    const auto now = Clock::now();
    next_sweep_ = now + std::chrono::seconds(1);
    const auto gone = [&](const std::unique_ptr<Pair>& pair) {
      if (pair->idle > Clock::duration() && now - pair->moved > pair->idle) pair->dead = true;
      if (!pair->dead || pair->queued) return false;
      --counters_.pairs;
      return true;
    };
    pairs_.remove_if(gone);
  }

  void pump(Pair& pair) {
    bool more = true;
    for (int round = 0; more && round < kRounds; ++round) {
      more = false;
      for (std::size_t side = 0; side < 2 && !pair.dead; ++side) more |= move(pair, side);
    }
    for (auto& flow : pair.flows) give_back(flow);
    if (pair.dead || (pair.flows[0].told && pair.flows[1].told)) {
      pair.dead = true;
      for (auto& line : pair.lines) line.reset();
      next_sweep_ = Clock::now();
    } else if (more && !std::exchange(pair.queued, true)) {
      queue_.push_back(&pair);
    }
  }

  // True: something moved, and more may.
  bool move(Pair& pair, std::size_t side) {
    auto& flow = pair.flows[side];
    auto& from = *pair.lines[side];
    auto& to = *pair.lines[1 - side];
    const bool in_pipe = flow.buffer == nullptr && from.plain() && to.plain();
    const bool moved =
        in_pipe ? splice_through(pair, flow, from, to) : copy_through(pair, flow, from, to);
    if (moved) pair.moved = Clock::now();
    if (!pair.dead && flow.ended && flow.size == 0 && !std::exchange(flow.told, true)) to.finish();
    return moved;
  }

  bool splice_through(Pair& pair, Flow& flow, Line& from, Line& to) {
    constexpr unsigned how = SPLICE_F_NONBLOCK | SPLICE_F_MOVE;
    if (!flow.pipe.read && !take_pipe(flow)) return pair.dead = true, false;
    bool moved = false;
    if (!flow.ended && flow.size < kPipeBytes) {
      const auto n =
          ::splice(from.fd(), nullptr, flow.pipe.write.get(), nullptr, kPipeBytes - flow.size, how);
      if (n > 0) {
        flow.size += static_cast<std::size_t>(n);
        moved = true;
      } else if (n == 0) {
        flow.ended = true;
      } else if (!again()) {
        return pair.dead = true, false;
      }
    }
    if (flow.size == 0) return moved;
    const auto n = ::splice(flow.pipe.read.get(), nullptr, to.fd(), nullptr, flow.size, how);
    if (n > 0) {
      flow.size -= static_cast<std::size_t>(n);
      counters_.bytes.fetch_add(static_cast<std::uint64_t>(n), std::memory_order_relaxed);
      return true;
    }
    if (n < 0 && !again()) pair.dead = true;
    // What was read but cannot be written waits for the other side, not for us.
    return false;
  }

  bool copy_through(Pair& pair, Flow& flow, Line& from, Line& to) {
    bool moved = false;
    if (flow.size == 0 && !flow.ended) {
      if (!flow.buffer) flow.buffer = std::make_unique<std::array<char, kBufferBytes>>();
      const auto io = from.read(*flow.buffer);
      if (io.outcome == Line::Outcome::closed) flow.ended = true;
      if (io.outcome == Line::Outcome::done) {
        flow.from = 0;
        flow.size = io.bytes;
        moved = true;
      }
    }
    if (flow.size == 0) {
      flow.buffer.reset();
      return moved;
    }
    const iovec piece{flow.buffer->data() + flow.from, flow.size};
    const auto io = to.write({&piece, 1});
    if (io.outcome == Line::Outcome::closed) return pair.dead = true, false;
    if (io.outcome != Line::Outcome::done) return false;
    flow.from += io.bytes;
    flow.size -= io.bytes;
    counters_.bytes.fetch_add(io.bytes, std::memory_order_relaxed);
    return true;
  }

  // Only a flow whose receiver is slow keeps its pipe: a user may have but so many.
  bool take_pipe(Flow& flow) {
    if (!pipes_.empty()) {
      flow.pipe = std::move(pipes_.back());
      pipes_.pop_back();
      return true;
    }
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return false;
    flow.pipe.read = Fd(ends[0]);
    flow.pipe.write = Fd(ends[1]);
    ::fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);  // A smaller one will do.
    return true;
  }
  void give_back(Flow& flow) {
    if (!flow.pipe.read || flow.size > 0) return;
    if (pipes_.size() < kSparePipes) pipes_.push_back(std::move(flow.pipe));
    flow.pipe = Pipe{};
  }

  Counters& counters_;
  Fd epoll_, wake_;
  std::atomic<bool> stopping_ = false;
  std::vector<Pipe> pipes_;
  std::list<std::unique_ptr<Pair>> pairs_;
  std::vector<Pair*> queue_;
  Clock::time_point next_sweep_ = {};
  std::mutex mutex_;
  std::list<std::unique_ptr<Pair>> fresh_;  // Guarded.
  std::thread thread_;
};

base::Result<std::unique_ptr<Carrier>> Carrier::start(CarrierOptions options) {
  std::unique_ptr<Carrier> out(new Carrier);
  out->options_ = options;
  for (int i = 0; i < options.threads; ++i) {
    out->workers_.push_back(std::make_unique<Worker>(out->counters_));
    if (!out->workers_.back()->good())
      return base::fail(base::Code::exhausted, "no descriptors for carrying connections");
  }
  return out;
}

Carrier::~Carrier() = default;

bool Carrier::carry(std::unique_ptr<net::Line> a, std::unique_ptr<net::Line> b, base::Duration idle,
                    std::shared_ptr<void> held) {
  if (counters_.pairs.fetch_add(1) >= options_.most_pairs) {
    --counters_.pairs;
    return false;
  }
  auto pair = std::make_unique<Pair>();
  pair->lines = {std::move(a), std::move(b)};
  pair->idle = std::chrono::microseconds(idle.us);
  pair->held = std::move(held);
  workers_[next_++ % workers_.size()]->add(std::move(pair));
  return true;
}

}  // namespace souk::relay
