#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mechanism/mechanism.h"

// What most clearing rules share: a side of the book in trading order, the point where demand and
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
  // Cheapest first; the first `units` units of them trade. Asks above the highest bid are missing.
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

// Hands the units of `asks`, in order, to `bids`, in order, all at the same two prices. The result
// is in order of (bid, ask) as Outcome wants it. Requires total_units(bids) <= total_units(asks).
[[nodiscard]] std::vector<Trade> pair_up(std::span<const Lot> bids, std::span<const Lot> asks,
                                         Credits pays, Credits gets);

}  // namespace souk::mechanism
