#include "codec/snapshot.h"

#include "codec/binary.h"
#include "fuzz/target.h"

// A state as a snapshot and the base of a journal have it, after the line that names its format.
// Their files vouch for the bytes, so only our own ever get here; they are read as if others did.
// What is read is written and read the same. Gaps between ids cost memory beyond the bytes, so much
// as codec::Reader allows. What is derived from a state (its index) is not made: that is for states
// that are right in themselves, which only the files' hashes tell.

namespace {

using namespace souk;

base::Bytes written(const market::State& state) {
  base::Bytes out;
  codec::Writer(out, codec::Layout::sized).fields(state);
  return out;
}

// `whole`: as a snapshot, whose fields are all there; else as a base, which may be older.
void read(std::string_view input, bool whole) {
  codec::Reader reader(input, whole, codec::Layout::sized);
  market::State state;
  reader.fields(state);
  if (!reader.ok()) return;
  const auto bytes = written(state);
  codec::Reader second(bytes, true, codec::Layout::sized);
  market::State again;
  second.fields(again);
  CHECK(second.ok() && second.at_end());
  CHECK(written(again) == bytes);
}

}  // namespace

SOUK_FUZZ(snapshot, .input_bytes = 16 << 10, .malloc_mb = 64) {
  read(input, true);
  read(input, false);
}
