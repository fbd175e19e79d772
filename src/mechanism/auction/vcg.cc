#include "mechanism/auction/vcg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <ranges>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {
namespace {

using base::Code;
using base::fail;
using base::Result;

// Merges what did not trade on one's own side with what traded on the other. Both by price, `less`
// first.
template <class Less>
Displaced displaced(const Lots& left_out, const Lots& traded_worst_first, Less less) {
  Lots both;
  both.reserve(left_out.size() + traded_worst_first.size());
  std::ranges::merge(left_out, traded_worst_first, std::back_inserter(both), less, &Lot::price,
                     &Lot::price);
  return Displaced(std::move(both));
}

// Replaces the price of each lot that trades by what its trader pays or gets on average, and adds
// what the average leaves open to `fees`.
template <class Less>
void charge(Side side, Lots& traders, const Lots& left_out, Lots others, Less less,
            std::vector<Fee>& fees) {
  std::ranges::reverse(others);
  const auto everyone = displaced(left_out, others, less);
  // Only the marginal trader has units on both sides of the cut, and it does not displace itself.
  const auto marginal = traders.back().index;
  const auto marginal_sum =
      displaced(without(left_out, marginal), others, less).sum(traders.back().units, {});
  for (auto& lot : traders) {
    const auto sum = lot.index == marginal ? marginal_sum : everyone.sum(lot.units, {});
    lot.price = side == Side::buyers ? average_down(sum, lot.units) : average_up(sum, lot.units);
    const auto charged = static_cast<__int128>(lot.price.micro) * lot.units;
    const auto open = side == Side::buyers ? sum - charged : charged - sum;
    if (open > 0) fees.push_back({side, lot.index, Credits(static_cast<std::int64_t>(open))});
  }
}

}  // namespace

Outcome Vcg::clear(const Book& book, base::Random&) const {
  const auto bids = bids_by_limit(book), asks = asks_by_reserve(book);
  const auto units = common_units(bids, asks);
  if (units == 0) return {};
  auto [won, lost] = cut(bids, units);
  auto [sold, kept] = cut(asks, units);
  Outcome out;
  const auto limits = won;
  charge(Side::buyers, won, lost, sold, std::ranges::greater(), out.fees);
  charge(Side::sellers, sold, kept, limits, std::ranges::less(), out.fees);
  std::ranges::sort(out.fees, {}, [](const Fee& fee) { return std::pair(fee.side, fee.index); });
  out.trades = pair_up(won, sold);
  return out;
}

Result<> Vcg::accepts(const Book& book) const {
  SOUK_TRY(Mechanism::accepts(book));
  for (const auto& bid : book.bids)
    if (bid.gang > 1)
      return fail(Code::invalid, fmt::format("bid {} is a gang of {}", bid.id, bid.gang),
                  "vcg takes no gangs; posted, k-double, mcafee, huang and muda do");
  return {};
}

Result<> Vcg::fit_for_live() const {
  return fail(Code::invalid,
              "vcg pays sellers more than it takes from buyers, and nobody "
              "covers the difference",
              "mcafee, trade-reduction and huang are incentive compatible "
              "without a deficit",
              "mechanism");
}

}  // namespace souk::mechanism
