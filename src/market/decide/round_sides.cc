#include "market/decide/round_sides.h"

#include <algorithm>
#include <span>

namespace souk::market {
namespace {

std::vector<Supply> open_supply(const State& s, ClassId c, Time now) {
  std::vector<Supply> out;
  const auto& rows = s.index.classes[c.value - 1].supply;
  out.reserve(rows.size());
  for (const auto& row : rows) {
    if (!row.usable || row.free <= 0 || row.paused_until > now) continue;
    // The memo answers for most rows without touching the offer itself.
    if (!row.knows(now)) opening_of(row, s.offers.at(row.offer), now);
    if (row.open && row.open->contains(now) && row.open->until - now >= s.settings.shortest_term)
      out.push_back({&row, row.free});
  }
  return out;
}

// A wish is as large as the job's free budget can pay for the shortest term at its limit price.
Wish wish_of(const State& s, const Job& job) {
  const auto affordable =
      s.free_budget(job).micro / least_budget(job.terms.limit, 1, s.settings).micro;
  const auto units = std::min<std::int64_t>(wanted_workers(job), affordable);
  return {&job, static_cast<std::int32_t>(units), least_workers(job)};
}

void draw_groups(Groups& groups, base::Random& random) {
  std::vector<Groups::iterator> drawn;
  for (auto it = groups.begin(); it != groups.end(); ++it)
    if (!it->first.none()) drawn.push_back(it);
  if (drawn.size() <= kConstraintSets) return;
  random.shuffle(drawn);
  for (auto i = kConstraintSets; i < drawn.size(); ++i) groups.erase(drawn[i]);
}

// Fills in Supply::meets on the way: each machine is looked at once, for all groups.
std::vector<OrderedGroup> fewest_first(const State& s, const Groups& groups,
                                       std::vector<Supply>& supply) {
  std::vector<OrderedGroup> out;
  std::vector<const Demands*> demanding;
  for (const auto& [demands, wishes] : groups) {
    const bool none = demands.none();
    out.push_back({&wishes, none ? 0 : std::uint64_t{1} << demanding.size()});
    if (!none) demanding.push_back(&demands);
  }
  for (auto& ask : supply) {
    for (std::size_t i = 0; i < demanding.size(); ++i)
      if (meets(*demanding[i], s.machines.at(ask.row->machine))) ask.meets |= std::uint64_t{1} << i;
    for (auto& group : out)
      if (group.takes(ask)) group.slots += ask.free;
  }
  std::ranges::sort(out, {},
                    [](const auto& g) { return std::pair(g.slots, g.wishes->front().job->id); });
  return out;
}

// Does the machine hold what somebody in the group needs? Then it goes before equal ones.
bool holds_data(const std::vector<Near>& near, const OrderedGroup& group, const Supply& ask) {
  if (near.empty()) return false;
  return std::ranges::any_of(*group.wishes, [&](const Wish& w) {
    return std::ranges::binary_search(near, Near{w.job->id, ask.row->machine});
  });
}

// A table of rates for more pairs of a bid and an ask would take too much memory: the book then
// goes without, and its slots count as alike.
constexpr std::size_t kMostRates = 4'000'000;

std::span<const Pace> paces_of(const Clear& c, JobId job) {
  return std::ranges::equal_range(c.paces, job, {}, &Pace::job);
}

// What a slot does for the job where nobody has measured it.
double mean_pace(std::span<const Pace> paces) {
  double sum = 0;
  std::size_t able = 0;
  for (const auto& p : paces) {
    sum += p.steps_per_s;
    able += p.steps_per_s > 0;
  }
  return able == 0 ? 1 : sum / static_cast<double>(able);
}

// Fills in Book::rates. `asks` are the machines of the book's asks with their places, in order.
void fill_rates(const Clear& c, std::span<const Wish> wishes,
                std::span<const std::pair<MachineId, std::size_t>> asks, mechanism::Book& book) {
  if (c.paces.empty() || wishes.size() > kMostRates / std::max<std::size_t>(asks.size(), 1)) return;
  book.rates.reserve(wishes.size() * asks.size());
  for (const auto& wish : wishes) {
    const auto paces = paces_of(c, wish.job->id);
    const auto row = book.rates.size();
    book.rates.resize(row + asks.size(), mean_pace(paces));
    for (const auto& pace : paces)
      for (const auto& [machine, at] :
           std::ranges::equal_range(asks, pace.machine, {}, [](const auto& a) { return a.first; }))
        book.rates[row + at] = pace.steps_per_s;
  }
}

// What was measured of the jobs and machines of a book, for a mechanism that wants it.
void fill_measured(const Clear& c, std::span<const Wish> wishes, std::span<const Supply> supply,
                   std::span<const std::uint32_t> place, mechanism::Book& book) {
  std::vector<std::pair<MachineId, std::size_t>> asks;
  asks.reserve(place.size());
  for (std::size_t i = 0; i < place.size(); ++i)
    asks.emplace_back(supply[place[i]].row->machine, i);
  std::ranges::sort(asks);
  fill_rates(c, wishes, asks, book);
  if (c.works.empty()) return;
  for (const auto& wish : wishes) {
    const auto at = std::ranges::lower_bound(c.works, wish.job->id, {}, &JobWork::job);
    const bool known = at != c.works.end() && at->job == wish.job->id;
    book.works.push_back(known ? at->work : mechanism::JobProgress{});
  }
}

}  // namespace

RoundSides sides_of(const State& s, const SlotClass& slot_class, Time now) {
  const auto& index = s.index.classes[slot_class.id.value - 1];
  const auto anchor = anchor_price(s.prices[slot_class.id.value - 1], slot_class.price, now);
  RoundSides out{.supply = open_supply(s, slot_class.id, now),
                 .groups = {},
                 .pressure = {.leased = index.leased},
                 .cannot_pay = {}};
  for (const auto& [priority, id] : index.wanting) {
    const auto& job = s.jobs.at(id);
    if (job.terms.deadline - now < s.settings.shortest_term) continue;
    const auto wish = wish_of(s, job);
    if (wish.units < wish.gang) {
      if (job.held == 0) out.cannot_pay.push_back(id);
      continue;
    }
    out.wanted += wish.units;
    if (job.terms.limit >= anchor) out.pressure.queued += wish.units;
    out.groups[demands_of(job, now)].push_back(wish);
  }
  for (const auto& ask : out.supply) {
    out.offered += ask.free;
    if (ask.row->reserve <= anchor) out.pressure.free += ask.free;
  }
  return out;
}

std::vector<OrderedGroup> ordered_groups(const State& s, RoundSides& sides, base::Random& random) {
  draw_groups(sides.groups, random);
  return fewest_first(s, sides.groups, sides.supply);
}

GroupBook book_of(const OrderedGroup& group, const std::vector<Supply>& supply, const Clear& c,
                  Credits reference, mechanism::Standing standing, bool with_rates) {
  GroupBook out{.book = {.reference = reference, .standing = std::move(standing)}, .place = {}};
  out.book.asks.reserve(supply.size());
  out.place.reserve(supply.size());
  for (std::uint32_t i = 0; i < supply.size(); ++i) {
    const auto& ask = supply[i];
    if (ask.free <= 0 || !group.takes(ask)) continue;
    out.book.asks.push_back({ask.row->offer.value, ask.row->reserve, ask.free,
                             holds_data(c.near, group, ask) ? 0 : ask.row->rank + 1});
    out.place.push_back(i);
  }
  for (const auto& w : *group.wishes)
    out.book.bids.push_back(
        {w.job->id.value, w.job->terms.limit, w.units, w.gang, w.job->owner.value});
  if (with_rates) fill_measured(c, *group.wishes, supply, out.place, out.book);
  return out;
}

}  // namespace souk::market
