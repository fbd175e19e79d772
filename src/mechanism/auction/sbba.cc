#include "mechanism/auction/sbba.h"

#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

// The price of an order that does not trade, if the marginal two accept it.
std::optional<Credits> outside_price(const Margin& m, Side first) {
  const auto price = first == Side::buyers ? m.next_ask : m.next_bid;
  if (!m.even || !price) return std::nullopt;
  if (*price < m.asks.back().price || *price > m.bids.back().price) return std::nullopt;
  return price;
}

std::span<const Lot> but_the_last(const Lots& lots) {
  return std::span(lots).first(lots.size() - 1);
}

Outcome draw_sellers(const Book& book, const Margin& m, base::Random& random) {
  const auto buyers = but_the_last(m.bids);
  if (buyers.empty()) return {};
  const auto price = m.bids.back().price;
  const auto sellers = asks_in_line(book, m.asks);
  Outcome out{.price = price};
  out.lotteries.push_back(lottery(Side::sellers, sellers, total_units(buyers)));
  out.trades = pair_up(buyers, drawn(sellers, random), price, price);
  return out;
}

Outcome draw_buyers(const Book& book, const Margin& m, base::Random& random) {
  const auto sellers = asks_in_line(book, but_the_last(m.asks));
  if (sellers.empty()) return {};
  const auto price = m.asks.back().price;
  const auto buyers = bids_in_line(book, m.bids);
  const auto served = serve(book, drawn(buyers, random), total_units(sellers));
  if (served.empty()) return {};
  Outcome out{.price = price};
  out.lotteries.push_back(lottery(Side::buyers, buyers, total_units(sellers)));
  out.trades = pair_up(served, sellers, price, price);
  return out;
}

}  // namespace

Outcome Sbba::clear(const Book& book, base::Random& random) const {
  const auto m = margin(book);
  if (m.bids.empty()) return {};
  if (const auto price = outside_price(m, first_))
    return {pair_up(m.bids, m.asks, *price, *price), price};
  const auto wanted = total_units(m.bids), offered = total_units(m.asks);
  const bool buyer_steps_out = wanted == offered ? first_ == Side::buyers : wanted > offered;
  return buyer_steps_out ? draw_sellers(book, m, random) : draw_buyers(book, m, random);
}

base::Result<std::unique_ptr<Mechanism>> make_sbba(const base::Arguments& given) {
  return std::make_unique<Sbba>(given.text("first") == "buyers" ? Side::buyers : Side::sellers);
}

}  // namespace souk::mechanism
