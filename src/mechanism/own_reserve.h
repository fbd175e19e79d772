#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mechanism/mechanism.h"
#include "mechanism/sides.h"

// What rules without prices share. A slot changes hands at its ask's own reserve (zero for
// "market"), and only to a bid whose limit accepts it, so that nobody is worse off; the operator
// gets nothing. Asks serve by (reserve, rank, position).

namespace souk::mechanism {

// Hands the units of `asks`, in order, to `bids`, in order, each at the ask's own reserve. Requires
// that the limits accept them and that there are enough.
[[nodiscard]] std::vector<Trade> pair_up_at_reserve(const Book& book, std::span<const Lot> bids,
                                                    std::span<const Lot> asks);

// Who can be served together. A bid may have the asks up to its limit, so that bids with higher
// limits can give way to those with lower ones: room() counts on that, and trades() gives the
// cheapest slots to the lowest limits, for whom nothing else will do. What is given is never taken
// back, and the order of giving never keeps slots idle that somebody left out could use.
// Keeps a pointer to `book`. give() and room() take time logarithmic in the number of reserves.
class OwnReserve {
 public:
  explicit OwnReserve(const Book& book);

  // How many more units bids[bid] can be given, its own units and gang aside.
  [[nodiscard]] std::int64_t room(std::size_t bid) const;
  // Requires 0 < units <= room(bid), and no more in all than the bid's units.
  void give(std::size_t bid, std::int64_t units);
  [[nodiscard]] std::int64_t given(std::size_t bid) const { return given_[bid]; }
  [[nodiscard]] std::vector<Trade> trades() const;

 private:
  // The sum of some neighbouring reserves' free units, and the least sum of a beginning of them.
  struct Node {
    std::int64_t sum = 0;
    std::int64_t least = 0;
  };
  static Node join(const Node& left, const Node& right);

  const Book* book_;
  Lots bids_, asks_;  // Highest limit first, cheapest first.
  // For each bid, the number of distinct reserves it accepts; 0 for bids that can never trade.
  std::vector<std::uint32_t> accepts_;
  std::vector<std::int64_t> given_;
  // A segment tree over the distinct reserves, cheapest first: offered at exactly this reserve
  // minus given to bids that accept exactly up to it. No beginning may sum to less than zero.
  std::vector<Node> tree_;
  std::size_t leaves_ = 1;
};

}  // namespace souk::mechanism
