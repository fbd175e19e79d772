#include "relay/overlay/overlay.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/check.h"
#include "relay/overlay/addresses.h"
#include "relay/overlay/packet.h"

namespace souk::relay {
namespace {

using net::Line;

constexpr std::string_view kMagic = "SKG1";
constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kBefore = kLengthBytes + kCounterBytes + 1;  // Of a packet in a frame.
constexpr std::size_t kMostRecord = kSealBytes + 1 + kMtu;
constexpr std::size_t kInput = 4 * (kLengthBytes + kMostRecord);
// Of a line that may be a stranger's: it has to begin with a hello.
constexpr std::size_t kHelloRecord = kSealBytes + 1;
constexpr std::size_t kFirstInput = 512;
// A line that takes nothing for a moment is waited for, so that on fast lines nothing is lost. Then
// its packets queue, so that others do not wait for a slow one, and what does not fit is lost, as
// with any router.
constexpr int kMomentMs = 2;
constexpr std::size_t kMostQueued = 1 << 20;
constexpr int kUnsent = 256 << 10;  // That a socket keeps before it says that it is full.

enum Kind : std::uint8_t { kHello = 0, kPacket = 1 };

std::uint32_t read_length(const std::uint8_t* p) {
  return std::uint32_t{p[0]} | std::uint32_t{p[1]} << 8 | std::uint32_t{p[2]} << 16 |
         std::uint32_t{p[3]} << 24;
}
void write_length(std::uint8_t* p, std::size_t n) {
  for (int i = 0; i < 4; ++i, n >>= 8) p[i] = static_cast<std::uint8_t>(n);
}

// One line to one other worker.
struct Path {
  std::unique_ptr<Line> line;
  PathKind kind = PathKind::server;
  std::int32_t worker = 0;
  std::uint64_t generation = 0;  // Of its peer's key.
  bool head_read = false;        // Of the receiving thread, as are those up to `input`.
  std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  std::vector<std::uint8_t> input = std::vector<std::uint8_t>(kFirstInput);
  std::size_t begin = 0, end = 0;  // What of it is not understood yet.
  std::string queue;               // Guarded by the peer's mutex, as are those that follow.
  std::size_t queue_sent = 0;      // Of the queue.
  bool verified = false;
  bool broken = false;

  [[nodiscard]] std::size_t queued() const { return queue.size() - queue_sent; }
};
using PathPtr = std::shared_ptr<Path>;

struct Peer {
  mutable std::mutex mutex;  // Guards what follows; what is in `opener` is the receiving thread's.
  std::optional<PublicKey> key;
  bool dropped = false;
  std::uint64_t generation = 0;
  std::shared_ptr<Opener> opener;
  std::unique_ptr<Sealer> sealer;
  std::vector<PathPtr> paths;

  // The best that works, or none. Requires the mutex.
  [[nodiscard]] PathPtr best() const {
    PathPtr out;
    for (const auto& path : paths)
      if (path->verified && !path->broken && (out == nullptr || path->kind < out->kind)) out = path;
    return out;
  }
};

void tune(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &kUnsent, sizeof kUnsent);
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
}

}  // namespace

struct Overlay::Impl {
  OverlayOptions options;
  std::vector<std::unique_ptr<Peer>> all_peers;
  base::Fd epoll{::epoll_create1(EPOLL_CLOEXEC)};
  base::Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // For the receiving thread.
  base::Fd over{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};  // For the sending one.
  std::atomic<bool> stopping = false;
  std::atomic<std::int64_t> sent = 0, received = 0;
  std::mutex mutex;            // Guards what follows.
  std::list<PathPtr> fresh;    // For the receiving thread.
  std::list<PathPtr> watched;  // Of the receiving thread.
  std::thread sender, receiver;

