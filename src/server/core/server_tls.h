#pragma once

#include <optional>

#include "base/result.h"
#include "net/tls.h"
#include "server/core/server.h"

namespace souk::server {

// The certificate that a server with these options shows; nothing: it speaks plain HTTP. One of its
// own is made once and kept in the data folder, so that the pins of clients stay good.
[[nodiscard]] base::Result<std::optional<net::ServerTls>> tls_for(const Options& o);

}  // namespace souk::server
