#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <span>

#include "base/random.h"
#include "market/decide/decider.h"
#include "market/eligible.h"
#include "mechanism/auction/sides.h"
#include "mechanism/mechanism.h"

// One clearing of one slot class.
//
// A mechanism knows nothing of packages, regions or lenders: it sees a plain book of bids and asks.
// So bids are grouped by what they demand of a machine, and each group gets a book of its own with
// the asks that meet its demands. The group with the fewest such slots goes first, because it has
// the fewest other chances; what it takes is gone for the next. Jobs without demands, usually all
// of them, are one group, and within a group every property of the mechanism holds.

namespace souk::market {
namespace {

struct Supply {
  const SupplyRow* row;
  std::int32_t free;
  std::uint64_t meets = 0;  // A bit for each group whose demands its machine meets.
};
static_assert(kConstraintSets <= 64);

struct Wish {
  const Job* job;
  std::int32_t units;
  std::int32_t gang;
};

struct Grant {
  const Job* job;
  const SupplyRow* row;
  std::int32_t slots;
  Credits pays, gets;
};

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

using Groups = std::map<Demands, std::vector<Wish>>;

// Only so many distinct demands get a book in one round. Which ones is drawn, so that nobody can
// keep the others out with many demands of their own; jobs without demands always have a book.
void draw_groups(Groups& groups, base::Random& random) {
  std::vector<Groups::iterator> drawn;
  for (auto it = groups.begin(); it != groups.end(); ++it)
    if (!it->first.none()) drawn.push_back(it);
  if (drawn.size() <= kConstraintSets) return;
  random.shuffle(drawn);
  for (auto i = kConstraintSets; i < drawn.size(); ++i) groups.erase(drawn[i]);
}

// A number of slots as an event records it.
std::int32_t counted(std::int64_t slots) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(slots, std::numeric_limits<std::int32_t>::max()));
}

struct OrderedGroup {
  const std::vector<Wish>* wishes;
  std::uint64_t bit;       // Of Supply::meets; 0: it demands nothing.
  std::int64_t slots = 0;  // That meet its demands.

  [[nodiscard]] bool takes(const Supply& ask) const { return bit == 0 || (ask.meets & bit) != 0; }
};

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

