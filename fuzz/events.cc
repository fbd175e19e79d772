#include "codec/events.h"

#include "fuzz/target.h"

// A batch of a journal's events. What can be read can be written, and is read the same; the bytes
// that are written are the same every time.

using namespace souk;

SOUK_FUZZ(events, .input_bytes = 8192, .malloc_mb = 16) {
  codec::EventWriter written, again;
  const auto keep_in = [](codec::EventWriter& writer) {
    return [&](base::Time at, const market::Event& event) { writer.add(at, event); };
  };
  if (!codec::read_events(input, 1, keep_in(written))) return;
  CHECK(codec::read_events(written.bytes(), 1, keep_in(again)).has_value());
  CHECK(again.bytes() == written.bytes());
}
