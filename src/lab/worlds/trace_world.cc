#include "lab/worlds/trace_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "base/check.h"
#include "lab/report/statistics.h"
#include "lab/worlds/market_time.h"
#include "market/decide/decide.h"
#include "market/invariants.h"
#include "mechanism/schedule/allocation.h"

namespace souk::lab {
namespace {

using base::AccountId;
using base::Credits;
using base::JobId;
using base::LeaseId;
using base::MachineId;
using market::Actor;
using market::Scope;

constexpr double kLeastShare = 1e-6;  // Smaller ones are the solver's rounding.
constexpr std::int32_t kRoom = 512;   // Machines in one offer.

// A trace's job in the cluster, and the bids it has in the market: one for each type it has used.
struct Live {
  const ClusterJob* job = nullptr;
  AccountId owner;
  double left = 0;
  double alone = 0;         // Seconds that the steps so far would have taken alone.
  std::vector<double> ran;  // Seconds by type, since the last schedule.
  // Seconds by type that schedules before that promised and did not keep.
  std::vector<double> owed;
  std::vector<JobId> bids;       // By type.
  std::vector<std::int32_t> at;  // Workers by type, in this round.
  std::vector<double> shares;    // Of the last schedule; empty: it came later.

  [[nodiscard]] bool placed() const {
    return std::ranges::any_of(at, [](std::int32_t n) { return n > 0; });
  }
};

class ClusterWorld {
 public:
  ClusterWorld(const ClusterStudy& study, const mechanism::ScheduleEntry& policy)
      : s_(study), policy_(policy), m_(study.types.size()), free_(m_), posted_(m_) {}

  Result<ClusterResult> run(const Progress& progress);

 private:
  using Placing = std::vector<std::int32_t>;  // Workers by type.

  // --- The market -------------------------------------------------------------------------------
  Result<> found();
  Result<> add_type(std::size_t type);
  Result<market::Events> do_as(const Actor& actor, market::Command command);
  Result<> post_prices(const std::vector<double>& prices);
  Result<> settle_and_renew();
  Result<> stop(Live& live, std::size_t type);
  Result<> bid(Live& live, std::size_t type, std::int32_t workers);
  Result<> clear(std::size_t type);
  Result<> finish(std::size_t index);
  Result<> verify() const;

  // --- The schedule -----------------------------------------------------------------------------
  Result<> admit();
  Result<> reschedule();
  [[nodiscard]] mechanism::ScheduleInstance instance() const;
  [[nodiscard]] std::vector<Placing> choose();
  void follow_shares(std::vector<Placing>& out);
  void follow_placements(std::vector<Placing>& out) const;
  [[nodiscard]] double urgency(const Live& live, std::size_t type) const;
  Result<> place(const std::vector<Placing>& wanted);
  Result<> work();
  Result<> round();

  // --- The account ------------------------------------------------------------------------------
  [[nodiscard]] double speed(const Live& live) const;
  [[nodiscard]] double speed_alone(const Live& live) const;
  [[nodiscard]] ClusterResult result() const;

