#include "blob/chunk.h"

#include <string>

#include "fuzz/target.h"

// Chunks on their way: bytes that claim to be one, and content that becomes one and back. A chunk
// unpacks to 4 MiB at most, whatever it claims.

using namespace souk;

SOUK_FUZZ(chunk, .input_bytes = 16 << 10, .malloc_mb = 5) {
  const auto name = blob::name_of(input);
  const auto content = blob::decode(blob::encode(input), name);
  CHECK(content.has_value() && *content == input);
  // Whatever the bytes are as a chunk, by either hash: to verify is to decode.
  const auto body = std::string_view(input).substr(input.empty() ? 0 : 1);
  for (const auto& claimed : {name, blob::name_of(body), base::blake2b(body)}) {
    const auto read = blob::decode(input, claimed);
    CHECK(read.has_value() == blob::verify(input, claimed).has_value());
    if (read) CHECK(blob::name_of(*read) == claimed || base::blake2b(*read) == claimed);
  }
  if (const auto digest = blob::parse_digest(input)) CHECK(to_string(*digest) == input);
}
