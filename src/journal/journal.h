#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"

namespace souk::journal {

// One commit: `count` events numbered first, first+1, ... as opaque bytes. A view: the bytes belong
// to whoever hands the batch over and are only good for the call.
struct Batch {
  std::uint64_t first = 0;
  std::uint32_t count = 0;
  std::string_view bytes;

  [[nodiscard]] std::uint64_t end() const { return first + count; }  // One past its last event.
  bool operator==(const Batch&) const = default;
};

// A batch is written, read and hashed whole, so its size bounds the memory a replay needs.
inline constexpr std::size_t kMostBatchBytes = 64 << 20;

// A numbered list of events in batches, to be read. Owned by one thread at a time.
class History {
 public:
  using Visit = std::function<base::Result<>(const Batch&)>;

  virtual ~History() = default;

  // Number of the event after the last one: 1 when there are none and never were any.
  [[nodiscard]] virtual std::uint64_t next() const = 0;

  // Number of the oldest event kept: 1, unless events were dropped.
  [[nodiscard]] virtual std::uint64_t first() const = 0;

  // Calls `visit` for each batch holding events >= from (batches are whole, so the first may begin
  // before `from`), in order; stops at the first error, its own or visit's, and returns it.
  // `visit` must not append. An event before first() is not_found.
  [[nodiscard]] virtual base::Result<> replay(std::uint64_t from, const Visit& visit) = 0;
};

// The history of everything that was acknowledged. It moves bytes and never looks inside them; it
// never edits or reorders a batch, and drops batches only when told to.
//
// Dropping: the oldest batches may go once a base stands for them, which is the state just before
// first(). It is saved first; then cut() makes it and the new first() valid in one step; then
// trim() removes what lies before first(), a bite at a time. A crash anywhere leaves the journal
// with the old first() and base or with the new ones.
class Journal : public History {
 public:
  // Durable when it returns ok (fsynced). On error the caller must end the process: whether the
  // batch is on disk is then unknown, and nothing is ever retried.
  // Requires batch.first == next() and count > 0; more than kMostBatchBytes is an error.
  [[nodiscard]] virtual base::Result<> append(const Batch& batch) = 0;

  // The base: the bytes that were saved of the state before event first(); empty when nothing was
  // dropped. Damaged where they are missing or others: then the kept events lead nowhere. Beside a
  // writer that cuts meanwhile first() may change with this call and with replay().
  [[nodiscard]] virtual base::Result<std::string> base() = 0;

  // Makes `bytes`, the state before event `first`, durable for a cut to come, and reads it back. A
  // reader may do so.
  [[nodiscard]] virtual base::Result<> save_base(std::uint64_t first, std::string_view bytes) = 0;

  // Copies the batches before event `until`, with which one begins, to a file of the journal's own
  // format in `folder` (archive.h): durable and read back when it returns ok. An archive that
  // begins with the same event is replaced. `also` is called for each batch written and for each
  // read back, and its error ends the copy. A reader may do so.
  [[nodiscard]] virtual base::Result<> archive(const std::string& folder, std::uint64_t until,
                                               const Visit& also) = 0;

  // From now on the journal begins with event `first`, and with the base that was saved for it,
  // whose bytes have this digest. Requires first() < first <= next(). Invalid if no batch begins
  // there. On other errors the caller must end the process, as with append().
  [[nodiscard]] virtual base::Result<> cut(std::uint64_t first, const base::Digest& base) = 0;

  // Removes some of what lies before first(): so little that an append can wait for it. False:
  // nothing is left there. On error the caller must end the process, as with append().
  [[nodiscard]] virtual base::Result<bool> trim() = 0;
};

// A journal as it was found.
template <class Kind>
struct OpenedAs {
  std::unique_ptr<Kind> journal;
  std::string note = {};  // What was cut off its end and from which event number; empty if nothing.
  // What the note tells of is damage; else a commit that was never finished, so never acknowledged.
  bool damage = false;
  std::string name = {};  // Where it is, for people.
};
using Opened = OpenedAs<Journal>;
using OpenedHistory = OpenedAs<History>;

}  // namespace souk::journal
