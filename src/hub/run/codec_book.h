#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/id.h"
#include "train/codecs/codec.h"
#include "wire/api/training.h"

namespace souk::hub {

// Which codec the update of each unit travels in. A job names one for all, or leaves it to us
// (train::kAutoCodec). Then each worker begins with fp32, and gets a smaller one while uploads take
// more than a tenth of its time. Once the next larger one would take less than half of that, it is
// tried; each time that proves wrong, the worker waits twice as long before the next try, so the
// choice does not swing. (What travels while the worker computes takes no time of its own, so how
// long it travels is not known here.) A worker that lies about its time only gets coarser updates.
//
// A codec that leaves something out for later is never used where somebody else may do the unit
// again: what a unit comes to must then follow from the unit alone. Thread-safe.
class CodecBook {
 public:
  struct Choice {
    std::string spec;
    std::unique_ptr<train::Codec> codec;
    double bytes;  // Of an update, for each number.
  };

  // `named`: what the job says, which was checked. `weights`: workers send them whole.
  CodecBook(const std::string& named, bool weights);

  // What the unit is to be sent in. `comparable`: somebody else may do it again.
  const Choice& give(base::LeaseId worker, std::int64_t unit, bool comparable);
  // What it was given; the first choice if that is not known any more. Lives as long as the book.
  [[nodiscard]] const Choice& of(base::LeaseId worker, std::int64_t unit) const;
  // Of its latest unit; empty: it had none.
  [[nodiscard]] std::string_view latest(base::LeaseId worker) const;
  // Where the worker's time went since it was asked before, with a model of so many numbers.
  void measured(base::LeaseId worker, const wire::TimeSpent& spent, std::size_t floats);

 private:
  struct Link {
    std::size_t wanted = 0;                     // Of choices_.
    std::map<std::int64_t, std::size_t> given;  // By unit, the latest few.
    double upload = 0, rest = 0;                // Seconds: for each byte of a number, and else.
    int seen = 0;                               // Units since `wanted` changed.
    int patience = 0;                           // So many before a larger one is tried.
  };
  [[nodiscard]] std::size_t better(const Link& link, std::size_t floats) const;

  std::vector<Choice> choices_;  // From large to small.
  mutable std::mutex mutex_;     // Guards what follows.
  std::map<base::LeaseId, Link> links_;
};

}  // namespace souk::hub
