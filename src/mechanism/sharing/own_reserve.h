#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanism/auction/sides.h"
#include "mechanism/mechanism.h"

// What mechanisms without prices share. A slot changes hands at its ask's own reserve (zero for
// "market"), and only to a bid whose limit accepts it, so that nobody is worse off; the operator
// gets nothing. Asks serve by (reserve, rank, position).
//
// Where the mechanism alone decides who gets how much, the cheapest slots go to the lowest limits,
// for which nothing else will do; so bids with higher limits give way to them without having fewer.

namespace souk::mechanism {

// Hands the units of `asks`, in order, to `bids`, in order, each at the ask's own reserve. Requires
// that the limits accept them and that there are enough.
[[nodiscard]] std::vector<Trade> pair_up_at_reserve(const Book& book, std::span<const Lot> bids,
                                                    std::span<const Lot> asks);

// All bids, lowest limit first, then by position.
[[nodiscard]] Lots bids_lowest_first(const Book& book);

// How many slots each bid could have if nobody else had any, its own units and gang aside.
[[nodiscard]] std::vector<std::int64_t> within_limits(const Book& book,
                                                      std::span<const Lot> lowest_first,
                                                      std::span<const Lot> asks);

// Gives each bid up to `wanted` of it of the cheapest slots left, lowest limit first; a gang whole
// or not at all. Requires bids_lowest_first() and asks_by_reserve(). Linear.
[[nodiscard]] Lots serve_lowest_first(const Book& book, std::span<const Lot> lowest_first,
                                      std::span<const Lot> asks,
                                      std::span<const std::int64_t> wanted);

// Gives slots to bids in any order, as long as everybody can be served together. The order never
// keeps slots idle that a bid could use. Keeps a pointer to `book`. A slot costs nearly constant
// time.
class OwnReserve {
 public:
  explicit OwnReserve(const Book& book);

  // Gives bids[bid] as many more slots as there are for it, up to `most`, or none if there are
  // fewer than `least`. Says how many. Requires 0 < least <= most, and no more than its units in
  // all.
  std::int64_t give(std::size_t bid, std::int64_t least, std::int64_t most);
  // How many more slots there are for bids[bid], its own units aside; counts no further than to
  // `enough`.
  [[nodiscard]] std::int64_t room(std::size_t bid, std::int64_t enough);
  [[nodiscard]] std::int64_t given(std::size_t bid) const { return given_[bid]; }
  [[nodiscard]] std::vector<Trade> trades() const;

 private:
  // One of the distinct reserves, cheapest first and counted from one.
  struct Reserve {
    std::int64_t free = 0;    // Slots left at it.
    std::uint32_t below = 0;  // Itself, or, if none are left, a cheaper one to look at next.
  };
  // The dearest with free slots, from this one down; 0 if there is none.
  std::uint32_t dearest(std::uint32_t from);

  const Book* book_;
  Lots bids_, asks_;  // Lowest limit first, cheapest first.
  // For each bid, the dearest reserve it accepts; 0 for bids that can never trade.
  std::vector<std::uint32_t> accepts_;
  std::vector<std::int64_t> given_;
  // Slots are put aside from the dearest that a bid accepts, which leaves the cheap ones to those
  // who accept no others. The first entry stands for none.
  std::vector<Reserve> reserves_;
};

}  // namespace souk::mechanism
