#include "market/decide/program_books.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "market/decide/decider.h"
#include "market/decide/round_sides.h"

namespace souk::market {
namespace {

// Takes `taken` units, by ask id, off the asks of a book. Asks that are used up go, with their
// rates.
void take_off(const std::map<std::uint64_t, std::int32_t>& taken, mechanism::Book& book) {
  if (taken.empty()) return;
  std::vector<std::size_t> left;  // Places of the asks that stay.
  for (std::size_t i = 0; i < book.asks.size(); ++i) {
    auto& ask = book.asks[i];
    if (const auto it = taken.find(ask.id); it != taken.end()) ask.units -= it->second;
    if (ask.units > 0) left.push_back(i);
  }
  const auto columns = book.asks.size();
  if (left.size() == columns) return;
  for (std::size_t i = 0; i < left.size(); ++i) book.asks[i] = book.asks[left[i]];
  book.asks.resize(left.size());
  if (book.rates.empty()) return;
  std::vector<double> rates;
  rates.reserve(book.bids.size() * left.size());
  for (std::size_t bid = 0; bid < book.bids.size(); ++bid)
    for (const auto i : left) rates.push_back(book.rates[bid * columns + i]);
  book.rates = std::move(rates);
}

using Places = std::unordered_map<std::uint64_t, std::uint32_t>;

template <class T>
Places places_of(const std::vector<T>& sides) {
  Places out;
  out.reserve(sides.size());
  for (std::uint32_t i = 0; i < sides.size(); ++i) out.emplace(sides[i].id, i);
  return out;
}

// Rules 1 and 2.
std::vector<mechanism::Trade> cut_down(const ProgramAnswer& answer, const mechanism::Book& book) {
  const auto bids = places_of(book.bids), asks = places_of(book.asks);
  std::vector<std::int32_t> wanted, free;
  for (const auto& bid : book.bids) wanted.push_back(bid.units);
  for (const auto& ask : book.asks) free.push_back(ask.units);
  std::vector<mechanism::Trade> out;
  for (const auto& t : answer.trades) {
    const auto bid = bids.find(t.job.value);
    const auto ask = asks.find(t.offer.value);
    if (bid == bids.end() || ask == asks.end()) continue;
    if (t.pays > book.bids[bid->second].limit || t.gets < book.asks[ask->second].reserve) continue;
    const auto units = std::min({t.units, wanted[bid->second], free[ask->second]});
    if (units <= 0) continue;
    wanted[bid->second] -= units;
    free[ask->second] -= units;
    out.push_back({bid->second, ask->second, units, t.pays, t.gets});
  }
  return out;
}

// Rule 3.
void drop_broken_gangs(const mechanism::Book& book, std::vector<mechanism::Trade>& trades) {
  std::vector<std::int32_t> units(book.bids.size());
  for (const auto& t : trades) units[t.bid] += t.units;
  std::erase_if(trades, [&](const auto& t) { return units[t.bid] < book.bids[t.bid].gang; });
}

}  // namespace

std::vector<ProgramBook> program_books(const State& s, Time now, const Clear& c) {
  std::vector<ProgramBook> out;
  const auto& slot_class = s.slot_class(c.slot_class);
  if (slot_class.mechanism_at(now) != kExternal) return out;
  const auto fallback = rule_of(std::string(kExternal), slot_class.params_at(now));
  auto sides = sides_of(s, slot_class, now, c.unheard);
  if (!fallback || sides.supply.empty() || sides.groups.empty()) return out;
  const auto reference =
      suggested_price(s.prices[c.slot_class.value - 1], slot_class.price, sides.pressure, now, now);
  base::Random random(c.seed);
  for (const auto& group : ordered_groups(s, sides, random)) {
    auto book = book_of(group, sides.supply, c, reference, {}, (*fallback)->wants_rates()).book;
    if (!(*fallback)->accepts(book)) continue;
    out.push_back({std::move(book), random.next() >> 11});
  }
  return out;
}

ProgramAnswer ask_all(std::vector<ProgramBook> books, const AskProgram& ask) {
  ProgramAnswer out;
  std::map<std::uint64_t, std::int32_t> taken;  // Units, by ask id.
  for (auto& [book, seed] : books) {
    take_off(taken, book);
    const auto outcome = ask(book, seed);
    if (!outcome) {
      for (const auto& bid : book.bids) out.unanswered.push_back(JobId(bid.id));
      continue;
    }
    for (const auto& t : outcome->trades) {
      const auto& offer = book.asks[t.ask].id;
      taken[offer] += t.units;
      out.trades.push_back({JobId(book.bids[t.bid].id), OfferId(offer), t.units, t.pays, t.gets});
    }
  }
  std::ranges::sort(out.unanswered);
  return out;
}

std::optional<mechanism::Outcome> fitted(const ProgramAnswer& answer, const mechanism::Book& book) {
  if (std::ranges::any_of(book.bids, [&](const auto& bid) {
        return std::ranges::binary_search(answer.unanswered, JobId(bid.id));
      }))
    return std::nullopt;
  mechanism::Outcome out{.trades = cut_down(answer, book)};
  drop_broken_gangs(book, out.trades);
  std::ranges::sort(out.trades, {}, [](const auto& t) { return std::pair(t.bid, t.ask); });
  if (!mechanism::verify(book, out) || !mechanism::fit_to_settle(out)) return std::nullopt;
  return out;
}

}  // namespace souk::market