// Of the slots that were traded at one price, each job gets those on machines that hold its data,
// as far as others do not mind: whoever trades places pays and gets the same.
void bring_near(const std::vector<Near>& near, std::span<Grant> grants) {
  if (near.empty()) return;
  const auto is_near = [&](const Job* job, const SupplyRow* row) {
    return std::ranges::binary_search(near, Near{job->id, row->machine});
  };
  for (auto& g : grants) {
    if (is_near(g.job, g.row)) continue;
    for (auto& other : grants) {
      const bool same = other.slots == g.slots && other.pays == g.pays && other.gets == g.gets;
      if (!same || other.job == g.job || !is_near(g.job, other.row) ||
          is_near(other.job, other.row))
        continue;
      std::swap(g.row, other.row);
      break;
    }
  }
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

// What was measured of the jobs and machines of a book, for a rule that wants it.
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

// What a machine was measured to do must be a number that can be reckoned with.
Result<> check_measured(const Clear& c) {
  const auto bad = [](double n) { return !std::isfinite(n) || n < 0; };
  for (const auto& p : c.paces)
    if (bad(p.steps_per_s))
      return base::fail(base::Code::invalid,
                        fmt::format("job {} has a pace of {} on machine {}", to_string(p.job),
                                    p.steps_per_s, to_string(p.machine)),
                        "give steps a second, 0 or more", "paces");
  for (const auto& [job, work] : c.works)
    if (bad(work.steps) || bad(work.done) || bad(work.elapsed_s) || bad(work.slo_s))
      return base::fail(
          base::Code::invalid,
          fmt::format("the work of job {} is {} steps, {} done, {} s so far, {} s "
                      "allowed",
                      to_string(job), work.steps, work.done, work.elapsed_s, work.slo_s),
          "give numbers of 0 or more", "works");
  return {};
}

// Larger books are not searched for the best that could have been: it would take as long again.
constexpr std::size_t kMeasured = 10'000;

// Adds what was declared and what came of it to the round's record.
void measure(const mechanism::Book& book, const mechanism::Outcome& outcome, RoundCleared& round) {
  const auto sums = mechanism::totals(book, outcome);
  round.pays += sums.buyers_pay;
  round.gets += sums.sellers_get;
  for (const auto& t : outcome.trades)
    round.limits += Credits(book.bids[t.bid].limit.micro * t.units);
  if (!round.best || book.bids.size() + book.asks.size() > kMeasured) {
    round.gain = round.best = round.equilibrium = std::nullopt;
    return;
  }
  const auto crossing = mechanism::cross(book);
  mechanism::Outcome best{.trades = mechanism::pair_up(crossing.bids, crossing.asks, {}, {})};
  if (crossing.units > 0)
    round.equilibrium = Credits((crossing.low().micro + crossing.high().micro) / 2);
  *round.gain += sums.gain;
  *round.best += std::max(sums.gain, mechanism::totals(book, best).gain);
}

// Clears one group's book and takes what it trades from `supply`.
void clear_group(const OrderedGroup& group, const mechanism::Mechanism& rule, const Clear& command,
                 base::Random& random, RoundCleared& round, std::vector<Supply>& supply,
                 std::vector<Grant>& grants) {
  mechanism::Book book{.reference = round.reference};
  for (const auto& known : round.standing) book.standing[known.account.value] = known.karma;
  std::vector<std::uint32_t> place;  // Of each ask in `supply`.
  book.asks.reserve(supply.size());
  place.reserve(supply.size());
  for (std::uint32_t i = 0; i < supply.size(); ++i) {
    const auto& ask = supply[i];
    if (ask.free <= 0 || !group.takes(ask)) continue;
    book.asks.push_back({ask.row->offer.value, ask.row->reserve, ask.free,
                         holds_data(command.near, group, ask) ? 0 : ask.row->rank + 1});
    place.push_back(i);
  }
  for (const auto& w : *group.wishes)
    book.bids.push_back({w.job->id.value, w.job->terms.limit, w.units, w.gang, w.job->owner.value});
  if (rule.wants_rates()) fill_measured(command, *group.wishes, supply, place, book);
  if (!rule.accepts(book)) return;  // Nothing that it was made for: nobody trades.
  const auto before = grants.size();
  const auto outcome = rule.clear(book, random);
  CHECK(mechanism::verify(book, outcome) && mechanism::fit_to_settle(outcome));
  measure(book, outcome, round);
  if (!outcome.standing.empty()) round.standing.clear();
  for (const auto& [account, karma] : outcome.standing)
    round.standing.push_back({AccountId(account), karma});
  for (const auto& t : outcome.trades) {
    auto& ask = supply[place[t.ask]];
    ask.free -= t.units;
    grants.push_back({(*group.wishes)[t.bid].job, ask.row, t.units, t.pays, t.gets});
  }
  // Under a rule that knows how fast each job is where, machines of one price are not alike.
  if (!rule.wants_rates()) bring_near(command.near, std::span(grants).subspan(before));
}

// A job's leases all end when its budget would, at the highest price among them.
Time budget_end(const State& s, std::span<const Grant> grants, const Job& job, Time now) {
  std::int64_t slots = 0;
  Credits price;
  for (const auto& g : grants) {
    slots += g.slots;
    price = std::max(price, g.pays);
  }
  return now + base::affordable(price, slots, s.free_budget(job));
}

// The parts of a job that nobody works on and that are not done, lowest first.
class OpenParts {
 public:
  OpenParts(const State& s, const Job& job) {
    if (job.work.empty()) return;
    for (const auto id : job.leases) taken_.push_back(s.leases.at(id).part);
    for (const auto& part : job.parts)
      if (part.done) taken_.push_back(part.index);
    std::ranges::sort(taken_);
  }
  std::int32_t next() {
    while (at_ < taken_.size() && taken_[at_] == part_) {
      ++at_;
      ++part_;
    }
    return part_++;
  }

 private:
  std::vector<std::int32_t> taken_;
  std::size_t at_ = 0;
  std::int32_t part_ = 0;
};

void emit(const State& s, Time now, RoundCleared round, std::vector<Grant> grants, Events& out) {
  std::ranges::sort(grants, {}, [](const Grant& g) { return std::pair(g.job->id, g.row->offer); });
  __int128 paid = 0;
  for (const auto& g : grants) {
    round.traded += g.slots;
    paid += static_cast<__int128>(g.pays.micro) * g.slots;
  }
  if (round.traded > 0) round.price = Credits(static_cast<std::int64_t>(paid / round.traded));
  out.reserve(out.size() + grants.size() + 2);  // Events are large: growing would copy them.
  out.push_back(round);
  auto id = s.leases.next().value;
  for (std::size_t begin = 0, end = 0; begin < grants.size(); begin = end) {
    const auto& job = *grants[begin].job;
    while (end < grants.size() && grants[end].job == &job) ++end;
    const std::span mine(grants.begin() + begin, grants.begin() + end);
    const auto budget = budget_end(s, mine, job, now);
    auto epoch = job.epoch;
    OpenParts parts(s, job);
    for (const auto& g : mine) {
      const auto& offer = s.offers.at(g.row->offer);
      const auto until = std::min({now + s.settings.term, g.row->open->until, job.terms.deadline,
                                   now + offer.terms.longest_lease, budget});
      const bool numbered = !job.work.empty();  // Then each part has a lease of its own.
      for (auto left = g.slots; left > 0; left -= numbered ? 1 : left)
        out.push_back(LeaseGranted{{.id = LeaseId(id++),
                                    .job = job.id,
                                    .offer = offer.id,
                                    .machine = offer.machine,
                                    .borrower = job.owner,
                                    .lender = offer.owner,
                                    .slot_class = round.slot_class,
                                    .slots = numbered ? 1 : left,
                                    .epoch = ++epoch,
                                    .term = {g.pays, g.gets, now, until, s.settings.fee_ppm},
                                    .granted = now,
                                    .part = numbered ? parts.next() : 0}});
    }
  }
}

}  // namespace

