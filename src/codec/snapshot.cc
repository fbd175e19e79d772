#include "codec/snapshot.h"

#include <fmt/format.h>

#include "codec/binary.h"
#include "codec/schema.h"

namespace souk::codec {
namespace {

// Anything but fields that are appended makes another one, and base_state() then reads both.
constexpr std::string_view kFormat = "souk state 5 ";

// Any change of the state's fields changes this line, without anybody having to think of it.
const std::string& first_line() {
  static const auto text = fmt::format(
      "{}{}\n", kFormat, to_string(base::blake2b(Schema::of<market::State>())).substr(0, 16));
  return text;
}

}  // namespace

base::Bytes encode_state(const market::State& state) {
  base::Bytes out(first_line());
  Writer(out, Layout::sized).fields(state);
  return out;
}

std::optional<market::State> decode_state(std::string_view bytes) {
  if (!bytes.starts_with(first_line())) return std::nullopt;
  Reader reader(bytes.substr(first_line().size()), true, Layout::sized);
  market::State state;
  reader.fields(state);
  if (!reader.ok() || !reader.at_end()) return std::nullopt;
  state.index.rebuild(state);
  return state;
}

base::Result<market::State> base_state(std::string_view bytes) {
  market::State state;
  if (bytes.empty()) return state;
  const auto end = bytes.find('\n');
  if (!bytes.starts_with(kFormat) || end == std::string_view::npos)
    return base::fail(base::Code::damaged,
                      fmt::format("the journal's base begins with '{}', which is unknown here",
                                  bytes.substr(0, std::min<std::size_t>(end, 40))),
                      "it was written by a newer souk: use that one");
  Reader reader(bytes.substr(end + 1), false, Layout::sized);
  reader.fields(state);
  if (!reader.ok())
    return base::fail(base::Code::damaged, "the journal's base is no state of a market",
                      "bring it back from a backup");
  state.index.rebuild(state);
  return state;
}

base::Digest state_hash(const market::State& state) { return base::blake2b(encode_state(state)); }

}  // namespace souk::codec
