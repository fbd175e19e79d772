#include "codec/snapshot.h"

#include "codec/binary.h"
#include "codec/schema.h"

namespace souk::codec {
namespace {

// Any change of the state's fields is another format, without anybody having to think of it.
const std::string& format() {
  static const auto text =
      "souk state 4 " + to_string(base::blake2b(Schema::of<market::State>())).substr(0, 16) + "\n";
  return text;
}

}  // namespace

base::Bytes encode_state(const market::State& state) {
  base::Bytes out(format());
  Writer(out).put(state);
  return out;
}

std::optional<market::State> decode_state(std::string_view bytes) {
  if (!bytes.starts_with(format())) return std::nullopt;
  Reader reader(bytes.substr(format().size()), true);
  market::State state;
  reader.get(state);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  state.index.rebuild(state);
  return state;
}

base::Digest state_hash(const market::State& state) { return base::blake2b(encode_state(state)); }

}  // namespace souk::codec
