#pragma once

#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "market/state.h"

namespace souk::codec {

// The whole state as bytes, without what can be derived from it. Equal states give equal bytes.
//
//   a line   "souk state 5 HASH", the hash being that of the names and types of all fields
//   fields   of the state, in the sized layout (binary.h)
//
// The hash is for those who can make the state anew from events, and do when it is of other fields:
// what a field would have gathered from those events must not be missed. The layout is for the base
// of a journal whose events are gone: it is read by every later program.
[[nodiscard]] base::Bytes encode_state(const market::State& state);
// Nothing, unless the bytes are of exactly the fields that the state has here.
[[nodiscard]] std::optional<market::State> decode_state(std::string_view bytes);

// The state that a journal begins with, from its base (journal.h); empty bytes are a market in
// which nothing has happened. Fields appended since it was written keep their defaults. The caller
// vouches for the bytes: these end where they end.
[[nodiscard]] base::Result<market::State> base_state(std::string_view bytes);

// What `souk journal verify` prints: equal before and after a restart, on any machine.
[[nodiscard]] base::Digest state_hash(const market::State& state);

}  // namespace souk::codec
