#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "base/random.h"
#include "market/decide/decider.h"
#include "market/decide/larger_class.h"
#include "market/decide/program_books.h"
#include "market/decide/round_sides.h"
#include "mechanism/auction/sides.h"
#include "mechanism/mechanism.h"

// One clearing of one slot class (round_sides.h says what its mechanism sees).

namespace souk::market {
namespace {

struct Grant {
  const Job* job;
  const SupplyRow* row;
  std::int32_t slots;
  Credits pays, gets;
  std::vector<std::int32_t> parts = {};  // Of a job with work: one for each slot.
};

// A number of slots as an event records it.
std::int32_t counted(std::int64_t slots) {
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(slots, std::numeric_limits<std::int32_t>::max()));
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
  const auto best =
      outcome.benchmark ? *outcome.benchmark : mechanism::benchmark(mechanism::cross(book));
  if (best.equilibrium) round.equilibrium = best.equilibrium;
  *round.gain += sums.gain;
  *round.best += std::max(sums.gain, best.gain);
}

// What one round needs for each of its groups.
struct RoundInMaking {
  const mechanism::Mechanism& built_in;  // Of a class that a program clears: the fallback.
  const Clear& command;
  base::Random random;
  RoundCleared record;
  std::vector<Supply> supply;
  std::vector<Grant> grants;
};

// What a program said of this book, if that is fit to be used; else what the mechanism makes of it.
mechanism::Outcome outcome_of(RoundInMaking& round, const mechanism::Book& book) {
  if (round.record.mechanism == kExternal && round.command.answer)
    if (auto said = fitted(*round.command.answer, book)) return *std::move(said);
  auto out = round.built_in.clear(book, round.random);
  CHECK(mechanism::verify(book, out) && mechanism::fit_to_settle(out));
  return out;
}

// Clears one group's book and takes what it trades from the supply.
void clear_group(const OrderedGroup& group, RoundInMaking& round) {
  const auto& built_in = round.built_in;
  auto& record = round.record;
  mechanism::Standing standing;
  for (const auto& known : record.standing) standing[known.account.value] = known.karma;
  const auto [book, place] = book_of(group, round.supply, round.command, record.reference,
                                     std::move(standing), built_in.wants_rates());
  if (!built_in.accepts(book)) return;  // Nothing that it was made for: nobody trades.
  const auto before = round.grants.size();
  const auto outcome = outcome_of(round, book);
  measure(book, outcome, record);
  if (!outcome.standing.empty()) record.standing.clear();
  for (const auto& [account, karma] : outcome.standing)
    record.standing.push_back({AccountId(account), karma});
  for (const auto& t : outcome.trades) {
    auto& ask = round.supply[place[t.ask]];
    ask.free -= t.units;
    round.grants.push_back({(*group.wishes)[t.bid].job, ask.row, t.units, t.pays, t.gets});
  }
  // Under a mechanism that knows how fast each job is where, machines of one price are not alike.
  if (!built_in.wants_rates())
    bring_near(round.command.near, std::span(round.grants).subspan(before));
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
      if (part.done && !is_gang(job)) taken_.push_back(part.index);
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

// Which part each slot of a job's grants works on. Where results are compared, nobody gets a part
// that it has answered; slots that are left over are not granted.
void give_parts(const State& s, const Job& job, std::span<Grant> grants) {
  OpenParts open(s, job);
  std::vector<std::int32_t> left;  // Open, and lower than what `open` gives next.
  for (auto& g : grants) {
    const auto fits = [&](std::int32_t index) {
      const auto* part = job.part(index);
      return part == nullptr || !part->answered_by(g.row->lender);
    };
    while (std::ssize(g.parts) < g.slots) {
      if (const auto it = std::ranges::find_if(left, fits); it != left.end()) {
        g.parts.push_back(*it);
        left.erase(it);
        continue;
      }
      const auto next = open.next();
      if (next >= job.terms.workers.max) break;
      (fits(next) ? g.parts : left).push_back(next);
    }
    g.slots = static_cast<std::int32_t>(g.parts.size());
  }
}

// By job, then by offer. Grants are large, and most of them in order already: their places are
// sorted.
std::vector<Grant> in_order(std::vector<Grant> grants) {
  struct Place {
    JobId job;
    OfferId offer;
    std::uint32_t at;
    auto operator<=>(const Place&) const = default;
  };
  std::vector<Place> places;
  places.reserve(grants.size());
  for (const auto& g : grants)
    places.push_back({g.job->id, g.row->offer, static_cast<std::uint32_t>(places.size())});
  std::ranges::sort(places);
  std::vector<Grant> out;
  out.reserve(grants.size());
  for (const auto& p : places) out.push_back(std::move(grants[p.at]));
  return out;
}

void emit(const State& s, Time now, RoundCleared round, std::vector<Grant> grants, Events& out) {
  grants = in_order(std::move(grants));
  for (std::size_t begin = 0, end = 0; begin < grants.size(); begin = end) {
    while (end < grants.size() && grants[end].job == grants[begin].job) ++end;
    const std::span mine(grants.begin() + begin, grants.begin() + end);
    if (!mine.front().job->work.empty()) give_parts(s, *mine.front().job, mine);
  }
  std::erase_if(grants, [](const Grant& g) { return g.slots == 0; });
  __int128 paid = 0;
  std::int64_t between_two = 0;  // Trading with oneself makes no price.
  for (const auto& g : grants) {
    round.traded += g.slots;
    if (g.job->owner == g.row->lender) continue;
    between_two += g.slots;
    paid += static_cast<__int128>(g.pays.micro) * g.slots;
  }
  if (between_two > 0) round.price = Credits(static_cast<std::int64_t>(paid / between_two));
  out.reserve(out.size() + grants.size() + 2);  // Events are large: growing would copy them.
  out.push_back(round);
  auto id = s.leases.next().value;
  for (std::size_t begin = 0, end = 0; begin < grants.size(); begin = end) {
    const auto& job = *grants[begin].job;
    while (end < grants.size() && grants[end].job == &job) ++end;
    const std::span mine(grants.begin() + begin, grants.begin() + end);
    const auto budget = budget_end(s, mine, job, now);
    auto epoch = job.epoch;
    for (const auto& g : mine) {
      const auto& row = *g.row;
      const auto until = std::min({now + s.settings.term, row.open->until, job.terms.deadline,
                                   now + row.longest_lease, budget});
      const bool numbered = !job.work.empty();  // Then each part has a lease of its own.
      for (std::int32_t i = 0; i < (numbered ? g.slots : 1); ++i)
        out.emplace_back(std::in_place_type<LeaseGranted>,
                         Lease{.id = LeaseId(id++),
                               .job = job.id,
                               .offer = row.offer,
                               .machine = row.machine,
                               .borrower = job.owner,
                               .lender = row.lender,
                               .slot_class = round.slot_class,
                               .slots = numbered ? 1 : g.slots,
                               .epoch = ++epoch,
                               .term = {g.pays, g.gets, now, until, s.settings.fee_ppm},
                               .granted = now,
                               .part = numbered ? g.parts[static_cast<std::size_t>(i)] : 0});
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

Credits market_ask(const State& s, const SlotClass& slot_class, Time now) {
  const auto rule = rule_of(slot_class.mechanism_at(now), slot_class.params_at(now));
  return rule ? (*rule)->market_ask(s.suggested(slot_class.id, now, now)) : Credits();
}

// Jobs that got nothing may go on in a larger class, or go back.
void Decider::move_waiting(const Clear& c, std::vector<JobId> served) {
  std::ranges::sort(served);
  for (auto& move : class_moves(s, c, now, served))
    out.push_back(JobMoved{move.job, move.to, s.jobs.at(move.job).planned, std::move(move.why)});
}

Result<> Decider::operator()(const Clear& c) {
  SOUK_TRY(need_operator("clear a round"));
  SOUK_TRY(check_measured(c));
  SOUK_ASSIGN(const auto* found, find_class(c.slot_class));
  const auto& slot_class = *found;
  const auto& history = s.prices[c.slot_class.value - 1];
  const auto leased = s.index.classes[c.slot_class.value - 1].leased;
  auto sides = sides_of(s, slot_class, now, c.unheard);
  for (const auto job : sides.cannot_pay) out.push_back(JobPaused{job, std::string(kBudgetUsedUp)});
  RoundCleared record{
      .slot_class = c.slot_class, .mechanism = slot_class.mechanism_at(now), .seed = c.seed};
  record.supply = counted(sides.offered);
  record.demand = counted(sides.wanted);
  record.leased = counted(leased);
  record.reference = suggested_price(history, slot_class.price, sides.pressure, now, now);

  std::vector<Grant> grants;
  auto served = sides.cannot_pay;
  if (!sides.supply.empty() && !sides.groups.empty()) {
    SOUK_ASSIGN(const auto built_in, rule_of(record.mechanism, slot_class.params_at(now)));
    record.standing = s.standings[c.slot_class.value - 1];
    record.gain = record.best = Credits();
    base::Random random(c.seed);
    const auto groups = ordered_groups(s, sides, random);
    RoundInMaking round{*built_in, c, random, std::move(record), std::move(sides.supply), {}};
    for (const auto& group : groups) clear_group(group, round);
    record = std::move(round.record);
    grants = std::move(round.grants);
    if (groups.size() > 1) record.equilibrium.reset();
  }
  for (const auto& grant : grants) served.push_back(grant.job->id);
  constexpr auto sample_every = base::minutes(5);
  const bool something = sides.offered + sides.wanted + leased > 0;
  const bool records = !grants.empty() || (something && now - history.sampled_at() >= sample_every);
  if (records) emit(s, now, std::move(record), std::move(grants), out);
  move_waiting(c, std::move(served));
  if (!records) return {};
  if (!is_system()) audit("clear", slot_class.name, fmt::format("seed {}", c.seed));
  return {};
}

}  // namespace souk::market
