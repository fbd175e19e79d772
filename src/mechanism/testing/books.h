#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "mechanism/mechanism.h"

// Small books, readable outcomes and searches for broken promises, for tests of mechanisms.

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

// The only bid of `owner`, which is its id too.
inline Bid wants(std::uint64_t owner, std::int32_t units, std::int32_t gang = 1,
                 Credits limit = whole(9)) {
  return {owner, limit, units, gang, owner};
}

// Whether every bid can have `units` of asks it accepts: by Hall's condition, which for bids that
// accept everything up to their limit needs a look at each limit alone.
inline bool can_be_served(const Book& book, const std::vector<std::int64_t>& units) {
  for (const auto& top : book.bids) {
    std::int64_t need = 0, have = 0;
    for (std::size_t i = 0; i < units.size(); ++i)
      if (book.bids[i].limit <= top.limit) need += units[i];
    for (const auto& ask : book.asks)
      if (ask.reserve <= top.limit) have += ask.units;
    if (need > have) return false;
  }
  return true;
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
  // (side, id) -> units and money: who trades what, without who trades with whom.
  std::map<std::pair<Side, std::uint64_t>, std::pair<std::int64_t, std::int64_t>> by_trader()
      const {
    std::map<std::pair<Side, std::uint64_t>, std::pair<std::int64_t, std::int64_t>> out;
    for (const auto& t : outcome.trades) {
      auto& bid = out[{Side::buyers, book.bids[t.bid].id}];
      auto& ask = out[{Side::sellers, book.asks[t.ask].id}];
      bid.first += t.units, bid.second += t.pays.micro * t.units;
      ask.first += t.units, ask.second += t.gets.micro * t.units;
    }
    return out;
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
  bool measured = false;            // With rates and works.
};

// Rates of a few machine types, now and then of one machine alone, some of them 0; work of which
// some is unknown.
inline void measure(Book& book, base::Random& random) {
  const auto often = [&] { return !random.chance(4); };
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    std::vector<double> types;
    for (int j = 0; j < 4; ++j) types.push_back(random.chance(6) ? 0 : std::exp(4 * random.unit()));
    for (std::size_t a = 0; a < book.asks.size(); ++a)
      book.rates.push_back(types[a % 4] * (often() ? 1 : random.unit()));
    book.works.push_back({.steps = often() ? 1e5 * random.unit() : 0,
                          .done = often() ? 0 : 1e5 * random.unit(),
                          .elapsed_s = often() ? 1e4 * random.unit() : 0,
                          .slo_s = often() ? 0 : 1e4 * random.unit()});
  }
}

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
  if (shape.measured) measure(book, random);
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

// What the one behind the orders `names` gains by an outcome, in micro-credits. Units beyond what
// it truly wants are worth nothing to it, and so are fewer than its gang.
using Names = std::initializer_list<std::size_t>;
inline std::int64_t buyer_gain(const Bid& truth, const Outcome& outcome, Names names) {
  const auto is_own = [&](std::size_t i) { return std::ranges::find(names, i) != names.end(); };
  std::int64_t got = 0, paid = 0;
  for (const auto& t : outcome.trades)
    if (is_own(t.bid)) got += t.units, paid += t.pays.micro * t.units;
  for (const auto& f : outcome.fees)
    if (f.side == Side::buyers && is_own(f.index)) paid += f.amount.micro;
  const auto useful = got < truth.gang ? 0 : std::min<std::int64_t>(got, truth.units);
  return truth.limit.micro * useful - paid;
}
inline std::int64_t seller_gain(const Ask& truth, const Outcome& outcome, Names names) {
  const auto is_own = [&](std::size_t i) { return std::ranges::find(names, i) != names.end(); };
  std::int64_t gain = 0;
  for (const auto& t : outcome.trades)
    if (is_own(t.ask)) gain += (t.gets - truth.reserve).micro * t.units;
  for (const auto& f : outcome.fees)
    if (f.side == Side::sellers && is_own(f.index)) gain -= f.amount.micro;
  return gain;
}

