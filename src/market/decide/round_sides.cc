#include "market/decide/round_sides.h"

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/packages.h"
#include "market/decide/meeting.h"

namespace souk::market {
namespace {

std::vector<Supply> open_supply(const State& s, ClassId c, Time now,
                                std::span<const MachineId> unheard) {
  std::vector<Supply> out;
  const auto& rows = s.index.classes[c.value - 1].supply;
  out.reserve(rows.size());
  for (const auto& row : rows) {
    if (row.free > 0 && is_on_offer(s, row, now, unheard))
      out.push_back({&row, row.offer, row.reserve, row.rank, row.free});
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

// All that the supply has to offer, together: what is in none of it no search would find.
class WholeSupply {
 public:
  WholeSupply(const State& s, const std::vector<Supply>& supply) : s_(s), supply_(supply) {
    for (const auto& ask : supply) {
      const auto& m = s.machines.at(ask.row->machine);
      add(m.spec.packages);
      for (const auto& e : m.spec.environments) add(e.packages);
      regions_.insert(m.spec.region);
      providers_.insert(m.spec.provider);
      lenders_.insert(m.owner);
      best_reliability_ = std::max(best_reliability_, m.reliability_ppm);
      best_rtt_ = std::min(best_rtt_, m.spec.rtt_ms);
      least_reserve_ = std::min(least_reserve_, ask.row->reserve);
    }
  }

  // False: nothing meets these demands. True: perhaps.
  [[nodiscard]] bool may_meet(const Demands& d, Credits limit) const {
    const auto& c = d.constraints;
    const auto has_any = [](const auto& wanted, const auto& there) {
      return wanted.empty() ||
             std::ranges::any_of(wanted, [&](const auto& w) { return there.contains(w); });
    };
    return limit >= least_reserve_ &&
           std::ranges::all_of(c.packages, [&](const auto& p) { return has(p); }) &&
           has_any(c.regions, regions_) && has_any(c.providers_allowed, providers_) &&
           has_any(c.lenders_allowed, lenders_) && c.min_reliability_ppm <= best_reliability_ &&
           (c.max_rtt_ms == 0 || c.max_rtt_ms >= best_rtt_);
  }

  // Looks at every offer, if need be.
  [[nodiscard]] bool meets_some(const Demands& d, Credits limit) const {
    return std::ranges::any_of(supply_, [&](const Supply& ask) {
      return ask.row->reserve <= limit && meets(d, s_.machines.at(ask.row->machine));
    });
  }

 private:
  void add(const std::vector<std::string>& packages) {
    for (const std::string_view p : packages)
      versions_[base::normal_name(base::package_name(p))].insert(base::package_version(p));
  }
  [[nodiscard]] bool has(std::string_view demand) const {
    const auto it = versions_.find(base::normal_name(base::package_name(demand)));
    return it != versions_.end() && std::ranges::any_of(it->second, [&](std::string_view version) {
             return base::version_meets(version, demand);
           });
  }

  const State& s_;
  const std::vector<Supply>& supply_;
  std::map<std::string, std::set<std::string_view>> versions_;  // Of packages.
  std::set<std::string_view> regions_, providers_;
  std::set<AccountId> lenders_;
  std::int32_t best_reliability_ = 0;
  std::int32_t best_rtt_ = std::numeric_limits<std::int32_t>::max();
  Credits least_reserve_{std::numeric_limits<std::int64_t>::max()};
};

Credits highest_limit(const std::vector<Wish>& wishes) {
  return std::ranges::max(wishes, {}, [](const Wish& w) { return w.job->terms.limit; })
      .job->terms.limit;
}

// Groups with demands that may be met, in turns: one of each owner, then another of each, by lot.
// Those of guests come last.
std::vector<Groups::iterator> in_turns(Groups& groups, const WholeSupply& whole,
                                       base::Random& random) {
  std::map<AccountId, std::vector<Groups::iterator>> by_owner;
  for (auto it = groups.begin(); it != groups.end(); ++it) {
    if (it->first.none() || !whole.may_meet(it->first, highest_limit(it->second))) continue;
    std::set<AccountId> owners_of_it;  // Whoever has a turn brings it for all of them.
    for (const auto& wish : it->second) owners_of_it.insert(wish.job->owner);
    for (const auto owner : owners_of_it) by_owner[owner].push_back(it);
  }
  std::vector<std::vector<Groups::iterator>> owners;
  for (auto& [owner, mine] : by_owner) owners.push_back(std::move(mine));
  random.shuffle(owners);
  for (auto& mine : owners) random.shuffle(mine);
  std::vector<Groups::iterator> out, guests;
  std::set<const Demands*> brought;
  for (std::size_t turn = 0; !owners.empty(); ++turn) {
    std::erase_if(owners, [&](const auto& mine) { return mine.size() <= turn; });
    for (const auto& mine : owners)
      if (brought.insert(&mine[turn]->first).second)
        (mine[turn]->first.guest ? guests : out).push_back(mine[turn]);
  }
  out.insert(out.end(), guests.begin(), guests.end());
  return out;
}

void draw_groups(const State& s, RoundSides& sides, base::Random& random) {
  auto& groups = sides.groups;
  const auto demanding =
      std::ranges::count_if(groups, [](const auto& group) { return !group.first.none(); });
  if (std::cmp_less_equal(demanding, kConstraintSets)) return;
  const WholeSupply whole(s, sides.supply);
  Groups drawn;
  std::size_t searched = 0, taken = 0;
  for (const auto it : in_turns(groups, whole, random)) {
    if (taken == kConstraintSets || searched++ == kSetsSearched) break;
    if (!whole.meets_some(it->first, highest_limit(it->second))) continue;
    ++taken;
    drawn.insert(groups.extract(it));
  }
  if (auto plain = groups.extract(Demands{})) drawn.insert(std::move(plain));
  groups = std::move(drawn);
}

// Fills in Supply::meets on the way: each offer is looked at once, for all groups.
std::vector<OrderedGroup> fewest_first(const State& s, const Groups& groups,
                                       std::vector<Supply>& supply) {
  std::vector<OrderedGroup> out;
  Kinds kinds;
  std::vector<Meeting> demanding;
  for (const auto& [demands, wishes] : groups) {
    const bool none = demands.none();
    out.push_back({&wishes, none ? 0 : std::uint64_t{1} << demanding.size(), demands.guest});
    if (!none) demanding.emplace_back(demands, kinds);
  }
  const bool by_kind = std::ranges::any_of(demanding, &Meeting::by_kind);
  std::int64_t all = 0;
  std::vector<std::int64_t> met(demanding.size());
  for (auto& ask : supply) {
    all += ask.free;
    const auto kind = by_kind ? kinds.number(s, *ask.row) : 0;
    for (std::size_t i = 0; i < demanding.size(); ++i) {
      if (!demanding[i](*ask.row, kind)) continue;
      ask.meets |= std::uint64_t{1} << i;
      met[i] += ask.free;
    }
  }
  for (std::size_t i = 0, next = 0; i < out.size(); ++i)
    out[i].slots = out[i].bit == 0 ? all : met[next++];
  std::ranges::sort(out, {}, [](const auto& g) {
    return std::tuple(g.guests, g.slots, g.wishes->front().job->id);
  });
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

bool is_on_offer(const State& s, const SupplyRow& row, Time now,
                 std::span<const MachineId> unheard) {
  if (!row.usable || row.paused_until > now) return false;
  if (std::ranges::binary_search(unheard, row.machine)) return false;
  // The memo answers for most rows without touching the offer itself.
  if (!row.knows(now)) opening_of(row, s.offers.at(row.offer), now);
  return row.open && row.open->contains(now) && row.open->until - now >= s.settings.shortest_term;
}

RoundSides sides_of(const State& s, const SlotClass& slot_class, Time now,
                    std::span<const MachineId> unheard) {
  const auto& index = s.index.classes[slot_class.id.value - 1];
  const auto anchor = anchor_price(s.prices[slot_class.id.value - 1], slot_class.price, now);
  RoundSides out{.supply = open_supply(s, slot_class.id, now, unheard),
                 .groups = {},
                 .pressure = {.leased = index.leased},
                 .cannot_pay = {}};
  Queue queue;
  for (const auto& [priority, id] : index.wanting) {
    const auto& job = s.jobs.at(id);
    if (job.terms.deadline - now < s.settings.shortest_term) continue;
    const auto wish = wish_of(s, job);
    if (wish.units < wish.gang) {
      if (job.held == 0) out.cannot_pay.push_back(id);
      continue;
    }
    out.wanted += wish.units;
    if (job.terms.limit >= anchor) queue.add(job.owner, wish.units);
    out.groups[demands_of(job, now)].push_back(wish);
  }
  for (const auto& ask : out.supply) {
    out.offered += ask.free;
    if (ask.reserve <= anchor) out.pressure.free += ask.free;
  }
  out.pressure.queued = queue.counted(out.pressure.leased + out.pressure.free);
  return out;
}

std::vector<OrderedGroup> ordered_groups(const State& s, RoundSides& sides, base::Random& random) {
  draw_groups(s, sides, random);
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
    out.book.asks.push_back({ask.offer.value, ask.reserve, ask.free,
                             holds_data(c.near, group, ask) ? 0 : ask.rank + 1});
    out.place.push_back(i);
  }
  for (const auto& w : *group.wishes)
    out.book.bids.push_back(
        {w.job->id.value, w.job->terms.limit, w.units, w.gang, w.job->owner.value});
  if (with_rates) fill_measured(c, *group.wishes, supply, out.place, out.book);
  return out;
}

}  // namespace souk::market
