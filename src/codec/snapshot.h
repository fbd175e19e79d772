#pragma once

#include <optional>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "market/state.h"

namespace souk::codec {

// The whole state as bytes, without what can be derived from it. Equal states give equal bytes.
// The first line names the format, which follows from the fields of the state and of all in it; a
// snapshot of another format is not read but made anew from the journal.
[[nodiscard]] base::Bytes encode_state(const market::State& state);
[[nodiscard]] std::optional<market::State> decode_state(std::string_view bytes);

// What `souk journal verify` prints: equal before and after a restart, on any machine.
[[nodiscard]] base::Digest state_hash(const market::State& state);

}  // namespace souk::codec
