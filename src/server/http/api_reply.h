#pragma once

#include <optional>
#include <utility>

#include "net/server.h"

namespace souk::server {

// An answer with what all answers of the API carry: they are kept by no cache and are of the type
// they say.
[[nodiscard]] net::Response api_answer(net::Response response);

// A net::Reply that adds what all answers of the API carry: they are kept by no cache, are of the
// type they say, and end the browser's session where that was asked for. Belongs to whoever works
// on the request.
//
// A reply that is destroyed unanswered sends 503 with Retry-After. So a queue that is full or a
// thread that has stopped simply drops what it was given, and nobody has to look at what it said.
// Destroyed by an exception on its way up, it sends 500.
class ApiReply {
 public:
  ApiReply(net::Reply reply, bool secure) : reply_(std::move(reply)), secure_(secure) {}
  ApiReply(ApiReply&& other) noexcept;
  ApiReply& operator=(ApiReply&&) = delete;
  ~ApiReply();

  // One of these, once.
  void send(net::Response response);
  net::Stream stream(net::Response head);
  // The connection leaves HTTP (net::Reply::hand_over).
  void hand_over(net::LineTaker taker);

  // The caller has proved who they are (net::Reply::vouch). Before the answer.
  void vouch() const {
    if (reply_) reply_->vouch();
  }
  // The answer will take the session cookie away: its token is no longer good.
  void drop_cookie() { drop_cookie_ = true; }
  // Does the answer leave over TLS, here or at a proxy?
  [[nodiscard]] bool secure() const { return secure_; }

 private:
  net::Reply take();
  net::Response complete(net::Response answer) const;

  std::optional<net::Reply> reply_;  // Until it was answered.
  const bool secure_;
  bool drop_cookie_ = false;
};

}  // namespace souk::server
