#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/http.h"
#include "server/http/api_reply.h"
#include "server/http/route.h"
#include "server/http/session_cookie.h"

namespace souk::server {

using base::Result;

// A request on its way to its answer, from one thread to the next. Owned by whoever works on it;
// dropped on the way, it answers 503 (ApiReply).
struct ApiCall {
  net::Request http;
  ApiReply reply;
  const Route* route;
  std::vector<std::string> params;  // The {parameters} of the path, decoded.
  Credential credential = {};
  std::string key = {};           // Idempotency-Key.
  std::uint64_t fingerprint = 0;  // Of what was asked under that key.
};
using ApiCallPtr = std::unique_ptr<ApiCall>;

// What can be refused without looking at the state: unknown query parameters, a change without a
// key.
[[nodiscard]] Result<> check_call(const ApiCall& call);

}  // namespace souk::server
