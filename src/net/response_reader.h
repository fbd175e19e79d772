#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "net/http.h"

namespace souk::net {

// Reads the answer to one request from bytes cut anywhere, as a program behind a port sends it:
// with a length, in chunks, or until it closes. Strict where two readers could understand it
// differently. Bounded by its limits. Pure.
class ResponseReader {
 public:
  static constexpr std::size_t kMostHead = 64 * 1024;

  // `head_only`: the request was HEAD, so no body follows whatever the head says.
  explicit ResponseReader(bool head_only = false) : head_only_(head_only) {}

  // Takes bytes from the front of `data` and returns how many: none beyond the end of the answer.
  // What it took of the body is in take_body().
  std::size_t feed(std::string_view data);
  // The peer has closed: an answer without a length ends here, any other is broken.
  void closed();

  [[nodiscard]] bool has_head() const { return state_ != State::head && state_ != State::failed; }
  [[nodiscard]] const Response& head() const { return head_; }  // Without its body.
  // The length of the body, where the head says.
  [[nodiscard]] std::optional<std::uint64_t> length() const;
  [[nodiscard]] std::string take_body() { return std::exchange(body_, {}); }
  [[nodiscard]] std::size_t body_bytes() const { return body_.size(); }
  [[nodiscard]] bool done() const { return state_ == State::done; }
  [[nodiscard]] bool failed() const { return state_ == State::failed; }
  // May the connection be used for another request, once done()?
  [[nodiscard]] bool keeps_alive() const { return done() && keeps_alive_; }

 private:
  enum class State {
    head,
    length,
    chunk_size,
    chunk,
    chunk_end,
    trailers,
    until_close,
    done,
    failed
  };

  std::size_t feed_head(std::string_view data);
  bool parse_head(std::string_view text);
  bool choose_body();
  std::size_t feed_line(std::string_view data, bool (ResponseReader::*use)(std::string_view));
  bool use_chunk_size(std::string_view line);
  bool use_chunk_end(std::string_view line);
  bool use_trailer(std::string_view line);

  const bool head_only_;
  State state_ = State::head;
  Response head_;
  std::string text_;  // Of a head or line that is not complete.
  std::string body_;
  std::uint64_t left_ = 0;  // Of the body or chunk.
  bool keeps_alive_ = true;
  bool chunked_ = false;
};

}  // namespace souk::net
