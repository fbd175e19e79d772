#include "server/advice/asks.h"

#include <algorithm>
#include <tuple>

#include "base/random.h"
#include "market/decide/decider.h"
#include "market/decide/larger_class.h"
#include "mechanism/mechanism.h"

namespace souk::server {
namespace {

using base::Credits;
using base::Time;
using market::State;

constexpr std::size_t kMostTypes = 64;
constexpr int kMostOthers = 1'000;  // Jobs that wait, of which the first in line count.
constexpr int kMostLookedAt = 64;   // Of them, for whether they could use what is on offer.

// The least limit with which it would have the workers that it needs; nothing if there are too few.
std::optional<Credits> enough_for(const FreeAsks& asks, std::int32_t workers) {
  std::int64_t slots = 0;
  for (const auto& a : asks)
    if ((slots += a.row->free) >= workers) return a.ask;
  return std::nullopt;
}

// A bid for what a job cannot run on takes nothing away.
bool can_use_any(const State& s, const market::Job& job, const FreeAsks& asks, Time now) {
  const auto demands = market::demands_of(job, now);
  return demands.none() || std::ranges::any_of(asks, [&](const FreeAsk& a) {
           return meets(demands, s.machines.at(a.row->machine));
         });
}

}  // namespace

FreeAsks on_offer(const State& s, market::ClassId slot_class, const market::Demands& demands,
                  std::optional<Credits> limit, Time now) {
  const auto at_market = market::market_ask(s, s.slot_class(slot_class), now);
  FreeAsks out;
  for (const auto& row : s.index.classes[slot_class.value - 1].supply) {
    const auto ask = row.reserve == Credits() ? at_market : row.reserve;
    if (!row.usable || row.free <= 0 || row.paused_until > now || (limit && ask > *limit)) continue;
    const auto& open = market::opening_of(row, s.offers.at(row.offer), now);
    if (open && open->contains(now) && meets(demands, s.machines.at(row.machine)))
      out.push_back({&row, ask});
  }
  std::ranges::sort(out, {},
                    [](const FreeAsk& a) { return std::tuple(a.ask, a.row->rank, a.row->offer); });
  if (out.size() > kMostTypes) out.resize(kMostTypes);
  return out;
}

Share share_of(const State& s, market::ClassId slot_class, const FreeAsks& asks,
               const market::JobTerms& terms, base::AccountId owner, Time now, bool alone) {
  const auto& k = s.slot_class(slot_class);
  const auto rule = market::rule_of(k.mechanism_at(now), k.params_at(now));
  if (!rule) return {};
  mechanism::Book book{.reference = s.suggested(slot_class, now, now)};
  int others = 0;
  for (const auto& [priority, id] : s.index.classes[slot_class.value - 1].wanting) {
    if (alone || others++ == kMostOthers) break;
    const auto& job = s.jobs.at(id);
    if (others <= kMostLookedAt && !can_use_any(s, job, asks, now)) continue;
    book.bids.push_back({.limit = job.terms.limit,
                         .units = market::wanted_workers(job),
                         .gang = market::least_workers(job),
                         .owner = job.owner.value});
  }
  book.bids.push_back({.limit = terms.limit,
                       .units = terms.workers.max,
                       .gang = terms.workers.min,
                       .owner = owner.value});
  for (const auto& a : asks)
    book.asks.push_back({.reserve = a.row->reserve, .units = a.row->free, .rank = a.row->rank});
  if (!(*rule)->accepts(book)) return {};
  base::Random random(1);
  Share out;
  __int128 paid = 0;
  for (const auto& t : (*rule)->clear(book, random).trades) {
    if (t.bid + 1 != book.bids.size()) continue;
    out.workers += t.units;
    paid += static_cast<__int128>(t.pays.micro) * t.units;
  }
  if (out.workers > 0) out.pays = Credits(static_cast<std::int64_t>(paid / out.workers));
  return out;
}

std::vector<wire::PlanPrices> prices_now(const State& s, const wire::NewJob& job,
                                         const market::SubmitJob& as, base::AccountId owner,
                                         Time now) {
  const market::Demands demands{.constraints = as.terms.constraints};
  std::vector<market::ClassId> classes{as.slot_class};
  classes.insert(classes.end(), as.also.begin(), as.also.end());
  std::vector<wire::PlanPrices> out;
  for (const auto id : classes) {
    const auto asks = on_offer(s, id, demands, std::nullopt, now);
    auto& row = out.emplace_back(wire::PlanPrices{.class_ = s.slot_class(id).name,
                                                  .suggested = s.suggested(id, now, now),
                                                  .limit = as.terms.limit,
                                                  .limit_given = job.limit.has_value()});
    if (!asks.empty()) row.cheapest = asks.front().ask;
    const auto share = share_of(s, id, asks, as.terms, owner, now);
    row.workers = share.workers;
    if (share.workers > 0) row.pays = share.pays;
    if (const auto enough = enough_for(asks, as.terms.workers.min);
        enough && *enough > as.terms.limit)
      row.enough = enough;
  }
  return out;
}

std::optional<std::string> elsewhere_text(const State& s, const market::SubmitJob& as, Time now) {
  market::Job job;
  job.slot_class = as.slot_class;
  job.terms = as.terms;
  job.least_class = as.least_class;
  auto text = market::larger_text(s, job, now);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace souk::server
