#include "server/tunnels/exchange.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace souk::server {
namespace {

using net::Line;

constexpr std::size_t kWhole = 4 << 20;  // An answer up to this size leaves when it is complete.

// What belongs to the connection, or would let a stranger's program act for the market: it runs
// under the market's own name in the eyes of a browser.
constexpr std::array<std::string_view, 15> kKeptHeaders = {"connection",
                                                           "keep-alive",
                                                           "transfer-encoding",
                                                           "content-length",
                                                           "te",
                                                           "trailer",
                                                           "upgrade",
                                                           "proxy-authenticate",
                                                           "proxy-authorization",
                                                           "set-cookie",
                                                           "content-security-policy",
                                                           "strict-transport-security",
                                                           "clear-site-data",
                                                           "set-cookie2",
                                                           "access-control-allow-credentials"};

net::Response head_for(const net::Response& from) {
  net::Response out{.status = from.status, .content_type = from.content_type};
  for (const auto& [name, value] : from.headers) {
    const bool kept = std::ranges::any_of(
        kKeptHeaders, [&](std::string_view word) { return net::equal_ignoring_case(name, word); });
    if (!kept && !net::equal_ignoring_case(name, "content-type"))
      out.headers.emplace_back(name, value);
  }
  // Shown in a browser, it is a page of nobody: no script, no form, no cookie.
  out.headers.emplace_back("Content-Security-Policy", "sandbox; default-src 'none'");
  return out;
}

}  // namespace

void Exchange::begin(ServiceRequestPtr request) {
  CHECK(!busy());
  request_ = std::move(request);
  ++request_->tries;
  written_ = 0;
  reader_.emplace(request_->head_only);
}

Exchange::State Exchange::pump(const std::function<void()>& more) {
  if (!busy()) {  // Nothing was asked: the worker has left, or talks out of turn.
    std::array<char, 16> piece;
    return line_->read(piece).outcome == Line::Outcome::want_read ? State::waits : State::broken;
  }
  if (!write_some()) return State::broken;
  return read_some(more);
}

bool Exchange::write_some() {
  while (written_ < request_->text.size()) {
    const iovec piece{request_->text.data() + written_, request_->text.size() - written_};
    const auto io = line_->write({&piece, 1});
    if (io.outcome == Line::Outcome::closed) return false;
    if (io.outcome != Line::Outcome::done) return true;
    written_ += io.bytes;
  }
  return true;
}

Exchange::State Exchange::read_some(const std::function<void()>& more) {
  std::array<char, 64 * 1024> piece;
  while (!*full_) {
    const auto io = line_->read(piece);
    if (io.outcome == Line::Outcome::closed) {
      reusable_ = false;
      reader_->closed();
    } else if (io.outcome != Line::Outcome::done) {
      return State::waits;
    } else if (reader_->feed({piece.data(), io.bytes}) < io.bytes) {
      reusable_ = false;  // It says more than its answer.
    }
    if (reader_->failed()) return State::broken;
    const auto length = reader_->length();
    if (reader_->has_head() && !stream_ && !reader_->done() && (!length || *length > kWhole))
      begin_stream();
    if (stream_ && !pass_on(more)) return State::broken;
    if (!reader_->done()) continue;
    reusable_ = reusable_ && reader_->keeps_alive() && written_ == request_->text.size();
    answer();
    return State::answered;
  }
  return State::waits;
}

void Exchange::begin_stream() { stream_ = request_->reply.stream(head_for(reader_->head())); }

// What has come so far goes to the caller, who is waited for before more is read.
bool Exchange::pass_on(const std::function<void()>& more) {
  auto body = reader_->take_body();
  if (body.empty()) return stream_->open();
  if (!stream_->write(std::make_shared<const std::string>(std::move(body)))) return false;
  if (reader_->done()) return true;
  *full_ = true;
  stream_->when_sent([full = full_, more] {
    *full = false;
    more();
  });
  return true;
}

void Exchange::answer() {
  if (stream_) {
    stream_->close();
    stream_.reset();
  } else {
    auto response = head_for(reader_->head());
    response.body = reader_->take_body();
    request_->reply.send(std::move(response));
  }
  request_.reset();
  reader_.reset();
}

ServiceRequestPtr Exchange::take_request() {
  if (stream_) cut();
  return std::move(request_);
}

void Exchange::cut() {
  if (!stream_) return;
  stream_->cut();
  stream_.reset();
  request_.reset();
}

}  // namespace souk::server
