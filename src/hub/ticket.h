#pragma once

#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"

// What a market gives a worker so that a hub lets it in: the text
//
//   JOB/UPDATE/EXPIRES/MAC
//
// with the time in microseconds since 1970 and the MAC in hex, a BLAKE2b of everything before the
// last '/' under a key that the market and its hubs share. It is good for pulling the parameters
// of that job and for sending that one update, until it expires. Whoever holds it may use it.

namespace souk::hub {

struct Ticket {
  std::string job;     // Neither name has a '/'.
  std::string update;  // The name of what may be sent.
  base::Time expires;
  bool operator==(const Ticket&) const = default;
};

// The key that follows from a secret of any length.
[[nodiscard]] base::Digest key_of(std::string_view secret);

[[nodiscard]] std::string sign(const Ticket& ticket, const base::Digest& key);
// Refuses what was not signed with `key`, and what has expired; both are `unauthenticated`.
[[nodiscard]] base::Result<Ticket> read_ticket(std::string_view text, const base::Digest& key,
                                               base::Time now);

// In a time that says nothing about where they differ.
[[nodiscard]] bool same(const base::Digest& a, const base::Digest& b);

}  // namespace souk::hub
