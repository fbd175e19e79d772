#pragma once

#include <utility>

#include "net/server.h"

namespace souk::server {

// A net::Reply that adds what all answers of the API carry: they are kept by no cache, are of the
// type they say, and end the browser's session where that was asked for. Belongs to whoever works
// on the request.
class ApiReply {
 public:
  ApiReply(net::Reply reply, bool secure) : reply_(std::move(reply)), secure_(secure) {}

  void send(net::Response response);
  net::Stream stream(net::Response head);

  // The answer will take the session cookie away: its token is no longer good.
  void drop_cookie() { drop_cookie_ = true; }
  // Does the answer leave over TLS, here or at a proxy?
  [[nodiscard]] bool secure() const { return secure_; }

 private:
  net::Response complete(net::Response response) const;

  net::Reply reply_;
  const bool secure_;
  bool drop_cookie_ = false;
};

}  // namespace souk::server
