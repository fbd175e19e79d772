#include "mechanism/auction/trade_reduction.h"

#include "mechanism/params.h"

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

base::Result<std::unique_ptr<Mechanism>> make_trade_reduction(const Params& params) {
  SOUK_TRY(only_params("trade-reduction", params, {}));
  return std::make_unique<TradeReduction>();
}

}  // namespace souk::mechanism
