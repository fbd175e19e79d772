#include <fmt/format.h>

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
  if (t.pays < t.gets)
    return broken("trade {}: bid {} pays {} but ask {} gets {}", at, bid.id, to_string(t.pays),
                  ask.id, to_string(t.gets));
  return {};
}

}  // namespace

Result<> verify(const Book& book, const Outcome& outcome) {
  std::vector<std::int64_t> bought(book.bids.size()), sold(book.asks.size());
  const Trade* before = nullptr;
  for (std::size_t i = 0; i < outcome.trades.size(); ++i) {
    const auto& t = outcome.trades[i];
    SOUK_TRY(verify_trade(book, t, i));
    if (before && std::pair(before->bid, before->ask) >= std::pair(t.bid, t.ask))
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
  for (std::size_t i = 0; i < sold.size(); ++i)
    if (sold[i] > book.asks[i].units)
      return broken("ask {} of {} units sells {}", book.asks[i].id, book.asks[i].units, sold[i]);
  return {};
}

}  // namespace souk::mechanism
