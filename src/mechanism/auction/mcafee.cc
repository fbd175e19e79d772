#include "mechanism/auction/mcafee.h"

#include <algorithm>

#include "mechanism/auction/sides.h"
#include "mechanism/auction/trade_reduction.h"

namespace souk::mechanism {
namespace {

// The price between those who do not trade, if the marginal two accept it.
std::optional<Credits> outside_price(const Margin& m) {
  // Gangs are hopeless or not by the asks of others; a seller must not gain by making them so.
  const auto next_bid = std::max(m.next_bid, m.hopeless);
  if (!m.even || !next_bid || !m.next_ask || *next_bid >= *m.next_ask) return std::nullopt;
  const auto price = midpoint(*next_bid, *m.next_ask);
  if (price < m.asks.back().price || price > m.bids.back().price) return std::nullopt;
  return price;
}

}  // namespace

Outcome McAfee::clear(const Book& book, base::Random&) const {
  const auto m = margin(book);
  const auto price = outside_price(m);
  if (!price) return reduce(book, m);
  return {pair_up(m.bids, m.asks, *price, *price), price};
}

}  // namespace souk::mechanism