  explicit Impl(OverlayOptions o) : options(std::move(o)) {
    CHECK(options.workers >= 1 && options.workers <= kMostWorkers);
    for (std::int32_t i = 0; i < options.workers; ++i)
      all_peers.push_back(std::make_unique<Peer>());
    CHECK(epoll && wake && over);
    ::fcntl(options.tun.get(), F_SETFL, ::fcntl(options.tun.get(), F_GETFL) | O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, wake.get(), &event);
    sigset_t every, before;  // Signals are for the program's own threads.
    sigfillset(&every);
    ::pthread_sigmask(SIG_SETMASK, &every, &before);
    sender = std::thread([this] { send_loop(); });
    receiver = std::thread([this] { receive_loop(); });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  ~Impl() {
    stopping = true;
    signal(over);
    signal(wake);
    sender.join();
    receiver.join();
  }

  static void signal(const base::Fd& event) {
    const std::uint64_t one = 1;
    (void)!::write(event.get(), &one, sizeof one);
  }
  Peer* find(std::int32_t worker) {
    return worker >= 0 && worker < options.workers && worker != options.worker
               ? all_peers[static_cast<std::size_t>(worker)].get()
               : nullptr;
  }

  // --- From the device to others ----------------------------------------------------------------

  void send_loop() {
    std::vector<std::uint8_t> frame(kBefore + kMtu + kTagBytes);
    VirtioHeader ignored;
    while (!stopping) {
      const std::array<iovec, 2> parts{
          iovec{&ignored, sizeof ignored},
          iovec{frame.data() + kBefore, frame.size() - kBefore - kTagBytes}};
      const auto n = ::readv(options.tun.get(), parts.data(), parts.size());
      if (n > static_cast<ssize_t>(sizeof ignored)) {
        send_packet(frame, static_cast<std::size_t>(n) - sizeof ignored);
      } else if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        std::array<pollfd, 2> events{pollfd{options.tun.get(), POLLIN, 0},
                                     pollfd{over.get(), POLLIN, 0}};
        ::poll(events.data(), events.size(), -1);
      } else {
        return;  // The namespace is gone.
      }
    }
  }

  // The packet lies in the frame, behind room for all that goes before it.
  void send_packet(std::vector<std::uint8_t>& frame, std::size_t size) {
    const auto ends = ends_of({frame.data() + kBefore, size});
    if (!ends || ends->from != address_of(options.worker)) return;
    const auto worker = worker_at(ends->to);
    auto* peer = worker ? find(*worker) : nullptr;
    if (peer == nullptr) return;
    std::unique_lock lock(peer->mutex);
    const auto path = peer->best();
    if (path == nullptr || path->queued() > kMostQueued) return;
    frame[kBefore - 1] = kPacket;
    const auto rest = write_frame(*peer, *path, frame.data(), size + 1);
    sent += static_cast<std::int64_t>(size);
    if (!rest.empty()) wait_and_queue(lock, *path, rest);
  }

  // Seals the `size` bytes of text in `frame` and sends them, as far as they go. Requires the
  // peer's mutex.
  std::string_view write_frame(Peer& peer, Path& path, std::uint8_t* frame, std::size_t size) {
    const auto record = peer.sealer->seal(frame + kLengthBytes, size);
    write_length(frame, record);
    std::string_view all(reinterpret_cast<const char*>(frame), kLengthBytes + record);
    if (path.queued() == 0) return all.substr(put(path, all));
    return all;
  }

  // How much of it went. Requires the peer's mutex.
  static std::size_t put(Path& path, std::string_view bytes) {
    std::size_t done = 0;
    while (done < bytes.size() && !path.broken) {
      const iovec piece{const_cast<char*>(bytes.data()) + done, bytes.size() - done};
      const auto io = path.line->write({&piece, 1});
      if (io.outcome == Line::Outcome::closed) path.broken = true;
      if (io.outcome != Line::Outcome::done) break;
      done += io.bytes;
    }
    return done;
  }

  // The rest of a frame, on a line that takes no more just now. The lock is open meanwhile; nobody
  // else begins a frame on this line.
  void wait_and_queue(std::unique_lock<std::mutex>& lock, Path& path, std::string_view rest) {
    const int fd = path.line->fd();
    for (int tries = 0; tries < 8 && !rest.empty() && path.queued() == 0 && !path.broken; ++tries) {
      lock.unlock();
      pollfd event{fd, POLLOUT, 0};
      const int ready = ::poll(&event, 1, kMomentMs);
      lock.lock();
      if (path.broken || !path.line) return;
      rest.remove_prefix(put(path, rest));
      if (ready <= 0) break;
    }
    if (!path.broken) path.queue += rest;
  }

  // --- From others to the device ----------------------------------------------------------------

