#pragma once

#include <string_view>

#include "base/result.h"
#include "net/http.h"

namespace souk::server {

// The answer to a request that cannot be served: application/problem+json (wire/problem.h).
[[nodiscard]] net::Response problem(const base::Error& error);
// The same for what the HTTP layer itself refuses.
[[nodiscard]] net::Response problem(int status, std::string_view message);

}  // namespace souk::server
