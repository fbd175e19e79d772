#pragma once

#include <algorithm>
#include <initializer_list>
#include <map>
#include <ranges>
#include <utility>
#include <vector>

#include "base/random.h"
#include "mechanism/mechanism.h"

// Small books and readable outcomes, for tests of mechanisms.

namespace souk::mechanism::testing {

inline Credits whole(std::int64_t credits) { return Credits(credits * 1'000'000); }

// One bid or ask for one unit at each price; ids are 1, 2, 3...
inline std::vector<Bid> bids(std::initializer_list<Credits> limits) {
  std::vector<Bid> out;
  for (const auto limit : limits) out.push_back({out.size() + 1, limit});
  return out;
}
inline std::vector<Ask> asks(std::initializer_list<Credits> reserves) {
  std::vector<Ask> out;
  for (const auto reserve : reserves) out.push_back({out.size() + 1, reserve});
  return out;
}
// The same with prices in whole credits.
inline std::vector<Bid> bids(std::initializer_list<int> limits) {
  std::vector<Bid> out;
  for (const auto limit : limits) out.push_back({out.size() + 1, whole(limit)});
  return out;
}
inline std::vector<Ask> asks(std::initializer_list<int> reserves) {
  std::vector<Ask> out;
  for (const auto reserve : reserves) out.push_back({out.size() + 1, whole(reserve)});
  return out;
}

// An outcome with what a test asks about it. Money is for one hour of every slot traded.
struct Cleared {
  Book book;
  Outcome outcome;
  Credits buyers_pay;  // Per unit, of the first trade.
  Credits sellers_get;
  Credits platform_surplus;
  Credits gain;  // Limits of the buyers minus reserves of the sellers.

  // Units traded.
  std::int64_t trades() const {
    std::int64_t units = 0;
    for (const auto& t : outcome.trades) units += t.units;
    return units;
  }
  std::int64_t bought(std::size_t bid) const {
    std::int64_t units = 0;
    for (const auto& t : outcome.trades) units += t.bid == bid ? t.units : 0;
    return units;
  }
  std::int64_t sold(std::size_t ask) const {
    std::int64_t units = 0;
    for (const auto& t : outcome.trades) units += t.ask == ask ? t.units : 0;
    return units;
  }
  // (bid id, ask id) -> units: what must not depend on the order of the book.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> by_id() const {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> out;
    for (const auto& t : outcome.trades) out[{book.bids[t.bid].id, book.asks[t.ask].id}] += t.units;
    return out;
  }
};

inline Cleared clear(const Mechanism& mechanism, Book book, std::uint64_t seed = 1) {
  base::Random random(seed);
  Cleared out{.book = std::move(book)};
  out.outcome = mechanism.clear(out.book, random);
  for (const auto& t : out.outcome.trades) {
    out.platform_surplus += Credits((t.pays - t.gets).micro * t.units);
    out.gain +=
        Credits((out.book.bids[t.bid].limit - out.book.asks[t.ask].reserve).micro * t.units);
  }
  if (!out.outcome.trades.empty()) {
    out.buyers_pay = out.outcome.trades.front().pays;
    out.sellers_get = out.outcome.trades.front().gets;
  }
  return out;
}

inline Cleared clear(const Mechanism& mechanism, std::vector<Bid> bids, std::vector<Ask> asks,
                     Credits reference = {}) {
  return clear(mechanism, Book{std::move(bids), std::move(asks), reference});
}

struct Shape {
  std::uint64_t most_bids = 12, most_asks = 12;
  std::int32_t most_units = 5;
  bool gangs = true;
  std::int64_t highest_micro = 20;  // Few prices make many ties.
};

// A book drawn from `random`; ids are position + 1.
inline Book random_book(base::Random& random, const Shape& shape = {}) {
  const auto price = [&] { return Credits(random.between(0, shape.highest_micro)); };
  const auto units = [&](std::int32_t most) {
    return static_cast<std::int32_t>(random.between(1, most));
  };
  Book book{.reference = price()};
  for (auto n = random.below(shape.most_bids + 1); n > 0; --n) {
    Bid bid{book.bids.size() + 1, price(), units(shape.most_units)};
    // Now and then a gang larger than its units, which can never be served.
    if (shape.gangs && random.chance(2)) bid.gang = units(bid.units + (random.chance(8) ? 1 : 0));
    book.bids.push_back(bid);
  }
  for (auto n = random.below(shape.most_asks + 1); n > 0; --n)
    book.asks.push_back({book.asks.size() + 1, price(), units(shape.most_units),
                         static_cast<std::int32_t>(random.between(-2, 2))});
  return book;
}

// The largest gain from trade, by trying every choice of units. At most some ten units a side.
inline Credits brute_force_gain(const Book& book) {
  std::vector<std::int64_t> wanted, offered;
  for (const auto& b : book.bids) wanted.insert(wanted.end(), b.units, b.limit.micro);
  for (const auto& a : book.asks) offered.insert(offered.end(), a.units, a.reserve.micro);
  // The best sum for each number of units, over all subsets of one side.
  const auto best = [](const std::vector<std::int64_t>& values, int sign) {
    std::vector<std::optional<std::int64_t>> of_size(values.size() + 1);
    for (std::uint32_t set = 0; set < 1u << values.size(); ++set) {
      std::int64_t sum = 0;
      std::size_t size = 0;
      for (std::size_t i = 0; i < values.size(); ++i)
        if (set >> i & 1) sum += sign * values[i], ++size;
      if (!of_size[size] || sum > *of_size[size]) of_size[size] = sum;
    }
    return of_size;
  };
  const auto value = best(wanted, 1), cost = best(offered, -1);
  std::int64_t gain = 0;
  for (std::size_t n = 0; n < std::min(value.size(), cost.size()); ++n)
    gain = std::max(gain, *value[n] + *cost[n]);
  return Credits(gain);
}

// The same book in another order, ids kept.
inline Book shuffled(Book book, base::Random& random) {
  random.shuffle(book.bids);
  random.shuffle(book.asks);
  return book;
}

}  // namespace souk::mechanism::testing
