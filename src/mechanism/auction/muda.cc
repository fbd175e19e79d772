#include "mechanism/auction/muda.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

using base::Code;
using base::fail;
using base::Result;

struct Submarket {
  Lots bids, asks;  // Best price first.
};

// One draw per order, whatever its price, so that no price has a say in anybody's half.
std::vector<Half> toss(std::size_t orders, base::Random& random) {
  std::vector<Half> halves(orders);
  for (auto& half : halves) half = random.chance(2) ? Half::left : Half::right;
  return halves;
}

std::array<Submarket, 2> split(const Book& book, base::Random& random) {
  const bool given = !book.bid_halves.empty() || !book.ask_halves.empty();
  const auto bid_halves = given ? book.bid_halves : toss(book.bids.size(), random);
  const auto ask_halves = given ? book.ask_halves : toss(book.asks.size(), random);
  std::array<Submarket, 2> halves;
  for (const auto& bid : bids_by_limit(book))
    halves[bid_halves[bid.index] == Half::right].bids.push_back(bid);
  for (const auto& ask : asks_by_reserve(book))
    halves[ask_halves[ask.index] == Half::right].asks.push_back(ask);
  return halves;
}

std::optional<Credits> price_of(const Book& book, const Submarket& market) {
  const auto bids = without_hopeless(book, market.bids, market.asks);
  if (bids.empty() || market.asks.empty()) return std::nullopt;
  const auto units = common_units(bids, market.asks);
  if (units == 0) return midpoint(bids.front().price, market.asks.front().price);
  const auto marginal = [&](const Lots& lots) {
    auto left = units;
    const auto holds_it = [&](const Lot& lot) { return (left -= lot.units) <= 0; };
    return std::ranges::find_if(lots, holds_it)->price;
  };
  return midpoint(marginal(bids), marginal(market.asks));
}

// What the units displaced by each winner would have gained at `price`.
void charge(Side side, const SplitLots& long_side, Credits price, std::vector<Fee>& fees) {
  if (long_side.before.empty()) return;
  const auto last = long_side.before.back();
  const Displaced losers(long_side.after), others(without(long_side.after, last.index));
  for (const auto& lot : long_side.before) {
    const auto& displaced = lot.index == last.index ? others : losers;
    const auto at_price = static_cast<__int128>(price.micro) * lot.units;
    auto fee = displaced.sum(lot.units, price) - at_price;
    if (side == Side::sellers) fee = -fee;
    fee = std::min<__int128>(fee, std::numeric_limits<std::int64_t>::max());
    if (fee > 0) fees.push_back({side, lot.index, Credits(static_cast<std::int64_t>(fee))});
  }
}

// Trades one half at the other's price, adding to `out` whatever is not a trade.
std::vector<Trade> trade(const Book& book, Submarket market, Credits price, bool vickrey,
                         base::Random& random, Outcome& out) {
  std::erase_if(market.bids, [&](const Lot& bid) { return bid.price < price; });
  std::erase_if(market.asks, [&](const Lot& ask) { return ask.price > price; });
  auto& [bids, asks] = market;
  const auto wanted = total_units(bids), offered = total_units(asks);
  if (wanted == 0 || offered == 0) return {};
  const auto is_gang = [&](const Lot& bid) { return least(book.bids[bid.index]) > 1; };
  if (wanted > offered) {
    if (vickrey && std::ranges::none_of(bids, is_gang)) {
      const auto chosen = cut(bids, offered);
      charge(Side::buyers, chosen, price, out.fees);
      return pair_up(chosen.before, asks, price, price);
    }
    const auto line = bids_in_line(book, bids);
    out.lotteries.push_back(lottery(Side::buyers, line, offered));
    return pair_up(serve(book, drawn(line, random), offered), asks_in_line(book, asks), price,
                   price);
  }
  if (wanted < offered && vickrey) {
    const auto chosen = cut(asks, wanted);
    charge(Side::sellers, chosen, price, out.fees);
    return pair_up(bids, chosen.before, price, price);
  }
  if (wanted < offered) {
    const auto line = asks_in_line(book, asks);
    out.lotteries.push_back(lottery(Side::sellers, line, wanted));
    return pair_up(bids, drawn(line, random), price, price);
  }
  return pair_up(bids, asks, price, price);
}

}  // namespace

Outcome Muda::clear(const Book& book, base::Random& random) const {
  auto [left, right] = split(book, random);
  const auto left_price = price_of(book, left), right_price = price_of(book, right);
  const bool vickrey = long_ == Long::vickrey;
  // Each half has draws of its own: how many the left one takes depends on a price that the right
  // one has a say in.
  base::Random left_draws(random.next()), right_draws(random.next());
  Outcome out;
  std::vector<Trade> on_left, on_right;
  if (right_price) on_left = trade(book, std::move(left), *right_price, vickrey, left_draws, out);
  if (left_price) on_right = trade(book, std::move(right), *left_price, vickrey, right_draws, out);
  out.trades.reserve(on_left.size() + on_right.size());
  std::ranges::merge(on_left, on_right, std::back_inserter(out.trades), {}, &Trade::bid,
                     &Trade::bid);
  std::ranges::sort(out.fees, {}, [](const Fee& fee) { return std::pair(fee.side, fee.index); });
  return out;
}

Result<> Muda::accepts(const Book& book) const {
  SOUK_TRY(Mechanism::accepts({.items = book.items, .bundles = book.bundles}));
  if (book.bid_halves.empty() && book.ask_halves.empty()) return {};
  if (book.bid_halves.size() != book.bids.size() || book.ask_halves.size() != book.asks.size())
    return fail(Code::invalid,
                fmt::format("the book gives halves for {} of {} bids and {} of {} asks",
                            book.bid_halves.size(), book.bids.size(), book.ask_halves.size(),
                            book.asks.size()),
                "give a half for each of them, or for none", "halves");
  return {};
}

Result<> Muda::fit_for_live() const {
  if (long_ == Long::lottery) return {};
  return fail(Code::invalid,
              "muda with long=vickrey charges lump sums, which cannot be "
              "settled with leases",
              "set long=lottery", "long");
}

Result<std::unique_ptr<Mechanism>> make_muda(const base::Arguments& given) {
  return std::make_unique<Muda>(given.text("long") == "vickrey" ? Muda::Long::vickrey
                                                                : Muda::Long::lottery);
}

}  // namespace souk::mechanism
