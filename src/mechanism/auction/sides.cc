#include "mechanism/auction/sides.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace souk::mechanism {
namespace {

// What a side is sorted by, by price and then rank. Sorting these touches no book.
struct Key {
  std::uint64_t price = 0;
  std::uint32_t rank = 0;
  std::uint32_t index = 0;
};
using Keys = std::vector<Key>;

constexpr Credits kLowest{std::numeric_limits<std::int64_t>::min()};
constexpr Credits kHighest{std::numeric_limits<std::int64_t>::max()};

// Maps to unsigned so that the order is kept.
constexpr std::uint64_t ascending(Credits c) {
  return static_cast<std::uint64_t>(c.micro) ^ std::uint64_t{1} << 63;
}
constexpr std::uint64_t descending(Credits c) { return ~ascending(c); }

constexpr Key key(std::uint64_t price, std::int32_t rank, std::size_t index) {
  return {price, static_cast<std::uint32_t>(rank) ^ std::uint32_t{1} << 31,
          static_cast<std::uint32_t>(index)};
}

// Stable radix sort by one member, least byte first. Skips the bytes all keys share: the prices of
// one class lie close together, so three or four of eight remain.
template <class Member>
void sort_by(Keys& keys, Keys& spare, Member Key::* member) {
  Member varying = 0;
  for (const auto& k : keys) varying |= k.*member ^ keys.front().*member;
  for (unsigned shift = 0; shift < 8 * sizeof(Member); shift += 8) {
    if ((varying >> shift & 0xff) == 0) continue;
    const auto digit = [&](const Key& k) { return k.*member >> shift & 0xff; };
    std::array<std::uint32_t, 256> place{};
    for (const auto& k : keys) ++place[digit(k)];
    std::exclusive_scan(place.begin(), place.end(), place.begin(), std::uint32_t{0});
    for (const auto& k : keys) spare[place[digit(k)]++] = k;
    keys.swap(spare);
  }
}

// Equal keys stay in order of position.
void sort_by_price(Keys& keys) {
  constexpr std::size_t few = 64;  // For which a radix sort counts more places than keys.
  if (keys.size() <= few) {
    std::ranges::sort(keys, {}, [](const Key& k) { return std::tuple(k.price, k.rank, k.index); });
    return;
  }
  Keys spare(keys.size());
  sort_by(keys, spare, &Key::rank);
  sort_by(keys, spare, &Key::price);
}

bool can_trade(const Bid& bid) { return bid.units > 0 && bid.gang <= bid.units; }

// The first `most` in order, in order, and no others.
void sort_first(Keys& keys, std::uint64_t most) {
  if (most < keys.size() / 2) {
    const auto place = [](const Key& k) { return std::tuple(k.price, k.rank, k.index); };
    const auto end = keys.begin() + static_cast<std::ptrdiff_t>(most);
    std::ranges::nth_element(keys, end, {}, place);
    keys.erase(end, keys.end());
  }
  sort_by_price(keys);
}

constexpr auto kAll = std::numeric_limits<std::uint64_t>::max();

// The asks that accept `price`, sorted by `price_key` of their reserve, then by (rank, position);
// no more than the first `most`.
template <class PriceKey>
Lots sorted_asks(const Book& book, Credits price, PriceKey&& price_key, std::uint64_t most = kAll) {
  CHECK(book.asks.size() <= std::numeric_limits<std::uint32_t>::max());
  Keys keys;
  keys.reserve(book.asks.size());
  for (std::size_t i = 0; i < book.asks.size(); ++i)
    if (const auto& ask = book.asks[i]; ask.units > 0 && ask.reserve <= price)
      keys.push_back(key(price_key(ask.reserve), ask.rank, i));
  sort_first(keys, most);
  Lots lots;
  lots.reserve(keys.size());
  for (const auto& k : keys)
    lots.push_back({book.asks[k.index].reserve, k.index, book.asks[k.index].units});
  return lots;
}

// The lowest reserve above `price`.
std::optional<Credits> cheapest_above(const Book& book, Credits price) {
  std::optional<Credits> cheapest;
  for (const auto& ask : book.asks)
    if (ask.units > 0 && ask.reserve > price && (!cheapest || ask.reserve < *cheapest))
      cheapest = ask.reserve;
  return cheapest;
}

// Fills in s_k and s_{k+1}, given that the first `c.units` units of `c.asks` trade.
void set_ask_margin(Crossing& c, std::optional<Credits> beyond) {
  c.next_ask = beyond;
  auto left = c.units;
  for (const auto& ask : c.asks) {
    if (left > 0) c.last_ask = ask.price;
    if (left < ask.units) {
      c.next_ask = ask.price;
      return;
    }
    left -= ask.units;
  }
}

// How far into each side the common units reach, in orders.
struct Meeting {
  std::size_t bids = 0, asks = 0;
  std::int64_t units = 0;
  bool even = false;
};

Meeting meet(std::span<const Lot> bids, std::span<const Lot> asks) {
  std::size_t b = 0, a = 0;
  std::int32_t bid_used = 0, ask_used = 0;
  std::int64_t units = 0;
  while (b < bids.size() && a < asks.size() && bids[b].price >= asks[a].price) {
    const auto n = std::min(bids[b].units - bid_used, asks[a].units - ask_used);
    units += n;
    bid_used += n;
    ask_used += n;
    if (bid_used == bids[b].units) ++b, bid_used = 0;
    if (ask_used == asks[a].units) ++a, ask_used = 0;
  }
  return {b + (bid_used > 0), a + (ask_used > 0), units,
          units > 0 && bid_used == 0 && ask_used == 0};
}

// The lots by position of their orders, of which the book has `orders`.
Lots by_position(std::span<const Lot> lots, std::size_t orders) {
  Lots dense(orders);
  for (const auto& lot : lots) dense[lot.index] = lot;
  std::erase_if(dense, [](const Lot& lot) { return lot.units == 0; });
  CHECK(dense.size() == lots.size());  // One lot per order.
  return dense;
}

}  // namespace

