#include "hub/ticket.h"

#include <string>

#include "fuzz/target.h"

// A hub's ticket: any text, and the same text with a signature that is right. A ticket is accepted
// exactly if it is what sign() writes.

using namespace souk;

SOUK_FUZZ(ticket, .input_bytes = 512, .malloc_mb = 1) {
  static const auto key = hub::key_of("a secret of the fuzzers");
  const base::Time now(1'767'571'200'000'000);
  CHECK(!hub::read_ticket(input, key, now));  // Nobody guesses a signature.
  const auto text = std::string(input) + "/" + to_string(base::blake2b(input, key));
  const auto ticket = hub::read_ticket(text, key, now);
  if (!ticket) return;
  CHECK(ticket->expires > now);
  CHECK(hub::sign(*ticket, key) == text);
}
