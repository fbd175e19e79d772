#include "server/http/api_reply.h"

#include <exception>

#include "base/check.h"
#include "server/http/responses.h"
#include "server/http/session_cookie.h"

namespace souk::server {

net::Response api_answer(net::Response response) {
  const auto unless_there = [&](const char* name, const char* value) {
    if (response.header(name).empty()) response.headers.emplace_back(name, value);
  };
  unless_there("X-Content-Type-Options", "nosniff");
  unless_there("Cache-Control", "no-store");
  return response;
}

ApiReply::ApiReply(ApiReply&& other) noexcept
    : reply_(std::move(other.reply_)), secure_(other.secure_), drop_cookie_(other.drop_cookie_) {
  other.reply_.reset();
}

ApiReply::~ApiReply() {
  if (!reply_) return;
  if (std::uncaught_exceptions() > 0)
    send(problem(base::Error{base::Code::internal, "the server failed to answer this request",
                             "its log says why; other requests are not affected"}));
  else
    send(refusal(base::Error{base::Code::unavailable, "the market is too busy", "try again"}));
}

net::Reply ApiReply::take() {
  CHECK(reply_.has_value());
  auto out = *std::move(reply_);
  reply_.reset();
  return out;
}

void ApiReply::send(net::Response response) { take().send(complete(std::move(response))); }

net::Stream ApiReply::stream(net::Response head) {
  return take().stream(complete(std::move(head)));
}

void ApiReply::hand_over(net::LineTaker taker) {
  take().hand_over({.status = 101,
                    .content_type = "",
                    .headers = {{"Connection", "Upgrade"}, {"Upgrade", "souk"}}},
                   std::move(taker));
}

net::Response ApiReply::complete(net::Response answer) const {
  auto response = api_answer(std::move(answer));
  if (drop_cookie_) response.headers.emplace_back("Set-Cookie", no_session_cookie(secure_));
  return response;
}

}  // namespace souk::server
