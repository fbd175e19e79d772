#include "codec/snapshot.h"

#include "codec/binary.h"

namespace souk::codec {
namespace {

constexpr std::string_view kFormat = "souk state 3\n";

}  // namespace

base::Bytes encode_state(const market::State& state) {
  base::Bytes out(kFormat);
  Writer(out).put(state);
  return out;
}

std::optional<market::State> decode_state(std::string_view bytes) {
  if (!bytes.starts_with(kFormat)) return std::nullopt;
  Reader reader(bytes.substr(kFormat.size()), true);
  market::State state;
  reader.get(state);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  state.index.rebuild(state);
  return state;
}

base::Digest state_hash(const market::State& state) { return base::blake2b(encode_state(state)); }

}  // namespace souk::codec
