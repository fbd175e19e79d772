#include "net/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace souk::net {
namespace {

// How long a connection that we have ended may take to notice. Closing at once instead could
// destroy our last answer on its way: unread input makes the kernel send a reset.
constexpr base::Duration kDrainTime = base::seconds(2);

constexpr std::size_t kBuffersPerWrite = 64;
constexpr std::size_t kWatchedRead = 256 * 1024;

// A line break in a header would let its author write further headers.
void append_header(std::string& out, std::string_view name, std::string_view value) {
  const auto start = out.size();
  out.append(name).append(": ").append(value);
  std::replace_if(
      out.begin() + static_cast<std::ptrdiff_t>(start), out.end(),
      [](char c) { return c == '\r' || c == '\n' || c == '\0'; }, ' ');
  out += "\r\n";
}

// A stream on its way to its connection. If the server stops first, the stream ends.
struct Unbegun {
  std::shared_ptr<StreamState> state;

  explicit Unbegun(std::shared_ptr<StreamState> s) : state(std::move(s)) {}
  Unbegun(Unbegun&&) = default;
  ~Unbegun() {
    if (state) state->ended();
  }
};

}  // namespace

Connection::Connection(std::shared_ptr<Shard> shard, int fd, Peer peer, Admission::Place place)
    : shard_(std::move(shard)),
      socket_(shard_->loop, fd),
      transport_(fd, shard_->tls),
      peer_(std::move(peer)),
      place_(std::move(place)) {}

Connection::~Connection() { CHECK(phase_ == Phase::closed); }

void Connection::start() {
  slot_ = shard_->connections.size();
  shard_->connections.push_back(shared_from_this());
  set_deadline(std::min(shard_->options.idle_timeout, shard_->options.stranger_timeout));
  if (place_->verdict() == Admission::Verdict::refuse) {
    reject(503, "too many connections");
  } else {
    place_->when_evicted([weak = weak_from_this(), shard = shard_] {
      shard->loop.post([weak] {
        if (const auto self = weak.lock()) self->make_room();
      });
    });
  }
  pump();
}

void Connection::ready(Direction direction) {
  if (direction == Direction::read) {
    waiting_read_ = false;
    readable_ = true;
  } else {
    waiting_write_ = false;
  }
  pump();
}

void Connection::sweep(Clock::time_point now) {
  if (now < deadline_) return;
  if (phase_ == Phase::reading && parser_) {
    reject(408, "the request took too long to arrive");
    pump();
  } else {
    close();
  }
}

void Connection::wind_down() {
  keep_alive_ = false;
  if ((phase_ == Phase::reading && !parser_) || phase_ == Phase::draining) return close();
  if (phase_ == Phase::streaming) {
    stream_->close();
    pump();
  }
}

// The peer was sent away while we waited for it. A request in work gets its answer first.
void Connection::make_room() {
  keep_alive_ = false;
  evicted_ = true;
  if (phase_ != Phase::handling && phase_ != Phase::screening) close();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  const auto self = shared_from_this();
  socket_.close();
  forget();
  place_.reset();
  if (const auto stream = std::exchange(stream_, nullptr)) stream->ended();
  if (auto taker = std::exchange(taker_, nullptr)) taker(nullptr);
}

void Connection::forget() {
  phase_ = Phase::closed;
  no_deadline();
  parser_.reset();
  unparsed_ = {};
  out_.clear();
  auto& all = shard_->connections;
  all[slot_] = std::move(all.back());
  all[slot_]->slot_ = slot_;
  all.pop_back();
  watch_ = nullptr;
  held_.reset();
  answer_held_.reset();
}

void Connection::pump() {
  if (std::exchange(pumping_, true)) return;
  while (step()) {
  }
  pumping_ = false;
}

bool Connection::step() {
  switch (phase_) {
    case Phase::reading:
      return read_request();
    case Phase::writing:
      return write_response();
    case Phase::streaming:
      return write_stream();
    case Phase::leaving:
      return leave();
    case Phase::draining:
      return drain();
    case Phase::screening:
    case Phase::handling:
    case Phase::closed:
      return false;
  }
  return false;
}

// Reading.

bool Connection::read_request() {
  if (!flush()) return false;  // A "100 Continue".
  // A large body is read to where it will stay.
  auto into = std::span<char>(shard_->scratch);
  if (unparsed_.empty() && parser_)
    if (const auto room = parser_->room(); !room.empty()) {
      into = room;
      transport_.expect(room.size());
    }
  // What is watched is looked at while it is still in the nearest cache.
  if (watch_ && into.size() > kWatchedRead) into = into.first(kWatchedRead);
  const std::size_t n = read_some(into);
  if (n == 0) return false;
  const std::string_view data(into.data(), n);
  if (unparsed_.empty()) {
    parse(data);
    if (phase_ != Phase::closed && parsed_ < n) unparsed_ = data.substr(parsed_);
    parsed_ = 0;
  } else {
    unparsed_ += data;
    parse(unparsed_);
  }
  return true;
}

