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
  if (const auto read = blob::decode(input, name)) CHECK(blob::name_of(*read) == name);
  if (const auto digest = blob::parse_digest(input)) CHECK(to_string(*digest) == input);
}