  const ClusterStudy& s_;
  const mechanism::ScheduleEntry& policy_;
  const std::size_t m_;
  market::State state_;
  std::vector<market::ClassId> classes_;
  std::vector<std::vector<MachineId>> rooms_;  // By type.
  std::vector<AccountId> lenders_;             // By type.
  std::vector<std::int32_t> free_;             // By type, while placing.
  std::vector<Credits> posted_;
  Credits budget_;  // Of each bid. All of them together may not exceed what can be granted.
  std::vector<double> posted_sum_;
  std::vector<Live> live_;  // In order of arrival.
  std::size_t next_ = 0;    // The next of the study's jobs.
  double now_ = 0, scheduled_at_ = -1e300, work_done_ = 0, work_ = 0;
  bool changed_ = false, at_once_ = false;
  std::vector<double> jct_, rho_, busy_;
  double end_ = 0, paid_ = 0, worst_gap_ = 0, first_objective_ = 0;
  std::int64_t rounds_ = 0, schedules_ = 0, leases_ = 0, events_ = 0;
};

// --- The market ---------------------------------------------------------------------------------

Result<market::Events> ClusterWorld::do_as(const Actor& actor, market::Command command) {
  auto events = market::execute(state_, {time_at(now_), actor, std::move(command)});
  if (!events) return std::unexpected(std::move(events).error());
  events_ += static_cast<std::int64_t>(events->size());
  for (const auto& event : *events)
    if (const auto* settled = std::get_if<market::LeaseSettled>(&event))
      paid_ += in_credits(settled->amount);
  return events;
}

Result<> ClusterWorld::found() {
  for (const auto& event : market::founding_events()) apply(state_, kMarketStart, event);
  auto settings = state_.settings;
  // Leases come up for renewal a round before they end, so that the market's clock need run only
  // once a round.
  settings.drain = s_.round;
  settings.term = s_.round * 10;
  settings.settle_every = std::min(settings.term, base::hours(1));
  settings.silence = base::hours(1);
  settings.retention = base::hours(1);  // What has ended is of no more use here.
  SOUK_TRY(do_as(market::kSystem, market::ChangeSettings{settings}));
  for (std::size_t j = 0; j < m_; ++j) SOUK_TRY(add_type(j));
  budget_ = Credits(base::kMostCredits.micro / static_cast<std::int64_t>(m_ * s_.jobs.size() + 1));
  for (const auto& job : s_.jobs) work_ += job.steps / std::ranges::max(job.rates);
  posted_sum_.assign(m_, 0);
  busy_.assign(m_, 0);
  return {};
}

Result<> ClusterWorld::add_type(std::size_t type) {
  SOUK_TRY(do_as(market::kSystem, market::SetClass{{.name = s_.types[type],
                                                    .memory_mib = 1024,
                                                    .gpus = 1,
                                                    .price = Credits(1'000'000),
                                                    .mechanism = "posted",
                                                    .params = {{"price", "0"}}}}));
  const auto slot_class = state_.find_class(s_.types[type])->id;
  classes_.push_back(slot_class);
  lenders_.push_back(state_.accounts.next());
  SOUK_TRY(
      do_as(market::kSystem, market::CreateAccount{fmt::format("lender-{}", s_.types[type]), "-"}));
  const Actor owner{lenders_[type], Scope::user, {}};
  rooms_.emplace_back();
  for (auto left = s_.machines[type]; left > 0; left -= kRoom) {
    const auto slots = std::min(left, kRoom);
    const auto id = state_.machines.next();
    rooms_.back().push_back(id);
    SOUK_TRY(do_as(owner,
                   market::AddMachine{
                       fmt::format("m{}", id.value),
                       {.cores = slots, .memory_mib = std::int64_t{1024} * slots, .gpus = slots}}));
    SOUK_TRY(do_as(owner,
                   market::PostOffer{
                       id,
                       slot_class,
                       {.slots = slots, .reserve = Credits(), .longest_lease = base::days(3650)}}));
  }
  return {};
}

// What the policy's prices are in credits: on average a machine-hour costs one.
Result<> ClusterWorld::post_prices(const std::vector<double>& prices) {
  double worth = 0, machines = 0;
  for (std::size_t j = 0; j < m_; ++j) {
    worth += prices[j] * s_.machines[j];
    machines += s_.machines[j];
  }
  for (std::size_t j = 0; j < m_; ++j) {
    const Credits price(worth > 0 ? std::llround(prices[j] / worth * machines * 1e6) : 0);
    if (price == posted_[j]) continue;
    posted_[j] = price;
    auto slot_class = state_.slot_class(classes_[j]);
    slot_class.params["price"] = to_string(price);
    SOUK_TRY(do_as(market::kSystem, market::SetClass{std::move(slot_class)}));
  }
  return {};
}

// The agents report, the market's clock runs.
Result<> ClusterWorld::settle_and_renew() {
  for (std::size_t j = 0; j < m_; ++j) {
    for (const auto room : rooms_[j]) {
      market::Heartbeat beat{room, {}};
      for (const auto id : state_.index.leases_of[room.value])
        beat.leases.push_back({id, state_.leases.at(id).epoch});
      if (!beat.leases.empty())
        SOUK_TRY(do_as({lenders_[j], Scope::machine, room}, std::move(beat)));
    }
  }
  while (true) {
    SOUK_ASSIGN(const auto events, do_as(market::kSystem, market::Tick{}));
    if (events.empty()) return {};
  }
}

Result<> ClusterWorld::stop(Live& live, std::size_t type) {
  live.at[type] = 0;
  SOUK_TRY(do_as({live.owner, Scope::user, {}}, market::PauseJob{live.bids[type]}));
  return {};
}

// The first bid of a job on a type is a new job of the market's; later ones are the same, resumed.
Result<> ClusterWorld::bid(Live& live, std::size_t type, std::int32_t workers) {
  const Actor owner{live.owner, Scope::user, {}};
  live.at[type] = workers;
  const auto machines = std::accumulate(s_.machines.begin(), s_.machines.end(), std::int64_t{0});
  market::JobTerms terms{.workers = {workers, workers},
                         .limit = Credits(machines * 1'000'000),  // No price is above.
                         .budget = budget_};
  if (live.bids[type]) {
    if (state_.jobs.at(live.bids[type]).terms.workers != terms.workers)
      SOUK_TRY(do_as(owner, market::ChangeJob{live.bids[type], terms}));
    SOUK_TRY(do_as(owner, market::ResumeJob{live.bids[type]}));
    return {};
  }
  live.bids[type] = state_.jobs.next();
  SOUK_TRY(do_as(market::kSystem, market::GrantCredits{live.owner, budget_, ""}));
  SOUK_TRY(do_as(owner, market::SubmitJob{.name = {},
                                          .kind = "batch",
                                          .slot_class = classes_[type],
                                          .terms = std::move(terms),
                                          .work = {},
                                          .retry = {}}));
  return {};
}

Result<> ClusterWorld::clear(std::size_t type) {
  SOUK_ASSIGN(const auto events, do_as(market::kSystem, market::Clear{classes_[type], 1}));
  for (const auto& event : events) {
    const auto* granted = std::get_if<market::LeaseGranted>(&event);
    if (granted == nullptr) continue;
    ++leases_;
    const auto& l = granted->lease;
    SOUK_TRY(do_as({lenders_[type], Scope::machine, l.machine}, market::StartLease{l.id, l.epoch}));
  }
  return {};
}

// All steps are done: its workers end well, and its other bids are withdrawn.
Result<> ClusterWorld::finish(std::size_t index) {
  auto& live = live_[index];
  for (std::size_t j = 0; j < m_; ++j) {
    if (!live.bids[j]) continue;
    const auto leases = state_.jobs.at(live.bids[j]).leases;
    for (const auto id : leases) {
      const auto& l = state_.leases.at(id);
      SOUK_TRY(do_as({lenders_[j], Scope::machine, l.machine},
                     market::FinishLease{id, l.epoch, market::LeaseOutcome::completed, {}, {}}));
    }
    if (leases.empty())
      SOUK_TRY(do_as({live.owner, Scope::user, {}}, market::CancelJob{live.bids[j], {}}));
  }
  const auto jct = now_ - live.job->arrival;
  jct_.push_back(jct);
  rho_.push_back(jct / live.alone);
  end_ = now_;
  changed_ = true;
  return {};
}

Result<> ClusterWorld::verify() const {
  const auto broken = market::broken_invariants(state_);
  if (broken.empty()) return {};
  return base::fail(base::Code::internal,
                    fmt::format("after {} rounds: {}", rounds_, broken.front()));
}

// --- The schedule -------------------------------------------------------------------------------

Result<> ClusterWorld::admit() {
  for (; next_ < s_.jobs.size() && s_.jobs[next_].arrival <= now_; ++next_) {
    const auto& job = s_.jobs[next_];
    live_.push_back({.job = &job,
                     .owner = state_.accounts.next(),
                     .left = job.steps,
                     .ran = std::vector<double>(m_, 0),
                     .owed = std::vector<double>(m_, 0),
                     .bids = std::vector<JobId>(m_),
                     .at = std::vector<std::int32_t>(m_, 0),
                     .shares = {}});
    SOUK_TRY(do_as(market::kSystem, market::CreateAccount{fmt::format("user{}", next_ + 1), "-"}));
    changed_ = true;
  }
  return {};
}

mechanism::ScheduleInstance ClusterWorld::instance() const {
  mechanism::ScheduleInstance out;
  for (const auto n : s_.machines) out.capacity.push_back(n);
  for (const auto& live : live_) {
    const auto& rates = live.job->rates;
    out.throughputs.insert(out.throughputs.end(), rates.begin(), rates.end());
    out.scale.push_back(live.job->workers);
    out.weights.push_back(live.job->weight);
    out.steps.push_back(live.left);
    out.done.push_back(live.job->steps - live.left);
    out.elapsed.push_back(now_ - live.job->arrival);
    out.isolated.push_back(live.alone);
    const auto at = std::ranges::find_if(live.at, [](std::int32_t n) { return n > 0; });
    out.held.push_back(at == live.at.end() ? -1 : static_cast<int>(at - live.at.begin()));
  }
  return out;
}

Result<> ClusterWorld::reschedule() {
  const bool due = changed_ && now_ - scheduled_at_ >= s_.recompute.seconds();
  if (!due && !policy_.places) return {};
  SOUK_ASSIGN(const auto found, policy_.policy.solve(instance()));
  if (schedules_++ == 0) first_objective_ = found.objective;
  worst_gap_ = std::max(worst_gap_, found.gap());
  at_once_ = found.at_once;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    auto& live = live_[i];
    for (std::size_t j = 0; j < live.shares.size(); ++j)
      live.owed[j] += live.shares[j] * (now_ - scheduled_at_) - live.ran[j];
    const auto row = found.shares.begin() + static_cast<std::ptrdiff_t>(i * m_);
    live.shares.assign(row, row + static_cast<std::ptrdiff_t>(m_));
    live.ran.assign(m_, 0);
  }
  scheduled_at_ = now_;
  changed_ = false;
  return post_prices(found.prices);
}

// The share it should have over the share it had. All begin with half a round, so that who had none
// yet goes before the others, but not before one whose share is far larger.
double ClusterWorld::urgency(const Live& live, std::size_t type) const {
  if (live.shares.empty() || live.shares[type] < kLeastShare) return 0;
  return live.shares[type] / (live.ran[type] / s_.round.seconds() + .5);
}

void ClusterWorld::follow_shares(std::vector<Placing>& out) {
  std::vector<bool> placed(live_.size(), false);
  const auto put = [&](std::size_t i, std::size_t j) {
    out[i][j] = live_[i].job->workers;
    free_[j] -= live_[i].job->workers;
    placed[i] = true;
  };
  std::vector<double> most(live_.size(), 0);
  std::vector<std::tuple<double, double, std::size_t>> line;  // Most urgent, then most owed, first.
  for (std::size_t j = 0; j < m_; ++j) {
    line.clear();
    for (std::size_t i = 0; i < live_.size(); ++i) {
      const auto now = urgency(live_[i], j);
      most[i] = std::max(most[i], now);
      if (!placed[i] && now > 0) line.emplace_back(-now, -live_[i].owed[j], i);
    }
    std::ranges::sort(line);
    for (const auto& [urgent, owed, i] : line) {
      if (free_[j] == 0) break;
      if (live_[i].job->workers <= free_[j]) put(i, j);
    }
  }
  if (std::ranges::all_of(free_, [](std::int32_t n) { return n == 0; })) return;
  line.clear();
  for (std::size_t i = 0; i < live_.size(); ++i)
    if (!placed[i]) line.emplace_back(-most[i], 0, i);
  std::ranges::sort(line);
  for (const auto& [urgent, owed, i] : line) {
    std::optional<std::size_t> best;
    const auto& rates = live_[i].job->rates;
    for (std::size_t j = 0; j < m_; ++j)
      if (live_[i].job->workers <= free_[j] && rates[j] > (best ? rates[*best] : 0)) best = j;
    if (best) put(i, *best);
  }
}

void ClusterWorld::follow_placements(std::vector<Placing>& out) const {
  for (std::size_t i = 0; i < live_.size(); ++i)
    for (std::size_t j = 0; j < m_; ++j)
      out[i][j] =
          static_cast<std::int32_t>(std::lround(live_[i].shares[j] * live_[i].job->workers));
}

std::vector<ClusterWorld::Placing> ClusterWorld::choose() {
  std::vector<Placing> out(live_.size(), Placing(m_, 0));
  free_ = s_.machines;
  if (policy_.places)
    follow_placements(out);
  else
    follow_shares(out);
  return out;
}

// First those that leave, then those that come: the core clears each class once.
Result<> ClusterWorld::place(const std::vector<Placing>& wanted) {
  for (std::size_t i = 0; i < live_.size(); ++i)
    for (std::size_t j = 0; j < m_; ++j)
      if (live_[i].at[j] > 0 && live_[i].at[j] != wanted[i][j]) SOUK_TRY(stop(live_[i], j));
  std::vector<std::pair<std::size_t, std::size_t>> came;
  for (std::size_t j = 0; j < m_; ++j) {
    const auto before = came.size();
    for (std::size_t i = 0; i < live_.size(); ++i) {
      if (wanted[i][j] == 0 || live_[i].at[j] == wanted[i][j]) continue;
      SOUK_TRY(bid(live_[i], j, wanted[i][j]));
      came.emplace_back(i, j);
    }
    if (came.size() > before) SOUK_TRY(clear(j));
  }
  for (const auto& [i, j] : came) {
    const auto& job = state_.jobs.at(live_[i].bids[j]);
    if (job.held != wanted[i][j])
      return base::fail(base::Code::exhausted,
                        fmt::format("job {} got {} of {} machines: {}", to_string(job.id), job.held,
                                    wanted[i][j], job.reason));
  }
  return {};
}

// One round of work. Jobs that end do so in order of time, and leave.
Result<> ClusterWorld::work() {
  const auto length = s_.round.seconds(), begin = now_;
  std::vector<std::pair<double, std::size_t>> ends;
  for (std::size_t i = 0; i < live_.size(); ++i) {
    auto& live = live_[i];
    if (!live.placed()) continue;
    const auto rate = speed(live);
    const auto whole = std::floor(rate * length);
    const auto could = whole >= 1 ? whole : rate * length;
    const bool ended = live.left <= could;
    const auto steps = ended ? live.left : could;
    const auto seconds = ended ? std::min(length, live.left / rate) : length;
    live.left -= steps;
    live.alone += steps / speed_alone(live);
    work_done_ += steps / std::ranges::max(live.job->rates);
    for (std::size_t j = 0; j < m_; ++j) {
      if (live.at[j] == 0) continue;
      live.ran[j] += length;
      busy_[j] += seconds * live.at[j];
    }
    if (ended) ends.emplace_back(begin + seconds, i);
  }
  std::ranges::sort(ends);
  for (const auto& [at, i] : ends) {
    now_ = at;
    SOUK_TRY(finish(i));
  }
  std::erase_if(live_, [](const Live& live) { return live.left <= 0; });
  now_ = begin + length;
  return {};
}

Result<> ClusterWorld::round() {
  SOUK_TRY(admit());
  if (live_.empty()) {
    now_ = s_.jobs[next_].arrival;  // Nobody is here: on to the next.
    SOUK_TRY(admit());
  }
  SOUK_TRY(settle_and_renew());
  SOUK_TRY(reschedule());
  SOUK_TRY(place(choose()));
  ++rounds_;
  for (std::size_t j = 0; j < m_; ++j) posted_sum_[j] += static_cast<double>(posted_[j].micro);
  if (s_.verify_every > 0 && rounds_ % s_.verify_every == 0) SOUK_TRY(verify());
  return work();
}

// --- The account --------------------------------------------------------------------------------

double ClusterWorld::speed(const Live& live) const {
  auto out = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < m_; ++j)
    if (live.at[j] > 0) out = std::min(out, live.job->rates[j]);
  return out;
}