// Leaves in parsed_ how much of `data` it took, unless that is forgotten with the connection.
void Connection::parse(std::string_view data) {
  if (!parser_) {
    parser_ = std::make_unique<RequestParser>(
        ParserLimits{shard_->options.max_header_bytes, shard_->options.max_body_bytes});
    request_began_ = Clock::now();
    set_deadline(std::min(shard_->options.header_timeout, shard_->options.read_timeout));
  }
  while (true) {
    parsed_ += parser_->feed(data.substr(parsed_));
    const bool all = parsed_ == data.size();
    if (all && data.data() == unparsed_.data()) {
      unparsed_.clear();
      parsed_ = 0;
    }
    if (parser_->failure() != 0)
      return reject(parser_->failure(), std::string(parser_->failure_message()));
    if (watch_) watch_(parser_->so_far());
    if (parser_->done()) return dispatch();
    if (!parser_->wants_body()) return;
    screen();
    // Decided at once, and some of the body is here already.
    if (phase_ != Phase::reading || !parser_ || all) return;
  }
}

// The head is there, and a body will follow.
void Connection::screen() {
  phase_ = Phase::screening;
  deadline_ = request_began_ + std::chrono::microseconds(shard_->options.read_timeout.us);
  BodyDecision decision([self = shared_from_this()](std::size_t limit, std::shared_ptr<void> held,
                                                    std::optional<Response> answer,
                                                    BodyPlace place) mutable {
    self->on_loop([self = self.get(), limit, held = std::move(held), answer = std::move(answer),
                   place = std::move(place)]() mutable {
      self->read_body(limit, std::move(held), std::move(answer), std::move(place));
    });
  });
  deciding_ = true;
  const struct Decided {
    bool& flag;
    ~Decided() { flag = false; }
  } decided{deciding_};
  if (!shard_->options.screen) return decision.read(shard_->options.max_body_bytes);
  try {
    shard_->options.screen(parser_->head(peer_), parser_->body_bytes(), std::move(decision));
  } catch (...) {
    // The decision, destroyed on the way here, has answered 503.
  }
}

void Connection::read_body(std::size_t limit, std::shared_ptr<void> held,
                           std::optional<Response> answer, BodyPlace place) {
  if (phase_ != Phase::screening) return;  // Closed meanwhile.
  phase_ = Phase::reading;
  if (!answer && limit == 0) return reject(503, "the server is too busy");
  if (!answer) {
    held_ = std::move(held);
    watch_ = std::move(place.watch);
    parser_->read_body(std::min(limit, shard_->options.max_body_bytes), std::move(place.into));
    if (parser_->failure() == 0) {
      if (parser_->wants_continue()) out_.push("HTTP/1.1 100 Continue\r\n\r\n", {});
      if (!deciding_ && parsed_ < unparsed_.size()) parse(unparsed_);
      return;
    }
    return reject(parser_->failure(), std::string(parser_->failure_message()));
  }
  phase_ = Phase::handling;
  parser_.reset();
  keep_alive_ = head_only_ = false;
  respond(*std::move(answer));
}

void Connection::dispatch() {
  keep_alive_ = parser_->keep_alive() && !shard_->stopping && !evicted_;
  http_1_1_ = parser_->http_1_1();
  transport_.expect(1);
  Request request = parser_->take();
  parser_.reset();
  request.peer = peer_;
  request.held = std::move(held_);
  watch_ = nullptr;
  head_only_ = request.method == "HEAD";
  phase_ = Phase::handling;
  no_deadline();
  shard_->counters.requests.fetch_add(1, std::memory_order_relaxed);
  try {
    shard_->handler(std::move(request), Reply(shared_from_this()));
  } catch (...) {
    // The reply, destroyed on the way here, has answered 500.
  }
}

void Connection::next_request() {
  if (!keep_alive_ || shard_->stopping) return start_draining();
  phase_ = Phase::reading;
  if (parsed_ < unparsed_.size()) {
    parse(unparsed_);
  } else {
    unparsed_ = {};
    parsed_ = 0;
    set_deadline(known_ ? shard_->options.idle_timeout
                        : std::min(shard_->options.idle_timeout, shard_->options.stranger_timeout));
  }
}

