#include "server/http/api_reply.h"

#include "server/http/session_cookie.h"

namespace souk::server {

void ApiReply::send(net::Response response) { reply_.send(complete(std::move(response))); }

net::Stream ApiReply::stream(net::Response head) {
  return reply_.stream(complete(std::move(head)));
}

net::Response ApiReply::complete(net::Response response) const {
  const auto unless_there = [&](const char* name, const char* value) {
    if (response.header(name).empty()) response.headers.emplace_back(name, value);
  };
  unless_there("X-Content-Type-Options", "nosniff");
  unless_there("Cache-Control", "no-store");
  if (drop_cookie_) response.headers.emplace_back("Set-Cookie", no_session_cookie(secure_));
  return response;
}

}  // namespace souk::server
