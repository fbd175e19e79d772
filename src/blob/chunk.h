#pragma once

#include <cstddef>
#include <string_view>

#include "base/blake3.h"
#include "base/hash.h"
#include "base/result.h"

namespace souk::blob {

using base::Bytes;
using base::Digest;
using base::Result;

// Content travels and is stored in chunks of at most 4 MiB: small enough to hold a few in memory
// and to lose little when a connection drops, large enough that 32 bytes of name cost nothing.
inline constexpr std::size_t kChunkBytes = 4 << 20;
// An encoded chunk is never larger than its content and the tag.
inline constexpr std::size_t kMostEncodedBytes = kChunkBytes + 1;

// The name of a chunk: BLAKE3-256 of its content, whatever way it is encoded, so that the same
// content has one name on every machine and with every version of zstd. Chunks of earlier versions,
// and those of browsers, are named by BLAKE2b-256; the tag of their encoded form says so
// (docs/decisions/0054-names-and-cuts.md).
[[nodiscard]] inline Digest name_of(std::string_view content) { return base::blake3(content); }

// The form in which a chunk is stored and sent: one tag byte, then the bytes.
//   0  raw: the content itself, named by BLAKE2b
//   1  zstd: one frame that states its content's size, named by BLAKE2b
//   2  raw, named by BLAKE3
//   3  zstd, named by BLAKE3
// In two pieces, so that raw content need not be copied.
struct Encoded {
  char tag;
  std::string_view body;  // The content itself, or in the scratch that encode() was given.
};
// Named by BLAKE3. Compressed where that saves enough to pay for undoing it. Any thread.
// Requires content.size() <= kChunkBytes.
[[nodiscard]] Encoded encode(std::string_view content, Bytes& scratch);
[[nodiscard]] Bytes encode(std::string_view content);  // The same in one piece.

// The content of an encoded chunk, if it is what `name` names; else Error{damaged}. For bytes from
// strangers: allocates no more than kChunkBytes whatever they claim. Any thread.
[[nodiscard]] Result<Bytes> decode(std::string_view encoded, const Digest& name);
// The same, from the bytes after the tag; raw ones are returned as they are.
[[nodiscard]] Result<Bytes> decode(char tag, Bytes body, const Digest& name);
// Is it what `name` names? As decode(), for whoever needs no content: raw bytes are not copied.
[[nodiscard]] Result<> verify(std::string_view encoded, const Digest& name);

// Accepts exactly what to_string(Digest) writes: 64 lower-case hex digits.
[[nodiscard]] Result<Digest> parse_digest(std::string_view hex);

// For hash tables by name. Strangers choose content, so they choose names as well.
struct DigestHash {
  std::size_t operator()(const Digest& d) const {
    return base::table_hash({reinterpret_cast<const char*>(d.bytes.data()), d.bytes.size()});
  }
};

}  // namespace souk::blob