void Connection::start_draining() {
  transport_.shut_down_writing();
  if (shard_->stopping) return close();
  phase_ = Phase::draining;
  set_deadline(kDrainTime);
}

bool Connection::drain() { return read_some(shard_->scratch) > 0; }

std::size_t Connection::read_some(std::span<char> into) {
  if (!readable_) {
    wait(Direction::read);
    return 0;
  }
  const auto io = transport_.read(into);
  // A small read has most likely taken all there is; of a large body more is probably there, and
  // finding out costs less than another wait.
  const bool more = transport_.buffers_input() || into.data() != shard_->scratch.data();
  if (!more || io.outcome != Transport::Outcome::done) readable_ = false;
  switch (io.outcome) {
    case Transport::Outcome::done:
      shard_->counters.bytes_in.fetch_add(io.bytes, std::memory_order_relaxed);
      return io.bytes;
    case Transport::Outcome::want_read:
      wait(Direction::read);
      return 0;
    case Transport::Outcome::want_write:
      readable_ = true;  // Try again when the handshake's bytes have left.
      wait(Direction::write);
      return 0;
    case Transport::Outcome::closed:
      close();
      return 0;
  }
  return 0;
}

void Connection::wait(Direction direction) {
  bool& waiting = direction == Direction::read ? waiting_read_ : waiting_write_;
  if (!std::exchange(waiting, true)) socket_.wait(direction, shared_from_this());
}

// Writing.

bool Connection::flush() {
  while (!out_.empty()) {
    std::array<iovec, kBuffersPerWrite> buffers;
    const std::size_t used = out_.gather(buffers);
    const auto io = transport_.write(std::span(buffers).first(used));
    switch (io.outcome) {
      case Transport::Outcome::done:
        out_.consume(io.bytes);
        shard_->counters.bytes_out.fetch_add(io.bytes, std::memory_order_relaxed);
        if (!out_.empty() && phase_ != Phase::reading) set_deadline(shard_->options.write_timeout);
        break;
      case Transport::Outcome::want_read:
        wait(Direction::read);
        return false;
      case Transport::Outcome::want_write:
        wait(Direction::write);
        return false;
      case Transport::Outcome::closed:
        close();
        return false;
    }
  }
  return true;
}

bool Connection::write_response() {
  if (!flush()) return false;
  answer_held_.reset();
  next_request();
  return true;
}

bool Connection::write_stream() {
  if (stream_->overflowed()) {
    close();
    return false;
  }
  if (!flush()) return false;
  StreamState::Outgoing work = stream_->take();
  if (work.overflowed) return true;  // Just now: the next step cuts.
  for (auto& buffer : work.buffers) {
    std::string size = http_1_1_ ? fmt::format("{:x}\r\n", buffer->size()) : std::string();
    out_.push(std::move(size), std::move(buffer), http_1_1_);
  }
  if (work.last) {
    if (http_1_1_) out_.push("0\r\n\r\n", {});
    phase_ = Phase::writing;
    std::exchange(stream_, nullptr)->ended();
  }
  if (work.last || !out_.empty()) {
    set_deadline(shard_->options.write_timeout);
    return true;
  }
  no_deadline();
  // Reading is how we learn that the peer has left. What it sends meanwhile is not understood.
  if (read_some(shard_->scratch) == 0) return false;
  keep_alive_ = false;
  return true;
}

// HTTP is over. What the peer has sent since belongs to whoever has the connection now.
bool Connection::leave() {
  if (!flush()) return false;
  const auto self = shared_from_this();
  auto held = std::make_shared<std::optional<Admission::Place>>(std::move(place_));
  auto unread = unparsed_.substr(std::min(parsed_, unparsed_.size()));
  auto taker = std::exchange(taker_, nullptr);
  auto line = line_of(socket_.release(), std::move(transport_), std::move(unread), std::move(held));
  place_.reset();
  forget();
  taker(std::move(line));
  return false;
}

// Answering.

// Inside our own handler `fn` runs at once, and the pump that called the handler carries on. From
// anywhere else, even another connection's handler, it waits its turn: a handler must never be
// entered from within a call to send().
template <class Fn>
void Connection::on_loop(Fn fn) {
  if (shard_->loop.here() && pumping_) {
    fn();
  } else {
    shard_->loop.post([self = shared_from_this(), fn = std::move(fn)]() mutable {
      fn();
      self->pump();
    });
  }
}

void Connection::answer(Response response) {
  on_loop([this, response = std::move(response)]() mutable { respond(std::move(response)); });
}

void Connection::vouch() {
  if (known_.exchange(true)) return;
  on_loop([this] {
    if (place_) place_->is_known();
  });
}