// What must hold for every mechanism of bids and asks: the outcome is legal, repeats with the seed,
// and what traders and platform gain is what the trades are worth, to the micro-credit. Empty if
// all is well, else what is not.
inline std::string fault(const Mechanism& mechanism, const Book& book, std::uint64_t seed) {
  if (const auto accepted = mechanism.accepts(book); !accepted) return accepted.error().message;
  base::Random random(seed), same(seed);
  const auto outcome = mechanism.clear(book, random), again = mechanism.clear(book, same);
  if (const auto legal = verify(book, outcome); !legal) return legal.error().message;
  if (outcome.trades != again.trades || outcome.price != again.price ||
      outcome.fees != again.fees || outcome.lotteries != again.lotteries)
    return "the same seed gave another outcome";
  const auto sums = totals(book, outcome);
  auto gains = sums.platform().micro;
  for (std::size_t i = 0; i < book.bids.size(); ++i)
    gains += buyer_gain(book.bids[i], outcome, {i});
  for (std::size_t i = 0; i < book.asks.size(); ++i)
    gains += seller_gain(book.asks[i], outcome, {i});
  if (gains != sums.gain.micro)
    return fmt::format("{} micro-credits appeared or vanished", gains - sums.gain.micro);
  return {};
}

// The lies to try. Prices are 0, `step`, 2 `step`... up to above `highest_micro`.
struct Lies {
  std::int64_t highest_micro = 20;
  std::int64_t step = 1;
  bool units = false;               // Also to want more or fewer units, or to offer fewer.
  std::int64_t spare_per_unit = 0;  // Gains up to this, for each unit of the liar, are let pass.
};
// Whether anything is claimed about an order.
using Claimed = std::function<bool(const Book&, Side, std::size_t)>;
inline bool everybody(const Book&, Side, std::size_t) { return true; }

// Calls `tell` with every price and number of units that a liar with `units` may name.
template <class Tell>
void each_lie(const Lies& lies, std::int32_t units, std::int32_t most_units, Tell&& tell) {
  const auto first = lies.units ? 0 : units, last = lies.units ? most_units : units;
  for (std::int64_t price = 0; price <= lies.highest_micro + lies.step; price += lies.step)
    for (auto n = first; n <= last; ++n) tell(Credits(price), n);
}

// Searches for one order whose owner would gain by naming another price, with the same draws. Exact
// for small books: it tries every lie. Empty if there is none, else the first in words.
inline std::string profitable_lie(const Mechanism& mechanism, const Book& book, const Lies& lies,
                                  const Claimed& claimed = everybody, std::uint64_t seed = 1) {
  const auto clear_told = [&](const Book& told) {
    base::Random random(seed);
    return mechanism.clear(told, random);
  };
  const auto honest = clear_told(book);
  std::string found;
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    const auto truth = book.bids[i];
    if (!found.empty() || !claimed(book, Side::buyers, i) || truth.gang > truth.units) continue;
    auto told = book;
    const auto enough = buyer_gain(truth, honest, {i}) + lies.spare_per_unit * truth.units;
    each_lie(lies, truth.units, truth.units + 1, [&](Credits price, std::int32_t units) {
      if (!found.empty()) return;
      told.bids[i].limit = price, told.bids[i].units = units;
      if (const auto gain = buyer_gain(truth, clear_told(told), {i}); gain > enough)
        found = fmt::format("bid {} says {} x {} and gains {} rather than {}", i, units,
                            price.micro, gain, enough);
    });
  }
  for (std::size_t i = 0; i < book.asks.size(); ++i) {
    const auto truth = book.asks[i];
    if (!found.empty() || !claimed(book, Side::sellers, i)) continue;
    auto told = book;
    const auto enough = seller_gain(truth, honest, {i}) + lies.spare_per_unit * truth.units;
    each_lie(lies, truth.units, truth.units, [&](Credits price, std::int32_t units) {
      if (!found.empty()) return;
      told.asks[i].reserve = price, told.asks[i].units = units;
      if (const auto gain = seller_gain(truth, clear_told(told), {i}); gain > enough)
        found = fmt::format("ask {} says {} x {} and gains {} rather than {}", i, units,
                            price.micro, gain, enough);
    });
  }
  return found;
}

