#include "mechanism/auction/trade_reduction.h"

namespace souk::mechanism {

Outcome reduce(const Book& book, const Margin& margin) {
  if (margin.bids.size() < 2 || margin.asks.size() < 2) return {};
  const auto pays = margin.bids.back().price, gets = margin.asks.back().price;
  const auto buyers = bids_in_line(book, std::span(margin.bids).first(margin.bids.size() - 1));
  const auto sellers = asks_in_line(book, std::span(margin.asks).first(margin.asks.size() - 1));
  return {pair_up(serve(book, buyers, total_units(sellers)), sellers, pays, gets)};
}

Outcome TradeReduction::clear(const Book& book, base::Random&) const {
  return reduce(book, margin(book));
}

}  // namespace souk::mechanism