  void receive_loop() {
    std::array<epoll_event, 64> events;
    while (!stopping) {
      const int n = ::epoll_wait(epoll.get(), events.data(), events.size(), 1'000);
      for (int i = 0; i < n && !stopping; ++i) {
        const auto& event = events[static_cast<std::size_t>(i)];
        if (event.data.ptr == nullptr)
          take_fresh();
        else
          serve(*static_cast<Path*>(event.data.ptr));
      }
      drop_broken();
    }
  }

  void take_fresh() {
    std::uint64_t count = 0;
    (void)!::read(wake.get(), &count, sizeof count);
    std::list<PathPtr> paths;
    {
      const std::lock_guard lock(mutex);
      paths.swap(fresh);
    }
    for (auto& path : paths) {
      epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                        .data = {.ptr = path.get()}};
      const bool added = ::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, path->line->fd(), &event) == 0;
      watched.push_back(path);
      if (!added)
        mark_broken(*path);
      else
        serve(*path);
    }
  }

  void mark_broken(Path& path) {
    auto& peer = *find(path.worker);
    const std::lock_guard lock(peer.mutex);
    path.broken = true;
  }

  void drop_broken() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::microseconds to_verify(options.to_verify.us);
    std::erase_if(watched, [&](const PathPtr& path) {
      auto& peer = *find(path->worker);
      const std::lock_guard lock(peer.mutex);
      const bool late = !path->verified && now - path->since > to_verify;
      if (!path->broken && !late && path->generation == peer.generation) return false;
      path->broken = true;
      std::erase(peer.paths, path);
      // Closing alone does not end the watch while somebody else has the socket open too.
      ::epoll_ctl(epoll.get(), EPOLL_CTL_DEL, path->line->fd(), nullptr);
      path->line.reset();
      return true;
    });
  }

  void serve(Path& path) {
    flush(path);
    auto& peer = *find(path.worker);
    while (!stopping) {
      Line::Io io;
      const auto room = std::span(path.input).subspan(path.end);
      const std::span into(reinterpret_cast<char*>(room.data()), room.size());
      if (path.line->plain()) {
        io = path.line->read(into);
      } else {  // Nobody may write meanwhile.
        const std::lock_guard lock(peer.mutex);
        if (path.broken) return;
        io = path.line->read(into);
      }
      if (io.outcome == Line::Outcome::closed) return mark_broken(path);
      if (io.outcome != Line::Outcome::done) return;
      path.end += io.bytes;
      if (!understand(path)) return mark_broken(path);
    }
  }

  void flush(Path& path) {
    auto& peer = *find(path.worker);
    const std::lock_guard lock(peer.mutex);
    if (path.queued() == 0) return;
    path.queue_sent += put(path, std::string_view(path.queue).substr(path.queue_sent));
    if (path.queued() > 0) return;
    path.queue.clear();
    path.queue_sent = 0;
  }

  // All whole frames of the path's input. False: it makes no sense.
  bool understand(Path& path) {
    auto& peer = *find(path.worker);
    if (!path.head_read) {
      if (path.end - path.begin < kHeadBytes) return true;
      const std::string_view head(reinterpret_cast<char*>(path.input.data()) + path.begin,
                                  kHeadBytes);
      if (read_head(head, options.worker) != path.worker) return false;
      path.begin += kHeadBytes;
      path.head_read = true;
    }
    std::shared_ptr<Opener> opener;
    {
      const std::lock_guard lock(peer.mutex);
      if (path.generation != peer.generation) return false;
      opener = peer.opener;
    }
    while (path.end - path.begin >= kLengthBytes) {
      const auto length = read_length(path.input.data() + path.begin);
      if (length < kHelloRecord || length > (path.verified ? kMostRecord : kHelloRecord))
        return false;
      if (path.end - path.begin < kLengthBytes + length) break;
      const auto text =
          opener->open(std::span(path.input).subspan(path.begin + kLengthBytes, length));
      path.begin += kLengthBytes + length;
      if (!text) return false;  // On a line everything comes once and whole: somebody plays.
      if (!path.verified) verify(peer, path);
      if (text->front() == kPacket) deliver(path.worker, text->subspan(1));
    }
    if (path.verified && path.input.size() < kInput) path.input.resize(kInput);
    if (path.begin == path.end) {
      path.begin = path.end = 0;
    } else if (path.input.size() - path.end < kLengthBytes + kMostRecord) {
      std::memmove(path.input.data(), path.input.data() + path.begin, path.end - path.begin);
      path.end -= path.begin;
      path.begin = 0;
    }
    return true;
  }

  void verify(Peer& peer, Path& path) {
    const std::lock_guard lock(peer.mutex);
    path.verified = true;
  }

  void deliver(std::int32_t worker, std::span<std::uint8_t> packet) {
    const auto ends = ends_of(packet);
    if (!ends || ends->from != address_of(worker) || ends->to != address_of(options.worker)) return;
    auto header = header_for(packet);
    const std::array<iovec, 2> parts{iovec{&header, sizeof header},
                                     iovec{packet.data(), packet.size()}};
    if (::writev(options.tun.get(), parts.data(), parts.size()) > 0)
      received += static_cast<std::int64_t>(packet.size());
  }

  void add(std::int32_t worker, std::unique_ptr<Line> line, PathKind kind, bool head_read) {
    auto* peer = find(worker);
    if (peer == nullptr || !line) return;
    tune(line->fd());
    auto path = std::make_shared<Path>();
    path->line = std::move(line);
    path->kind = kind;
    path->worker = worker;
    path->head_read = head_read;
    {
      const std::lock_guard lock(peer->mutex);
      if (!peer->key || peer->dropped) return;
      const auto unverified = [](const PathPtr& p) { return !p->verified && !p->broken; };
      if (std::ranges::count_if(peer->paths, unverified) >= kMostUnverified)
        (*std::ranges::find_if(peer->paths, unverified))->broken = true;
      path->generation = peer->generation;
      path->queue = head_of(options.worker, worker);
      std::array<std::uint8_t, kBefore + kTagBytes> hello{};
      hello[kBefore - 1] = kHello;
      path->queue += write_frame(*peer, *path, hello.data(), 1);
      peer->paths.push_back(path);
    }
    {
      const std::lock_guard lock(mutex);
      fresh.push_back(std::move(path));
    }
    signal(wake);
  }
};