Result<std::unique_ptr<mechanism::Mechanism>> rule_of(
    const std::string& name, const std::map<std::string, std::string>& params) {
  mechanism::Params given(params.begin(), params.end());
  auto rule = name;
  if (name == kExternal) {
    const auto program = given.extract("program");
    const auto fallback = given.extract("fallback");
    given.erase("timeout_ms");  // For whoever runs it.
    given.erase("start_ms");
    if (!program || program.mapped().empty() || program.mapped().contains('/'))
      return base::fail(base::Code::invalid, "the mechanism 'external' needs a program",
                        "give the parameter program: a file's name in the folder that the server "
                        "was started with (--mechanisms)",
                        "params.program");
    rule = fallback ? fallback.mapped() : "k-double";
  }
  SOUK_ASSIGN(auto made, mechanism::make(rule, given));
  SOUK_TRY(made->fit_for_live());
  return made;
}

Result<> Decider::operator()(const Clear& c) {
  SOUK_TRY(need_operator("clear a round"));
  SOUK_TRY(check_measured(c));
  SOUK_ASSIGN(const auto* found, find_class(c.slot_class));
  const auto& slot_class = *found;
  const auto& index = s.index.classes[c.slot_class.value - 1];
  auto supply = open_supply(s, c.slot_class, now);

  Groups groups;
  const auto& history = s.prices[c.slot_class.value - 1];
  const auto anchor = anchor_price(history, slot_class.price, now);
  Pressure pressure{.leased = index.leased};
  std::int64_t wanted = 0, offered = 0;
  RoundCleared round{
      .slot_class = c.slot_class, .mechanism = slot_class.mechanism_at(now), .seed = c.seed};
  for (const auto& [priority, id] : index.wanting) {
    const auto& job = s.jobs.at(id);
    if (job.terms.deadline - now < s.settings.shortest_term) continue;
    const auto wish = wish_of(s, job);
    if (wish.units < wish.gang) {
      if (job.held == 0) out.push_back(JobPaused{id, std::string(kBudgetUsedUp)});
      continue;
    }
    wanted += wish.units;
    if (job.terms.limit >= anchor) pressure.queued += wish.units;
    groups[demands_of(job, now)].push_back(wish);
  }
  for (const auto& ask : supply) {
    offered += ask.free;
    if (ask.row->reserve <= anchor) pressure.free += ask.free;
  }
  round.supply = counted(offered);
  round.demand = counted(wanted);
  round.leased = counted(index.leased);
  round.reference = suggested_price(history, slot_class.price, pressure, now, now);

  std::vector<Grant> grants;
  if (!supply.empty() && !groups.empty()) {
    SOUK_ASSIGN(const auto built_in, rule_of(round.mechanism, slot_class.params_at(now)));
    const bool runs_program = round.mechanism == kExternal && c.program != nullptr;
    const auto& rule = runs_program ? *c.program : *built_in;
    round.standing = s.standings[c.slot_class.value - 1];
    round.gain = round.best = Credits();
    base::Random random(c.seed);
    draw_groups(groups, random);
    for (const auto& group : fewest_first(s, groups, supply))
      clear_group(group, rule, c, random, round, supply, grants);
    if (groups.size() > 1) round.equilibrium.reset();
  }
  constexpr auto sample_every = base::minutes(5);
  const bool something = offered + wanted + index.leased > 0;
  if (grants.empty() && (!something || now - history.sampled_at() < sample_every)) return {};
  emit(s, now, std::move(round), std::move(grants), out);
  if (!is_system()) audit("clear", slot_class.name, fmt::format("seed {}", c.seed));
  return {};
}

}  // namespace souk::market
