#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "base/fd.h"
#include "fuzz/target.h"
#include "net/client.h"
#include "net/sse.h"

// What a server answers, as the client reads it: over a real connection, since libcurl reads it.
// The answer is a value or an error, never larger than was allowed. The first byte says whether it
// is read at once or as a stream of events.

namespace {

using namespace souk;

constexpr std::size_t kMostBody = 64 << 10;

// Answers whatever comes with the bytes it was given, on a thread of its own.
class Answers {
 public:
  Answers() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* address = reinterpret_cast<sockaddr*>(&at);
    socklen_t size = sizeof at;
    CHECK(::bind(listener_.get(), address, size) == 0);
    CHECK(::listen(listener_.get(), 16) == 0);
    CHECK(::getsockname(listener_.get(), address, &size) == 0);
    port_ = ntohs(at.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~Answers() {
    stopping_ = true;
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }

  void set(std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    bytes_ = bytes;
  }
  [[nodiscard]] int port() const { return port_; }

 private:
  void serve() {
    while (!stopping_) {
      const base::Fd peer(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!peer) continue;
      char request[8192];
      if (::recv(peer.get(), request, sizeof request, 0) <= 0) continue;
      const std::lock_guard lock(mutex_);
      (void)::send(peer.get(), bytes_.data(), bytes_.size(), MSG_NOSIGNAL);
      ::shutdown(peer.get(), SHUT_WR);
      while (::recv(peer.get(), request, sizeof request, 0) > 0) {
      }
    }
  }

  const base::Fd listener_;
  int port_ = 0;
  std::atomic<bool> stopping_ = false;
  std::mutex mutex_;
  std::string bytes_;
  std::thread thread_;
};

}  // namespace

SOUK_FUZZ(http_response, .input_bytes = 8192, .malloc_mb = 2) {
  static Answers answers;
  const bool as_stream = souk::fuzz::take_byte(input) % 2 == 1;
  answers.set(input);
  auto client = net::Client::make({.base_url = "http://127.0.0.1:" + std::to_string(answers.port()),
                                   .total_timeout = base::seconds(5),
                                   .stream_silence_timeout = base::seconds(2),
                                   .max_response_bytes = kMostBody});
  CHECK(client.has_value());
  if (!as_stream) {
    const auto got = client->send("GET", "/");
    if (got) CHECK(got->body.size() <= kMostBody);
    return;
  }
  net::EventParser parser(kMostBody);
  (void)client->stream("/", {}, [&](std::string_view piece) {
    return parser.feed(piece, [](const net::Event&) { return true; }).value_or(false);
  });
}
