#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

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

// The numbered history of everything that was acknowledged. Owned by one thread at a time. It moves
// bytes and never looks inside them; it never edits, reorders or drops a batch.
class Journal {
 public:
  using Visit = std::function<base::Result<>(const Batch&)>;

  virtual ~Journal() = default;

  // Number of the next event to append (1 for an empty journal).
  [[nodiscard]] virtual std::uint64_t next() const = 0;

  // Durable when it returns ok (fsynced). On error the caller must end the process: whether the
  // batch is on disk is then unknown, and nothing is ever retried.
  // Requires batch.first == next() and count > 0; more than kMostBatchBytes is an error.
  [[nodiscard]] virtual base::Result<> append(const Batch& batch) = 0;

  // Calls `visit` for each batch holding events >= from (batches are whole, so the first may begin
  // before `from`), in order; stops at the first error, its own or visit's, and returns it.
  // `visit` must not append.
  [[nodiscard]] virtual base::Result<> replay(std::uint64_t from, const Visit& visit) = 0;
};

// A journal as it was found.
struct Opened {
  std::unique_ptr<Journal> journal;
  std::string note = {};  // What was cut off its end and from which event number; empty if nothing.
  // What the note tells of is damage; else a commit that was never finished, so never acknowledged.
  bool damage = false;
  std::string name = {};  // Where it is, for people.
};

}  // namespace souk::journal
