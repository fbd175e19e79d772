#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <tuple>

#include "mechanism/mechanism.h"

namespace souk::mechanism {
namespace {

using base::Code;
using base::fail;
using base::Result;

// An outcome that breaks a rule is a fault of the mechanism, not of any one trader.
template <class... Args>
base::Failure broken(fmt::format_string<Args...> format, Args&&... args) {
  return fail(Code::damaged, fmt::format(format, std::forward<Args>(args)...),
              "the outcome was refused as a whole; this is a bug of the mechanism");
}

Result<> verify_trade(const Book& book, const Trade& t, std::size_t at) {
  if (t.bid >= book.bids.size())
    return broken("trade {} names bid {} of {}", at, t.bid, book.bids.size());
  if (t.ask >= book.asks.size())
    return broken("trade {} names ask {} of {}", at, t.ask, book.asks.size());
  const auto& bid = book.bids[t.bid];
  const auto& ask = book.asks[t.ask];
  if (t.units <= 0) return broken("trade {} is of {} units", at, t.units);
  if (t.pays > bid.limit)
    return broken("trade {}: bid {} pays {} with a limit of {}", at, bid.id, to_string(t.pays),
                  to_string(bid.limit));
  if (t.gets < ask.reserve)
    return broken("trade {}: ask {} gets {} with a reserve of {}", at, ask.id, to_string(t.gets),
                  to_string(ask.reserve));
  return {};
}

// No good goes to two bids, and nobody pays more than the bundle is worth to it.
Result<> verify_awards(const Book& book, const Outcome& outcome) {
  std::vector<bool> sold(book.items.size());
  std::optional<std::uint32_t> before;
  for (const auto& award : outcome.awards) {
    if (award.bid >= book.bids.size() || award.bid >= book.bundles.size())
      return broken("an award names bid {} of {}", award.bid, book.bundles.size());
    if (before && *before >= award.bid)
      return broken("the award to bid {} is out of order or repeated", award.bid);
    before = award.bid;
    const auto& bid = book.bids[award.bid];
    if (award.pays > bid.limit || award.pays < Credits())
      return broken("bid {} pays {} for a bundle with a limit of {}", bid.id, to_string(award.pays),
                    to_string(bid.limit));
    for (const auto item : book.bundles[award.bid]) {
      if (item >= sold.size())
        return broken("the bundle of bid {} names item {} of {}", bid.id, item, sold.size());
      if (sold[item]) return broken("'{}' is sold twice", book.items[item]);
      sold[item] = true;
    }
  }
  return {};
}

// Whoever pays a fee must not be worse off than without the trade.
Result<> verify_fees(const Book& book, const Outcome& outcome) {
  if (outcome.fees.empty()) return {};
  std::vector<__int128> buyers(book.bids.size()), sellers(book.asks.size());  // What they gain.
  for (const auto& t : outcome.trades) {
    buyers[t.bid] += static_cast<__int128>((book.bids[t.bid].limit - t.pays).micro) * t.units;
    sellers[t.ask] += static_cast<__int128>((t.gets - book.asks[t.ask].reserve).micro) * t.units;
  }
  const Fee* before = nullptr;
  for (const auto& fee : outcome.fees) {
    auto& gains = fee.side == Side::buyers ? buyers : sellers;
    const auto* whose = fee.side == Side::buyers ? "bid" : "ask";
    if (fee.index >= gains.size())
      return broken("a fee names {} {} of {}", whose, fee.index, gains.size());
    if (before && std::pair(before->side, before->index) >= std::pair(fee.side, fee.index))
      return broken("the fee of {} {} is out of order or repeated", whose, fee.index);
    before = &fee;
    if (fee.amount < Credits() || fee.amount.micro > gains[fee.index])
      return broken("{} {} pays a fee of {}, more than it gains", whose, fee.index,
                    to_string(fee.amount));
  }
  return {};
}

}  // namespace

Result<> Mechanism::accepts(const Book& book) const {
  if (!book.items.empty() || !book.bundles.empty())
    return fail(Code::invalid, "this mechanism takes no bundles of items",
                "vcg-combinatorial and greedy do");
  if (!book.bid_halves.empty() || !book.ask_halves.empty())
    return fail(Code::invalid, "this mechanism splits no book in halves", "muda does");
  return {};
}

Result<> verify(const Book& book, const Outcome& outcome) {
  std::vector<std::int64_t> bought(book.bids.size()), sold(book.asks.size());
  const Trade* before = nullptr;
  for (std::size_t i = 0; i < outcome.trades.size(); ++i) {
    const auto& t = outcome.trades[i];
    SOUK_TRY(verify_trade(book, t, i));
    // A bid may pay several prices for units of one ask, in trades of their own.
    if (before &&
        std::tuple(before->bid, before->ask, before->pays) >= std::tuple(t.bid, t.ask, t.pays))
      return broken("trade {} (bid {}, ask {}) is out of order or repeated", i, t.bid, t.ask);
    before = &t;
    bought[t.bid] += t.units;
    sold[t.ask] += t.units;
  }
  for (std::size_t i = 0; i < bought.size(); ++i) {
    const auto& bid = book.bids[i];
    if (bought[i] > bid.units)
      return broken("bid {} for {} units gets {}", bid.id, bid.units, bought[i]);
    if (bought[i] > 0 && bought[i] < bid.gang)
      return broken("bid {} gets {} units of a gang of {}", bid.id, bought[i], bid.gang);
  }
  for (const auto& t : outcome.trades)
    if (const auto& ask = book.asks[t.ask]; sold[t.ask] > ask.units)
      return broken("ask {} of {} units sells {}", ask.id, ask.units, sold[t.ask]);
  SOUK_TRY(verify_awards(book, outcome));
  return verify_fees(book, outcome);
}

Result<> fit_to_settle(const Outcome& outcome) {
  for (std::size_t i = 0; i < outcome.trades.size(); ++i) {
    const auto& t = outcome.trades[i];
    if (t.pays < t.gets)
      return broken("trade {}: bid {} pays {} but ask {} gets {}", i, t.bid, to_string(t.pays),
                    t.ask, to_string(t.gets));
  }
  if (!outcome.awards.empty()) return broken("bundles cannot be leased");
  if (!outcome.fees.empty()) return broken("lump sums cannot be settled with leases");
  return {};
}

Credits in_all(__int128 micro) {
  using Range = std::numeric_limits<std::int64_t>;
  return Credits(
      static_cast<std::int64_t>(std::clamp<__int128>(micro, Range::min(), Range::max())));
}

Totals totals(const Book& book, const Outcome& outcome) {
  __int128 pay = 0, get = 0, gain = 0;
  Totals out;
  for (const auto& t : outcome.trades) {
    out.units += t.units;
    pay += static_cast<__int128>(t.pays.micro) * t.units;
    get += static_cast<__int128>(t.gets.micro) * t.units;
    gain +=
        static_cast<__int128>((book.bids[t.bid].limit - book.asks[t.ask].reserve).micro) * t.units;
  }
  for (const auto& award : outcome.awards) {
    ++out.units;
    pay += award.pays.micro;
    gain += book.bids[award.bid].limit.micro;
  }
  for (const auto& fee : outcome.fees)
    (fee.side == Side::buyers ? pay : get) +=
        fee.side == Side::buyers ? fee.amount.micro : -fee.amount.micro;
  out.buyers_pay = in_all(pay);
  out.sellers_get = in_all(get);
  out.gain = in_all(gain);
  return out;
}

}  // namespace souk::mechanism
