#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

// What the query of a long poll says.

namespace souk::server {

// ?wait=, a minute at most.
[[nodiscard]] base::Result<base::Duration> wait_of(const net::Request& http,
                                                   base::Duration otherwise);

// The number that the caller has seen: in the query, for ?after= else in the header Last-Event-ID;
// else 0.
[[nodiscard]] base::Result<std::uint64_t> seen_of(const net::Request& http, std::string_view name);

}  // namespace souk::server
