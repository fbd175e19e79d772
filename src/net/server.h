#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/address.h"
#include "net/http.h"
#include "net/line.h"

// An HTTP/1.1 server. Requests arrive whole, with their body, on I/O threads; answers may be given
// at once or later, from any thread. One request of a connection is in a handler at a time, so
// pipelined requests are answered in order.

namespace souk::net {

class StreamState;

// One end of a response body without a known length (server-sent events). A cheap handle: copies
// name the same stream, and any thread may use them, also after the server is gone.
// A default-made Stream is closed.
class Stream {
 public:
  Stream() = default;
  explicit Stream(std::shared_ptr<StreamState> state) : state_(std::move(state)) {}

  // Queues `data`, shared rather than copied, so one buffer can go to any number of streams. Never
  // blocks. False when the stream is closed, or when its queue would pass ServerOptions'
  // stream_queue_* limits: then the peer is too slow and its connection is cut. An empty or null
  // buffer only asks whether the stream is open.
  bool write(std::shared_ptr<const std::string> data) const;
  // Sends what is queued, then ends the body.
  void close() const;
  // Ends the connection at once: the peer sees that the body is not whole.
  void cut() const;
  // `fn` runs once, when all that was written has left or the stream has ended: on an I/O thread,
  // or here and now if there is nothing to wait for. It must not block. One at a time.
  void when_sent(std::function<void()> fn) const;
  bool open() const;
  // `fn` runs once, when the stream has ended for whatever reason: on an I/O thread, or here and
  // now if it has already ended. It must not block. Several may be added.
  void on_close(std::function<void()> fn) const;

 private:
  std::shared_ptr<StreamState> state_;
};

// Where a Reply goes: a connection, or a fake in a test. Each Reply makes exactly one call.
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual void answer(Response response) = 0;
  virtual Stream stream(Response head) = 0;
  virtual void dropped() = 0;                               // The reply was destroyed unanswered.
  virtual void vouch() {}                                   // See Reply::vouch().
  virtual void hand_over(Response head, LineTaker taker) {  // See Reply::hand_over().
    (void)head;
    taker(nullptr);
  }
};

// The right, and the duty, to answer one request. Exactly one of send, stream and hand_over is
// called, once, from any thread, at any later time; a Reply destroyed unanswered sends 500. A peer
// that leaves meanwhile is noticed when the answer is written; answering is then harmless.
class Reply {
 public:
  explicit Reply(std::shared_ptr<Exchange> exchange) : exchange_(std::move(exchange)) {}
  Reply(Reply&&) noexcept = default;
  Reply& operator=(Reply&&) = delete;
  ~Reply();

  void send(Response response);
  // Begins an unbounded body; head.body must be empty. A HEAD request gets the head only, and a
  // stream that is already closed.
  Stream stream(Response head);
  // The connection leaves HTTP: `head` (101) is its last answer, and `taker` gets the connection,
  // on an I/O thread, once that has left. It must not block.
  void hand_over(Response head, LineTaker taker);
  // The peer has proved who it is. From now on its connection is not closed to make room for
  // others, and may be idle for longer. Before send() or stream(), from any thread.
  void vouch() const;

 private:
  std::shared_ptr<Exchange> exchange_;
};

// Called on an I/O thread whenever more of a body has arrived, with all of it so far. Must not
// block.
using BodyWatch = std::move_only_function<void(std::string_view so_far)>;

// Where a body goes that the peer says the length of: into a buffer of that length.
struct BodyPlace {
  std::shared_ptr<base::Buffer> into;
  BodyWatch watch = {};
};

// What becomes of a request whose head has arrived: its body is read, or it is answered without.
// One of both, once, from any thread; destroyed undecided, it answers 503.
class BodyDecision {
 public:
  // Without a limit the request gets `answer`, or 503 where there is none, and its connection ends.
  using Decide = std::move_only_function<void(std::size_t limit, std::shared_ptr<void> held,
                                              std::optional<Response> answer, BodyPlace place)>;
  explicit BodyDecision(Decide decide) : decide_(std::move(decide)) {}
  BodyDecision(BodyDecision&&) noexcept = default;
  BodyDecision& operator=(BodyDecision&&) = delete;
  ~BodyDecision();

