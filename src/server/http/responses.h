#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "net/http.h"

// The usual answers.

namespace souk::server {

[[nodiscard]] inline net::Response json_response(std::string body, int status = 200) {
  return {.status = status, .body = std::move(body)};
}

[[nodiscard]] inline net::Response bytes_response(std::string body) {
  return {.content_type = "application/octet-stream", .body = std::move(body)};
}

// The answer to a request that cannot be served: application/problem+json (wire/problem.h).
[[nodiscard]] net::Response problem(const base::Error& error);
// A message without the paths in it. Words that are links to this API stay.
[[nodiscard]] std::string without_paths(std::string_view text);
// The same for what the HTTP layer itself refuses.
[[nodiscard]] net::Response problem(int status, std::string_view message);
// A problem that says when to ask again, if it may be gone in a moment.
[[nodiscard]] net::Response refusal(const base::Error& error);

}  // namespace souk::server
