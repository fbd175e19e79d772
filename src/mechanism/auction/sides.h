#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mechanism/mechanism.h"

// What most mechanisms share: a side of the book in trading order, the point where demand and
// supply cross, and turning "who gets how much" into trades. All of it is linear in the size of
// the book, and counts units without ever listing them one by one.
//
// Bids and asks without units, and bids whose gang is larger than their units, can never trade;
// they are left out everywhere.

namespace souk::mechanism {

// `units` slots at `price`, of the bid or ask at `index` in the book.
struct Lot {
  Credits price;
  std::uint32_t index = 0;
  std::int32_t units = 0;

  bool operator==(const Lot&) const = default;
};

using Lots = std::vector<Lot>;

// All bids, highest limit first, then by position.
[[nodiscard]] Lots bids_by_limit(const Book& book);
// All asks, lowest reserve first, then by (rank, position).
[[nodiscard]] Lots asks_by_reserve(const Book& book);
// The asks that accept `price`, by (rank, position).
[[nodiscard]] Lots asks_by_rank(const Book& book, Credits price);

// The fewest slots that are of any use to `bid`.
[[nodiscard]] constexpr std::int32_t least(const Bid& bid) { return bid.gang > 1 ? bid.gang : 1; }

[[nodiscard]] std::int64_t total_units(std::span<const Lot> lots);

// Where the sides of a book cross. In the notation of the literature k = `units`, the last unit
// that trades is bought at b_k = `last_bid` and sold at s_k = `last_ask`, and the first that does
// not is wanted at b_{k+1} = `next_bid` and offered at s_{k+1} = `next_ask`.
struct Crossing {
  Lots bids;  // What each winning bid gets, highest limit first.
  // Cheapest first; the first `units` units of them trade. Asks above the highest bid, and those
  // that nobody would come to if all bids were served, are missing.
  Lots asks;
  std::int64_t units = 0;
  Credits last_bid;  // Both meaningless while units == 0.
  Credits last_ask;
  std::optional<Credits> next_bid;
  std::optional<Credits> next_ask;

  // Any uniform price in [low, high] suits everybody. Requires units > 0.
  [[nodiscard]] Credits low() const;
  [[nodiscard]] Credits high() const;
};

// Serves bids from the highest limit down with the cheapest asks left, as long as the ask accepts
// the bid's limit. A bid takes what it can of its units. A gang (gang > 1) that cannot be whole is
// passed over: it wants no single unit, so it never becomes `next_bid`. The first other bid to get
// less than all its units is `next_bid`, and nobody after it can trade. With no gangs the result
// has the largest possible gain from trade.
[[nodiscard]] Crossing cross(const Book& book);

// What trading at the crossing comes to.
[[nodiscard]] Benchmark benchmark(const Crossing& crossing);

// Where demand and supply meet, in whole orders. Rules that owe nobody a reason to lie about a
// price look at this rather than at Crossing, which cuts the marginal orders in two.
//
// A gang that all the asks at or below its own limit could not fill is hopeless: it is left out, so
// that it cannot hold up everybody else. Any other gang counts as if it were divisible.
struct Margin {
  // All orders with a unit among the first k, best price first, with all their units. The last of
  // each are the marginal two. Both are empty, or neither is.
  Lots bids;
  Lots asks;
  bool even = false;  // The marginal two end together: both sides have the same units.
  // The best prices among the orders without such a unit, and the highest limit of a hopeless gang.
  std::optional<Credits> next_bid;
  std::optional<Credits> next_ask;
  std::optional<Credits> hopeless;
};
[[nodiscard]] Margin margin(const Book& book);

// `bids` (highest limit first) without those that are hopeless against `asks` (lowest first).
[[nodiscard]] Lots without_hopeless(const Book& book, Lots bids, std::span<const Lot> asks);

// How many units demand and supply have in common: k. Bids highest first, asks lowest first.
[[nodiscard]] std::int64_t common_units(std::span<const Lot> bids, std::span<const Lot> asks);

// `lots` cut in two after `units` units, or after the last.
struct SplitLots {
  Lots before, after;
};
[[nodiscard]] SplitLots cut(std::span<const Lot> lots, std::int64_t units);

// The same lots in an order that no price has a say in: bids by position, asks by (rank, position).
[[nodiscard]] Lots bids_in_line(const Book& book, std::span<const Lot> bids);
[[nodiscard]] Lots asks_in_line(const Book& book, std::span<const Lot> asks);

// Hands out `units` units to `bids`, in order. Each takes what it can of its units; a gang that
// cannot be whole is passed over.
[[nodiscard]] Lots serve(const Book& book, std::span<const Lot> bids, std::int64_t units);

// Lots in a drawn order, for a lottery. The draws depend on who is in `lots`, not on their prices.
// Requires lots in line.
[[nodiscard]] Lots drawn(Lots lots, base::Random& random);
// What to tell about it. Requires lots in line.
[[nodiscard]] Lottery lottery(Side side, std::span<const Lot> lots, std::int64_t units);

// What a trader's presence costs the others, which is what Clarke and Vickrey make it pay: the
// prices of the units that would take its place, best first.
class Displaced {
 public:
  explicit Displaced(Lots lots);
  // The prices of the first `units` of them in all; those that are missing count as `beyond`.
  [[nodiscard]] __int128 sum(std::int64_t units, Credits beyond) const;

 private:
  Lots lots_;
  std::vector<std::int64_t> units_before_;  // Of each lot.
  std::vector<__int128> sum_before_;
};

// The lots but those of the order at `index`.
[[nodiscard]] Lots without(std::span<const Lot> lots, std::uint32_t index);

// Hands the units of `asks`, in order, to `bids`, in order, all at the same two prices. The result
// is in order of (bid, ask) as Outcome wants it. Requires total_units(bids) <= total_units(asks).
[[nodiscard]] std::vector<Trade> pair_up(std::span<const Lot> bids, std::span<const Lot> asks,
                                         Credits pays, Credits gets);
// The same, but each bid pays and each ask gets the price of its own lot. Requires one lot per
// order.
[[nodiscard]] std::vector<Trade> pair_up(std::span<const Lot> bids, std::span<const Lot> asks);

// `sum` for `units` units as a price per unit, rounded to the micro-credit. Requires units > 0.
[[nodiscard]] Credits average_down(__int128 sum, std::int64_t units);
[[nodiscard]] Credits average_up(__int128 sum, std::int64_t units);

// Halfway, rounded down to the micro-credit.
[[nodiscard]] constexpr Credits midpoint(Credits a, Credits b) {
  return Credits(static_cast<std::int64_t>((static_cast<__int128>(a.micro) + b.micro) >> 1));
}

}  // namespace souk::mechanism