  // Reads up to `limit` bytes. `held` goes when the request goes.
  // With a place it becomes Request::large.
  void read(std::size_t limit, std::shared_ptr<void> held = {}, BodyPlace place = {});
  void refuse(Response answer);

 private:
  Decide decide_;
};

// Called on I/O threads with the head of a request that has a body, before it is read. `bytes`: its
// length, if the peer says. Must not block.
using BodyScreen = std::function<void(const Request& head, std::optional<std::uint64_t> bytes,
                                      BodyDecision decision)>;

// Called on I/O threads, several at once when there are several. Must not block. An exception that
// escapes drops the reply, so the peer gets 500.
using Handler = std::function<void(Request, Reply)>;

struct ServerTls {
  std::string certificate_pem;  // The server's certificate, then any intermediates.
  std::string key_pem;
};

// How many connections may be open for a moment beside ServerOptions::max_connections.
inline constexpr std::size_t kConnectionsBesideLimit = 512;

struct ServerOptions {
  std::string address = "127.0.0.1";  // An IPv4 or IPv6 address; "0.0.0.0" or "::" for all.
  std::uint16_t port = 0;             // 0: any free one, see Server::port().
  int threads = 1;                    // I/O threads, 1 to 256.
  std::optional<ServerTls> tls = {};

  std::size_t max_header_bytes = 16 * 1024;  // Request line and headers together; else 431.
  std::size_t max_body_bytes = 1024 * 1024;  // Else 413.
  std::size_t max_connections = 20'000;      // Else 503 with Retry-After.
  // Connections of one IPv4 address or IPv6 /64, else 503 with Retry-After; 0: no limit. Not for
  // trusted proxies, which bring many people from one address.
  std::size_t max_connections_per_address = 0;
  AddressRanges trusted_proxies = {};
  // Of max_connections: only for callers on this computer that are no trusted proxy.
  std::size_t reserved_connections = 0;
  std::size_t stream_queue_bytes = 1024 * 1024;  // Unsent bytes of one stream.
  std::size_t stream_queue_count = 1024;         // Unsent writes of one stream.

  // Zero or less is refused by start().
  base::Duration idle_timeout = base::seconds(75);  // Between requests. Then closed silently.
  // The same until the peer has proved who it is (Reply::vouch).
  base::Duration stranger_timeout = base::seconds(10);
  base::Duration header_timeout = base::seconds(10);  // From a request's first byte to its body.
  base::Duration read_timeout = base::seconds(30);  // From a request's first byte to its last; 408.
  base::Duration write_timeout = base::seconds(30);  // Without the peer taking a single byte.

  BodyScreen screen = {};  // Default: reads every body of up to max_body_bytes.

  // Makes the body of the answers that the server itself gives (400, 408, 413, 431, 500, 503), on
  // an I/O thread. The server sets the status and the connection headers. Default: plain text.
  std::function<Response(int status, std::string_view message)> error_body = {};
};

struct ServerCounters {
  std::uint64_t open = 0;       // Connections now, streams included.
  std::uint64_t strangers = 0;  // Of these: nobody has proved who they are.
  std::uint64_t limit = 0;      // Of connections.
  std::uint64_t accepted = 0;   // Since the start, as are those below.
  std::uint64_t refused = 0;    // Over a connection limit.
  std::uint64_t evicted = 0;    // Strangers' connections closed to make room.
  std::uint64_t requests = 0;   // Given to the handler.
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
};

// Owns its threads and connections. All methods may be called from any thread but the I/O threads.
class Server {
 public:
  // Listens when it returns. Invalid options and a port in use are errors.
  static base::Result<std::unique_ptr<Server>> start(ServerOptions options, Handler handler);
  ~Server();  // stop(0)
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  std::uint16_t port() const;
  bool tls() const;
  ServerCounters counters() const;
  // Connections now, of this address and those that are counted with it (address_key()).
  std::size_t open_from(std::string_view address) const;

  // Stops accepting, closes idle connections, ends streams once their queues are sent, waits up to
  // `grace` for requests to be answered, then closes what is left. The handler is not called after
  // it returns. Calls after the first do nothing.
  void stop(base::Duration grace);

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::net