Overlay::Overlay(OverlayOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
Overlay::~Overlay() = default;

std::string Overlay::head_of(std::int32_t from, std::int32_t to) {
  std::string out(kMagic);
  for (const auto n : {from, to}) {
    out += static_cast<char>(n >> 8 & 255);
    out += static_cast<char>(n & 255);
  }
  return out;
}

std::int32_t Overlay::read_head(std::string_view head, std::int32_t to) {
  if (head.size() != kHeadBytes || !head.starts_with(kMagic)) return -1;
  const auto number = [&](std::size_t at) {
    return static_cast<unsigned char>(head[at]) << 8 | static_cast<unsigned char>(head[at + 1]);
  };
  return number(6) == to ? number(4) : -1;
}

bool Overlay::set_peer(std::int32_t worker, const PublicKey& key, bool fast_aes) {
  auto* peer = impl_->find(worker);
  if (peer == nullptr) return false;
  const auto& ours = impl_->options;
  {
    const std::lock_guard lock(peer->mutex);
    peer->dropped = false;
    if (peer->key == key) return true;  // Its counters go on: a nonce is never used twice.
    const auto keys = agree(ours.keys, key, ours.worker < worker);
    if (!keys) return false;
    const auto cipher = ours.fast_aes && fast_aes ? Cipher::aes : Cipher::chacha;
    peer->key = key;
    ++peer->generation;
    peer->sealer = std::make_unique<Sealer>(keys->send, cipher);
    peer->opener = std::make_shared<Opener>(keys->receive, cipher);
    for (const auto& path : peer->paths) path->broken = true;
  }
  Impl::signal(impl_->wake);
  return true;
}

void Overlay::drop_peer(std::int32_t worker) {
  auto* peer = impl_->find(worker);
  if (peer == nullptr) return;
  {
    const std::lock_guard lock(peer->mutex);
    peer->dropped = true;
    ++peer->generation;
    for (const auto& path : peer->paths) path->broken = true;
  }
  Impl::signal(impl_->wake);
}

void Overlay::add_line(std::int32_t worker, std::unique_ptr<net::Line> line, PathKind kind,
                       bool head_read) {
  impl_->add(worker, std::move(line), kind, head_read);
}

std::vector<PeerStatus> Overlay::peers() const {
  std::vector<PeerStatus> out;
  for (std::int32_t i = 0; i < impl_->options.workers; ++i) {
    const auto* peer = impl_->find(i);
    if (peer == nullptr) continue;
    const std::lock_guard lock(peer->mutex);
    if (!peer->key || peer->dropped) continue;
    const auto path = peer->best();
    out.push_back({i, path != nullptr, path != nullptr ? path->kind : PathKind::server});
  }
  return out;
}

bool Overlay::reaches(std::int32_t worker) const {
  const auto* peer = impl_->find(worker);
  if (peer == nullptr) return false;
  const std::lock_guard lock(peer->mutex);
  return peer->best() != nullptr;
}

std::int64_t Overlay::sent_bytes() const { return impl_->sent; }
std::int64_t Overlay::received_bytes() const { return impl_->received; }

}  // namespace souk::relay
