#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "market/events.h"

// Events to the bytes that the journal keeps, and back.
//
//   event    kind (its place in market::Event), version, time, length, fields (binary.h)
//   kind     one byte;  version: one byte, whose high bit says that the fields are in the sized
//            layout, else in the first one;  time: zigzag microseconds since the event before it in
//            the same batch (the first: since 1970);  length: of the fields, in bytes
//
// Old events are never rewritten. A field appended to the end of an event, or of a struct in it,
// needs nothing: where it is missing it keeps its default, and an older program skips it. Any other
// change gives the event's kind a new version, and a row
// in upcasts() that makes the new fields' bytes from the old ones.

namespace souk::codec {

using base::Result;
using base::Time;
using market::Event;

class Reader;

// Turns the fields of version `from` of one kind, in whatever layout, into those of version
// `from` + 1 in the sized layout. It reads them all; where they make no sense, what it returns is
// not looked at.
struct Upcast {
  std::uint8_t kind = 0;
  std::uint8_t from = 1;
  std::function<base::Bytes(Reader& fields)> convert;
};

// All upcasts there are. The current version of a kind is one more than its upcasts.
[[nodiscard]] std::span<const Upcast> upcasts();

// Appends events to the bytes of one batch.
class EventWriter {
 public:
  void add(Time at, const Event& event);
  [[nodiscard]] const base::Bytes& bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t count() const { return count_; }
  void clear();

 private:
  base::Bytes bytes_;
  base::Bytes fields_;  // Reused.
  Time last_;
  std::uint32_t count_ = 0;
};

// Calls visit for each event of a batch. Damaged bytes and versions newer than this program's are
// errors that name the event's number, `first` being that of the batch's first event.
[[nodiscard]] Result<> read_events(std::string_view bytes, std::uint64_t first,
                                   const std::function<void(Time, const Event&)>& visit,
                                   std::span<const Upcast> known = upcasts());

// When the last event of a batch happened, without reading what happened; `first` as above.
[[nodiscard]] Result<Time> last_time(std::string_view bytes, std::uint64_t first);

}  // namespace souk::codec