void Connection::dropped() {
  on_loop([this] {
    if (phase_ == Phase::handling) respond(error(500, "the server failed to answer"));
  });
}

Stream Connection::stream(Response head) {
  auto state = std::make_shared<StreamState>(
      shard_->options.stream_queue_bytes, shard_->options.stream_queue_count,
      [self = shared_from_this()] { self->shard_->loop.post([self] { self->pump(); }); });
  on_loop([this, unbegun = Unbegun{state}, head = std::move(head)]() mutable {
    begin_stream(std::move(head), std::move(unbegun.state));
  });
  return Stream(state);
}

void Connection::hand_over(Response head, LineTaker taker) {
  // If the server stops before, the taker hears of it.
  struct Pending {
    LineTaker taker;
    explicit Pending(LineTaker t) : taker(std::move(t)) {}
    Pending(Pending&& other) noexcept : taker(std::exchange(other.taker, nullptr)) {}
    ~Pending() {
      if (taker) taker(nullptr);
    }
  };
  on_loop([this, pending = Pending(std::move(taker)), head = std::move(head)]() mutable {
    begin_leaving(std::move(head), std::exchange(pending.taker, nullptr));
  });
}

void Connection::begin_leaving(Response response, LineTaker taker) {
  if (phase_ != Phase::handling || shard_->stopping || !http_1_1_ || head_only_) {
    taker(nullptr);
    if (phase_ == Phase::handling) respond(error(503, "this connection cannot be used for that"));
    return;
  }
  keep_alive_ = true;
  out_.push(head(response, ""), {});
  taker_ = std::move(taker);
  phase_ = Phase::leaving;
  set_deadline(shard_->options.write_timeout);
}

void Connection::respond(Response response) {
  if (phase_ != Phase::handling) return;  // Closed meanwhile.
  std::string framing;
  auto length = response.body.size();
  for (const auto& part : response.shared) length += part.bytes.size();
  if (!has_no_body(response.status)) framing = fmt::format("Content-Length: {}\r\n", length);
  if (shard_->stopping) keep_alive_ = false;
  std::string top = head(response, framing);
  answer_held_ = std::move(response.held);
  const bool send_body = !head_only_ && !has_no_body(response.status);
  if (send_body)
    out_.push(std::move(top), std::move(response.body), std::move(response.shared));
  else
    out_.push(std::move(top), {});
  phase_ = Phase::writing;
  set_deadline(shard_->options.write_timeout);
}

void Connection::begin_stream(Response response, std::shared_ptr<StreamState> state) {
  if (phase_ != Phase::handling) return state->ended();
  CHECK(response.body.empty());
  if (!http_1_1_) keep_alive_ = false;  // The end of the connection is the end of the body.
  out_.push(head(response, http_1_1_ ? "Transfer-Encoding: chunked\r\n" : ""), {});
  set_deadline(shard_->options.write_timeout);
  if (head_only_) {
    phase_ = Phase::writing;
    return state->ended();
  }
  phase_ = Phase::streaming;
  stream_ = std::move(state);
  if (shard_->stopping) stream_->close();
}

void Connection::reject(int status, std::string_view message) {
  phase_ = Phase::handling;
  parser_.reset();
  watch_ = nullptr;
  held_.reset();
  keep_alive_ = head_only_ = false;
  Response response = error(status, message);
  if (status == 503 && response.header("Retry-After").empty())
    response.headers.emplace_back("Retry-After", "5");
  respond(std::move(response));
}

Response Connection::error(int status, std::string_view message) const {
  Response response{.content_type = "text/plain", .body = std::string(message) + "\n"};
  if (shard_->options.error_body) {
    try {
      response = shard_->options.error_body(status, message);
    } catch (...) {
      // The plain text will do.
    }
  }
  response.status = status;
  return response;
}

std::string Connection::head(const Response& response, std::string_view framing) const {
  std::string out;
  out.reserve(256);
  fmt::format_to(std::back_inserter(out), "HTTP/1.1 {} {}\r\n", response.status,
                 reason_phrase(response.status));
  if (!response.content_type.empty() && !has_no_body(response.status))
    append_header(out, "Content-Type", response.content_type);
  out += framing;
  if (!keep_alive_)
    out += "Connection: close\r\n";
  else if (!http_1_1_)
    out += "Connection: keep-alive\r\n";
  for (const auto& [name, value] : response.headers) append_header(out, name, value);
  out += "\r\n";
  return out;
}

void Connection::set_deadline(base::Duration from_now) {
  deadline_ = Clock::now() + std::chrono::microseconds(from_now.us);
}

}  // namespace souk::net
