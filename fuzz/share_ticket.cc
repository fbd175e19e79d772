#include "blob/share_ticket.h"

#include <string>

#include "fuzz/target.h"

// A ticket for a chunk: any text, and the same text with a signature that is right. A ticket is
// accepted exactly if it is what sign() writes.

using namespace souk;

SOUK_FUZZ(share_ticket, .input_bytes = 512, .malloc_mb = 1) {
  static const auto key = base::blake2b("a secret of the fuzzers");
  const base::Time now(1'767'571'200'000'000);
  CHECK(!blob::read_share_ticket(input, key, now));  // Nobody guesses a signature.
  const auto text = std::string(input) + "/" + to_string(base::blake2b(input, key));
  const auto ticket = blob::read_share_ticket(text, key, now);
  if (!ticket) return;
  CHECK(ticket->expires > now);
  CHECK(blob::sign(*ticket, key) == text);
}