// With an equal part of the cluster, among the jobs that are here.
double ClusterWorld::speed_alone(const Live& live) const {
  double machines = 0, rate = 0;
  for (std::size_t j = 0; j < m_; ++j) {
    machines += s_.machines[j];
    rate += live.job->rates[j] * s_.machines[j];
  }
  const auto mine = machines / (static_cast<double>(live_.size()) * live.job->workers);
  return rate / machines * std::min(1.0, mine);
}

ClusterResult ClusterWorld::result() const {
  ClusterResult out{.policy = std::string(policy_.name),
                    .jobs = static_cast<std::int64_t>(jct_.size()),
                    .makespan = end_,
                    .rounds = rounds_,
                    .schedules = schedules_,
                    .worst_gap = worst_gap_,
                    .first_objective = first_objective_,
                    .leases = leases_,
                    .events = events_};
  auto jct = jct_, rho = rho_;
  std::ranges::sort(jct);
  std::ranges::sort(rho);
  out.jct_mean = mean_of(jct);
  out.jct_p50 = quantile_of(jct, .5);
  out.jct_p95 = quantile_of(jct, .95);
  out.rho_mean = mean_of(rho);
  out.rho_p95 = quantile_of(rho, .95);
  out.rho_worst = rho.back();
  double machines = 0, busy = 0;
  for (std::size_t j = 0; j < m_; ++j) {
    out.utilisation_by_type.push_back(busy_[j] / (s_.machines[j] * end_));
    out.prices.push_back(posted_sum_[j] / 1e6 / static_cast<double>(rounds_));
    machines += s_.machines[j];
    busy += busy_[j];
  }
  out.utilisation = busy / (machines * end_);
  out.paid = paid_;
  return out;
}

