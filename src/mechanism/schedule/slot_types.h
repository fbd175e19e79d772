#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanism/mechanism.h"

// The asks of a book as machines of a few types, which is how a scheduling policy sees them.

namespace souk::mechanism {

// What one slot of asks[ask] does for bids[bid]; 1 where nothing was measured.
[[nodiscard]] inline double rate_of(const Book& book, std::size_t bid, std::size_t ask) {
  return book.rates.empty() ? 1 : book.rates[bid * book.asks.size() + ask];
}

// The bids that would get at least their gang if nobody else had anything, of the asks that their
// limits accept and that they can run on. In order.
[[nodiscard]] std::vector<std::uint32_t> runnable(const Book& book);

struct SlotTypes {
  static constexpr auto kNone = static_cast<std::uint32_t>(-1);

  std::size_t types = 0;
  std::vector<std::uint32_t> of_ask;  // kNone: nobody may take it.
  std::vector<std::int64_t> units;    // By type.
  std::vector<double> costs;          // By type: the mean of what its slots cost, in micro-credits.
  // Jobs x types: what a slot does, as a part of what the job's fastest does, in (0, 1]. 0: the
  // job's limit accepts none of them, or there are some that it cannot run on.
  std::vector<double> rates;
  std::vector<double> fastest;  // By job: the rate that counts as 1.
  // Some job can run on some slots of a type and not on others.
  bool mixed = false;

  [[nodiscard]] std::span<const double> of_job(std::size_t job) const {
    return std::span(rates).subspan(job * types, types);
  }
};

// Asks on which each of `jobs` (bids, in order) is as fast as on the next are one type, and where
// `by_reserve` only if their reserves are equal too. If that makes more than `most` types, those
// are kept apart that differ most: the type within which some job's rates differ most, slot for
// slot, is cut in two at their mean, again and again. Requires jobs that are runnable() and most >
// 0. Takes time in proportion to jobs times asks with rates, and to the book's size without.
[[nodiscard]] SlotTypes slot_types(const Book& book, std::span<const std::uint32_t> jobs,
                                   bool by_reserve, std::size_t most);

}  // namespace souk::mechanism