// Searches for one order whose owner would gain by appearing as two, the second of them last in
// line, at any prices and with any split of its units. Empty if there is none.
inline std::string profitable_names(const Mechanism& mechanism, const Book& book, const Lies& lies,
                                    const Claimed& claimed = everybody, std::uint64_t seed = 1) {
  const auto clear_told = [&](const Book& told) {
    base::Random random(seed);
    return mechanism.clear(told, random);
  };
  const auto honest = clear_told(book);
  const Lies split{lies.highest_micro, lies.step, true};
  std::string found;
  for (std::size_t i = 0; i < book.bids.size(); ++i) {
    const auto truth = book.bids[i];
    if (!found.empty() || !claimed(book, Side::buyers, i) || truth.gang > truth.units) continue;
    auto told = book;
    told.bids.push_back(truth);
    const auto enough = buyer_gain(truth, honest, {i}) + lies.spare_per_unit * truth.units;
    each_lie(split, truth.units, truth.units, [&](Credits one, std::int32_t ones) {
      each_lie(split, truth.units, truth.units, [&](Credits two, std::int32_t twos) {
        if (!found.empty()) return;
        told.bids[i].limit = one, told.bids[i].units = ones;
        told.bids.back().limit = two, told.bids.back().units = twos;
        const auto gain = buyer_gain(truth, clear_told(told), {i, book.bids.size()});
        if (gain > enough)
          found = fmt::format("bid {} as {} x {} and {} x {} gains {} rather than {}", i, ones,
                              one.micro, twos, two.micro, gain, enough);
      });
    });
  }
  for (std::size_t i = 0; i < book.asks.size(); ++i) {
    const auto truth = book.asks[i];
    if (!found.empty() || !claimed(book, Side::sellers, i)) continue;
    auto told = book;
    told.asks.push_back(truth);
    const auto enough = seller_gain(truth, honest, {i}) + lies.spare_per_unit * truth.units;
    each_lie(split, truth.units, truth.units, [&](Credits one, std::int32_t ones) {
      each_lie(split, truth.units, truth.units - ones, [&](Credits two, std::int32_t twos) {
        if (!found.empty()) return;
        told.asks[i].reserve = one, told.asks[i].units = ones;
        told.asks.back().reserve = two, told.asks.back().units = twos;
        const auto gain = seller_gain(truth, clear_told(told), {i, book.asks.size()});
        if (gain > enough)
          found = fmt::format("ask {} as {} x {} and {} x {} gains {} rather than {}", i, ones,
                              one.micro, twos, two.micro, gain, enough);
      });
    });
  }
  return found;
}

// The same orders with all prices different, in the same order, so that there are no ties.
inline Book without_ties(Book book) {
  for (auto& b : book.bids) b.limit = Credits(b.limit.micro * 100 + static_cast<int>(b.id));
  for (auto& a : book.asks) a.reserve = Credits(a.reserve.micro * 100 + static_cast<int>(a.id));
  return book;
}
// All prices times `factor`, the reference included.
inline Book scaled(Book book, std::int64_t factor) {
  for (auto& b : book.bids) b.limit = Credits(b.limit.micro * factor);
  for (auto& a : book.asks) a.reserve = Credits(a.reserve.micro * factor);
  book.reference = Credits(book.reference.micro * factor);
  return book;
}

// The same book in another order, ids kept.
inline Book shuffled(Book book, base::Random& random) {
  random.shuffle(book.bids);
  random.shuffle(book.asks);
  return book;
}

}  // namespace souk::mechanism::testing
