#pragma once

#include <memory>
#include <string_view>

#include "base/result.h"
#include "net/client.h"
#include "net/line.h"

namespace souk::net {

// What came of asking for a line: the line, or what the server said instead.
struct Dialled {
  std::unique_ptr<Line> line;
  Response answer = {};  // Without a line: any status but 101.
};

// Asks the server (GET, with Upgrade) to let the connection leave HTTP. Blocks for connect_timeout
// and total_timeout at most. A server that cannot be reached or trusted is Error{unavailable}.
[[nodiscard]] base::Result<Dialled> dial(const ClientOptions& options, std::string_view path,
                                         const Headers& headers);

}  // namespace souk::net