Lots bids_by_limit(const Book& book) {
  CHECK(book.bids.size() <= std::numeric_limits<std::uint32_t>::max());
  Keys keys;
  keys.reserve(book.bids.size());
  for (std::size_t i = 0; i < book.bids.size(); ++i)
    if (can_trade(book.bids[i])) keys.push_back(key(descending(book.bids[i].limit), 0, i));
  sort_by_price(keys);
  Lots lots;
  lots.reserve(keys.size());
  for (const auto& k : keys)
    lots.push_back({book.bids[k.index].limit, k.index, book.bids[k.index].units});
  return lots;
}

Lots asks_by_reserve(const Book& book) { return sorted_asks(book, kHighest, ascending); }

Lots asks_by_rank(const Book& book, Credits price) {
  return sorted_asks(book, price, [](Credits) { return 0; });
}

std::int64_t total_units(std::span<const Lot> lots) {
  std::int64_t total = 0;
  for (const auto& lot : lots) total += lot.units;
  return total;
}

Credits Crossing::low() const {
  CHECK(units > 0);
  return next_bid ? std::max(last_ask, *next_bid) : last_ask;
}

Credits Crossing::high() const {
  CHECK(units > 0);
  return next_ask ? std::min(last_bid, *next_ask) : last_bid;
}

Crossing cross(const Book& book) {
  Crossing c;
  const auto wanted = bids_by_limit(book);
  const auto best = wanted.empty() ? kLowest : wanted.front().price;
  // Each has a unit at least: what all bids want, and the first that nobody gets, are among these.
  const auto most = static_cast<std::uint64_t>(total_units(wanted)) + 1;
  c.asks = sorted_asks(book, best, ascending, most);

  // As the limit falls, the dearest asks drop out: `supply` units of asks[0, end) accept it.
  auto supply = total_units(c.asks);
  auto end = c.asks.size();
  for (const auto& bid : wanted) {
    while (end > 0 && c.asks[end - 1].price > bid.price) supply -= c.asks[--end].units;
    const auto free = supply - c.units;
    const auto needed = least(book.bids[bid.index]);
    if (free < needed && needed > 1) continue;
    const auto got = std::clamp<std::int64_t>(free, 0, bid.units);
    if (got > 0) {
      c.bids.push_back({bid.price, bid.index, static_cast<std::int32_t>(got)});
      c.units += got;
      c.last_bid = bid.price;
    }
    if (got < bid.units) {
      c.next_bid = bid.price;
      break;
    }
  }
  set_ask_margin(c, cheapest_above(book, best));
  return c;
}