Result<ClusterResult> ClusterWorld::run(const Progress& progress) {
  SOUK_TRY(found());
  while (jct_.size() < s_.jobs.size()) {
    SOUK_TRY(round());
    if (progress) progress(work_done_ / work_);
  }
  SOUK_TRY(verify());
  return result();
}

Result<> check_study(const ClusterStudy& s) {
  const auto bad = [](std::string message, std::string hint) {
    return base::fail(base::Code::invalid, std::move(message), std::move(hint));
  };
  if (s.jobs.empty()) return bad("the trace has no jobs", "it needs one at least");
  if (s.types.empty() || s.types.size() != s.machines.size())
    return bad("every type needs a number of machines", "36:36:36 for three types");
  for (const auto n : s.machines)
    if (n < 1 || n > 100'000)
      return bad(fmt::format("{} machines of a type", n), "use 1 to 100000");
  if (s.round < base::minutes(1) || s.round > base::hours(1))
    return bad(fmt::format("a round of {}", to_string(s.round)), "use 1 minute to 1 hour");
  for (const auto& job : s.jobs) {
    bool fits = false;
    for (std::size_t j = 0; j < s.types.size(); ++j)
      fits |= job.rates[j] > 0 && job.workers <= s.machines[j];
    if (!fits)
      return bad(fmt::format("a job wants {} machines of one type", job.workers),
                 "give --cluster as many of a type that it runs on");
  }
  return {};
}

}  // namespace

Result<ClusterResult> run_cluster(const ClusterStudy& study, const mechanism::ScheduleEntry& policy,
                                  const Progress& progress) {
  SOUK_TRY(check_study(study));
  return ClusterWorld(study, policy).run(progress);
}

}  // namespace souk::lab
