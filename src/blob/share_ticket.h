#pragma once

#include <string>
#include <string_view>

#include "base/time.h"
#include "blob/chunk.h"

// What a market gives a lease so that another machine lets it have one chunk: the text
//
//   CHUNK/JOB/LEASE/EXPIRES/MAC
//
// with the time in microseconds since 1970 and the MAC in hex, a BLAKE2b of everything before the
// last '/' under a key that only the market and the machine that has the chunk know. Nobody can
// learn from it, or from that machine without it, whether any other chunk is there.

namespace souk::blob {

struct ShareTicket {
  Digest chunk;
  std::string job, lease;  // Without '/'.
  base::Time expires;
  bool operator==(const ShareTicket&) const = default;
};

[[nodiscard]] std::string sign(const ShareTicket& ticket, const Digest& key);
// Refuses what was not signed with `key`, and what has expired; both are `unauthenticated`.
[[nodiscard]] Result<ShareTicket> read_share_ticket(std::string_view text, const Digest& key,
                                                    base::Time now);

}  // namespace souk::blob