Benchmark benchmark(const Crossing& crossing) {
  Benchmark out;
  if (crossing.units == 0) return out;
  __int128 gain = 0;
  for (const auto& bid : crossing.bids) gain += static_cast<__int128>(bid.price.micro) * bid.units;
  auto left = crossing.units;
  for (const auto& ask : crossing.asks) {
    const auto traded = std::min<std::int64_t>(left, ask.units);
    if (traded == 0) break;
    gain -= static_cast<__int128>(ask.price.micro) * traded;
    left -= traded;
  }
  out.gain = in_all(gain);
  out.equilibrium = midpoint(crossing.low(), crossing.high());
  return out;
}

Margin margin(const Book& book) {
  const auto wanted = bids_by_limit(book);
  if (wanted.empty()) return {.next_ask = cheapest_above(book, kLowest)};
  const auto best = wanted.front().price;
  Margin m{.bids = wanted, .asks = sorted_asks(book, best, ascending)};
  m.bids = without_hopeless(book, std::move(m.bids), m.asks);
  const auto meeting = meet(m.bids, m.asks);
  m.even = meeting.even;
  m.next_ask = meeting.asks < m.asks.size() ? std::optional(m.asks[meeting.asks].price)
                                            : cheapest_above(book, best);
  if (meeting.bids < m.bids.size()) m.next_bid = m.bids[meeting.bids].price;
  // Both lists are in the same order, so the first that is not in both is the best left out.
  const auto left_out = std::ranges::mismatch(wanted, m.bids).in1;
  if (left_out != wanted.end()) m.hopeless = left_out->price;
  m.bids.resize(meeting.bids);
  m.asks.resize(meeting.asks);
  return m;
}

Lots without_hopeless(const Book& book, Lots bids, std::span<const Lot> asks) {
  auto supply = total_units(asks);
  auto end = asks.size();
  std::erase_if(bids, [&](const Lot& bid) {
    while (end > 0 && asks[end - 1].price > bid.price) supply -= asks[--end].units;
    const auto needed = least(book.bids[bid.index]);
    return needed > 1 && supply < needed;
  });
  return bids;
}

std::int64_t common_units(std::span<const Lot> bids, std::span<const Lot> asks) {
  return meet(bids, asks).units;
}

SplitLots cut(std::span<const Lot> lots, std::int64_t units) {
  SplitLots out;
  for (const auto& lot : lots) {
    const auto taken = static_cast<std::int32_t>(std::min<std::int64_t>(lot.units, units));
    units -= taken;
    if (taken > 0) out.before.push_back({lot.price, lot.index, taken});
    if (taken < lot.units) out.after.push_back({lot.price, lot.index, lot.units - taken});
  }
  return out;
}

Lots bids_in_line(const Book& book, std::span<const Lot> bids) {
  return by_position(bids, book.bids.size());
}

Lots asks_in_line(const Book& book, std::span<const Lot> asks) {
  const auto lots = by_position(asks, book.asks.size());
  Keys keys;
  keys.reserve(lots.size());
  for (std::size_t i = 0; i < lots.size(); ++i)
    keys.push_back(key(0, book.asks[lots[i].index].rank, i));
  sort_by_price(keys);
  Lots line;
  line.reserve(lots.size());
  for (const auto& k : keys) line.push_back(lots[k.index]);
  return line;
}

Lots serve(const Book& book, std::span<const Lot> bids, std::int64_t units) {
  Lots served;
  for (const auto& bid : bids) {
    if (units < least(book.bids[bid.index])) continue;
    const auto got = static_cast<std::int32_t>(std::min<std::int64_t>(units, bid.units));
    served.push_back({bid.price, bid.index, got});
    units -= got;
  }
  return served;
}

