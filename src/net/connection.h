#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/admission.h"
#include "net/loop.h"
#include "net/outbox.h"
#include "net/request_parser.h"
#include "net/server.h"
#include "net/stream_state.h"
#include "net/transport.h"

// Internal to src/net.

namespace souk::net {

class Connection;

// What the connections of one I/O thread share; everything is used on that thread only, except the
// loop's post() and the counters. Idle connections own no read buffer: they borrow `scratch` for
// the moment of reading, and keep only an unfinished remainder.
struct Shard {
  ServerOptions options;
  Handler handler;
  std::shared_ptr<const TlsContext> tls;
  std::shared_ptr<Admission> admission;

  Loop loop;
  std::vector<std::shared_ptr<Connection>> connections;
  std::array<char, 32 * 1024> scratch;
  bool stopping = false;

  struct {
    std::atomic<std::uint64_t> requests, bytes_in, bytes_out;
  } counters;
};

// One peer. A state machine that pump() drives as far as it can go without waiting. Owned by its
// shard's list until closed; replies and streams may keep the closed shell longer.
class Connection final : public Waiter,
                         public Exchange,
                         public std::enable_shared_from_this<Connection> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(std::shared_ptr<Shard> shard, int fd, Peer peer, Admission::Place place);
  ~Connection() override;

  // All but the Exchange functions: on the shard's thread only.
  void start();
  void ready(Direction direction) override;
  void sweep(Clock::time_point now);  // Acts on a deadline that has passed.
  void wind_down();                   // The server stops: finish what was begun, begin nothing.
  void make_room();                   // Somebody else has the place, unless a request is in work.
  void close();

  void answer(Response response) override;
  Stream stream(Response head) override;
  void dropped() override;
  void vouch() override;
  void hand_over(Response head, LineTaker taker) override;

 private:
  // screening: the head of a request has arrived, and whether its body is read is being decided.
  // leaving: the last answer is written, then somebody else has the connection.
  enum class Phase { reading, screening, handling, writing, streaming, leaving, draining, closed };

  void pump();
  bool step();  // False when only an event can bring progress.
  bool read_request();
  bool write_response();
  bool write_stream();
  bool leave();
  bool drain();

  std::size_t read_some(std::span<char> into);  // 0 when it must wait or has closed.
  bool flush();                                 // True when everything is written.
  void wait(Direction direction);

  void parse(std::string_view data);
  void screen();
  void read_body(std::size_t limit, std::shared_ptr<void> held, std::optional<Response> answer,
                 BodyPlace place);
  void dispatch();
  void respond(Response response);
  void begin_stream(Response head, std::shared_ptr<StreamState> state);
  void begin_leaving(Response head, LineTaker taker);
  void forget();  // The shard has it no more.
  void reject(int status, std::string_view message);
  void next_request();
  void start_draining();
  template <class Fn>
  void on_loop(Fn fn);
  std::string head(const Response& response, std::string_view framing) const;
  Response error(int status, std::string_view message) const;

  void set_deadline(base::Duration from_now);
  void no_deadline() { deadline_ = Clock::time_point::max(); }

  const std::shared_ptr<Shard> shard_;
  Socket socket_;
  Transport transport_;
  const Peer peer_;
  std::optional<Admission::Place> place_;  // Until it is closed.
  std::atomic<bool> known_ = false;        // Somebody proved who they are.

  Phase phase_ = Phase::reading;
  Clock::time_point deadline_ = Clock::time_point::max();
  std::size_t slot_ = 0;  // Where shard_->connections has us.
  bool pumping_ = false;
  bool readable_ = false;
  bool waiting_read_ = false;
  bool waiting_write_ = false;

  std::unique_ptr<RequestParser> parser_;  // While a request is being read.
  Clock::time_point request_began_ = {};
  std::shared_ptr<void> held_;  // With the body that is being read.
  BodyWatch watch_;             // Of the same.
  std::string unparsed_;        // Received, not yet understood ...
  std::size_t parsed_ = 0;      // ... from here on.
  bool deciding_ = false;       // Inside a call of the screen.
  bool evicted_ = false;
  bool keep_alive_ = true;
  bool http_1_1_ = true;
  bool head_only_ = false;

  Outbox out_;
  std::shared_ptr<void> answer_held_;  // While the answer is in out_.
  std::shared_ptr<StreamState> stream_;
  LineTaker taker_;  // While it is leaving.
};

}  // namespace souk::net