Lots drawn(Lots lots, base::Random& random) {
  random.shuffle(lots);
  return lots;
}

Lottery lottery(Side side, std::span<const Lot> lots, std::int64_t units) {
  Lottery out{.side = side, .units = units};
  out.from.reserve(lots.size());
  for (const auto& lot : lots) out.from.push_back(lot.index);
  std::ranges::sort(out.from);
  return out;
}

Displaced::Displaced(Lots lots) : lots_(std::move(lots)) {
  units_before_.reserve(lots_.size() + 1);
  sum_before_.reserve(lots_.size() + 1);
  std::int64_t units = 0;
  __int128 sum = 0;
  for (const auto& lot : lots_) {
    units_before_.push_back(units);
    sum_before_.push_back(sum);
    units += lot.units;
    sum += static_cast<__int128>(lot.price.micro) * lot.units;
  }
  units_before_.push_back(units);
  sum_before_.push_back(sum);
}

__int128 Displaced::sum(std::int64_t units, Credits beyond) const {
  // The last lot that begins at or before `units`; past the end, the missing ones.
  const auto at = std::ranges::upper_bound(units_before_, units) - units_before_.begin() - 1;
  const auto i = static_cast<std::size_t>(at);
  const auto price = i < lots_.size() ? lots_[i].price : beyond;
  return sum_before_[i] + static_cast<__int128>(price.micro) * (units - units_before_[i]);
}

Credits average_down(__int128 sum, std::int64_t units) {
  const auto toward_zero = sum / units;
  return Credits(static_cast<std::int64_t>(toward_zero - (sum % units < 0)));
}

Credits average_up(__int128 sum, std::int64_t units) { return -average_down(-sum, units); }

Lots without(std::span<const Lot> lots, std::uint32_t index) {
  Lots rest(lots.begin(), lots.end());
  std::erase_if(rest, [&](const Lot& lot) { return lot.index == index; });
  return rest;
}

std::vector<Trade> pair_up(std::span<const Lot> bids, std::span<const Lot> asks, Credits pays,
                           Credits gets) {
  // Each bid's pieces are cut in one run; the runs are then laid out by position of the bid. Pieces
  // are a quarter of a trade in size, which is what sorting them costs.
  struct Piece {
    std::uint32_t ask;
    std::int32_t units;
  };
  struct Run {
    std::uint32_t bid;
    std::size_t first, end;
  };
  std::vector<Piece> pieces;
  std::vector<Run> runs;
  pieces.reserve(bids.size() + asks.size());
  runs.reserve(bids.size());
  std::size_t at = 0;
  std::int32_t used = 0;  // Units of asks[at] already handed out.
  for (const auto& bid : bids) {
    const auto first = pieces.size();
    for (auto left = bid.units; left > 0;) {
      CHECK(at < asks.size());
      const auto n = std::min(left, asks[at].units - used);
      pieces.push_back({asks[at].index, n});
      left -= n;
      used += n;
      if (used == asks[at].units) {
        ++at;
        used = 0;
      }
    }
    runs.push_back({bid.index, first, pieces.size()});
  }
  std::ranges::sort(runs, {}, &Run::bid);
  std::vector<Trade> trades;
  trades.reserve(pieces.size());
  for (const auto& run : runs) {
    const auto own = std::span(pieces).subspan(run.first, run.end - run.first);
    std::ranges::sort(own, {}, &Piece::ask);
    for (const auto& piece : own) trades.push_back({run.bid, piece.ask, piece.units, pays, gets});
  }
  return trades;
}

std::vector<Trade> pair_up(std::span<const Lot> bids, std::span<const Lot> asks) {
  const auto prices = [](std::span<const Lot> lots) {
    std::vector<Credits> of;
    for (const auto& lot : lots) {
      if (lot.index >= of.size()) of.resize(lot.index + std::size_t{1});
      of[lot.index] = lot.price;
    }
    return of;
  };
  const auto pays = prices(bids), gets = prices(asks);
  auto trades = pair_up(bids, asks, {}, {});
  for (auto& t : trades) t.pays = pays[t.bid], t.gets = gets[t.ask];
  return trades;
}

}  // namespace souk::mechanism
