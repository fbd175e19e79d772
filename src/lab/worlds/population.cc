#include "lab/worlds/population.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "base/time.h"
#include "lab/worlds/market_time.h"

namespace souk::lab {
namespace {

constexpr std::int64_t kJobsPerUser = 1'000'000;

// The highest factor that demand ever has, for thinning.
double most_demand(const Scenario& s) {
  double out = 1;
  for (const auto& shock : s.shocks) out *= std::max(1.0, shock.demand);
  return out;
}

// Arrivals of one user under shocks to demand: drawn at the highest rate, and kept with the share
// that the rate of their time has of it.
std::vector<double> arrivals_of(const Scenario& s, const Population& p, std::uint64_t index,
                                std::uint64_t seed) {
  const auto horizon = s.horizon.seconds();
  auto random = stream(seed, p.name + "/arrivals", index);
  std::vector<double> out;
  const auto most = most_demand(s);
  const auto keep = [&](double t) {
    // Where the rate is the usual one the draw still moves on, so that other times stay as they
    // are.
    const auto mark = random.unit();
    const auto factor = s.demand_at(t);
    return mark < factor / most;
  };
  switch (p.arrivals.kind) {
    case ArrivalKind::poisson: {
      const auto mean = base::kSecondsPerHour / (p.arrivals.per_hour * most);
      for (double t = 0; static_cast<std::int64_t>(out.size()) < kJobsPerUser;) {
        t += -mean * std::log1p(-random.unit());
        if (t >= horizon) break;
        if (keep(t)) out.push_back(t);
      }
      break;
    }
    case ArrivalKind::every: {
      // Users begin at different times, or all would come at once.
      const auto step = p.arrivals.every / most;
      for (double t = random.unit() * p.arrivals.every; t < horizon; t += step)
        if (keep(t)) out.push_back(t);
      break;
    }
    case ArrivalKind::once:
      out.push_back(0);
      break;
    case ArrivalKind::at:
      for (const auto t : p.arrivals.at)
        if (t < horizon) out.push_back(t);
      break;
    case ArrivalKind::trace:
      break;
  }
  return out;
}

double drawn_by_one(const Scenario& s, const Arrivals& arrivals) {
  const auto horizon = s.horizon.seconds();
  switch (arrivals.kind) {
    case ArrivalKind::poisson:
      return arrivals.per_hour * horizon / base::kSecondsPerHour * most_demand(s);
    case ArrivalKind::every:
      return horizon / arrivals.every * most_demand(s) + 1;
    case ArrivalKind::at:
      return static_cast<double>(arrivals.at.size());
    case ArrivalKind::once:
      return 1;
    case ArrivalKind::trace:
      break;
  }
  return 0;
}

// Of what churn draws: none is below a second, and none is shared.
double mean_time(Distribution law) {
  law.common.reset();
  return std::max(1.0, law.mean());
}

std::int32_t whole(double units) {
  return static_cast<std::int32_t>(std::clamp(std::round(units), 1.0, 10'000.0));
}

class Drawing {
 public:
  Drawing(const Scenario& s, const Traces& traces, std::uint64_t seed)
      : s_(s), traces_(traces), seed_(seed), horizon_(s.horizon.seconds()) {}

  Draws run() {
    for (const auto& p : s_.lenders)
      for (std::int32_t i = 0; i < p.count; ++i) machine(p, static_cast<std::uint64_t>(i));
    for (const auto& p : s_.borrowers) {
      const auto first = out_.users.size();
      for (std::int32_t i = 0; i < p.count; ++i) user(p, static_cast<std::uint64_t>(i));
      if (p.trace) from_trace(p, first);
    }
    std::ranges::sort(out_.jobs, {}, [](const JobDraw& j) {
      return std::tuple(j.arrival, j.user, j.run_time, j.value);
    });
    for (const auto& job : out_.jobs) {
      auto& who = out_.users[job.user];
      who.mean_run_time += job.run_time;
      ++who.jobs;
    }
    for (auto& who : out_.users)
      if (who.jobs > 0) who.mean_run_time /= static_cast<double>(who.jobs);
    return std::move(out_);
  }

 private:
  [[nodiscard]] double value_of(const Population& p, base::Random& random, std::uint64_t index,
                                double at) const {
    const auto hour = static_cast<std::uint64_t>(at / base::kSecondsPerHour);
    return std::max(0.0, p.prices.draw(random, index) + p.prices.shared(seed_, p.name, hour));
  }

  void user(const Population& p, std::uint64_t index) {
    const auto me = static_cast<std::uint32_t>(out_.users.size());
    out_.users.push_back({&p, index});
    std::uint64_t n = 0;
    for (const auto t : arrivals_of(s_, p, index, seed_)) {
      auto random = stream(seed_, p.name + "/job", index, n++);
      JobDraw job{.user = me, .arrival = t};
      job.value = value_of(p, random, index + n - 1, t);
      job.workers = whole(p.units.draw(random, index + n - 1));
      job.run_time = std::max(1.0, p.run_time.draw(random, index + n - 1));
      out_.jobs.push_back(job);
    }
  }

  void from_trace(const Population& p, std::size_t first) {
    const auto found = traces_.find(p.name);
    if (found == traces_.end()) return;
    std::uint64_t n = 0;
    for (const auto& t : found->second) {
      if (t.arrival >= horizon_) break;
      const auto index = n++ % static_cast<std::uint64_t>(p.count);
      auto random = stream(seed_, p.name + "/job", index, n);
      JobDraw job{.user = static_cast<std::uint32_t>(first + index),
                  .arrival = t.arrival,
                  .workers = t.workers,
                  .run_time = std::max(1.0, t.run_time)};
      job.value = value_of(p, random, index, t.arrival);
      // A trace is as it was; a shock repeats or leaves out some of it.
      const auto factor = s_.demand_at(t.arrival);
      const auto sure = std::floor(factor);
      const auto times = sure + (random.unit() < factor - sure ? 1 : 0);
      for (double i = 0; i < times; ++i) out_.jobs.push_back(job);
    }
  }

  void machine(const Population& p, std::uint64_t index) {
    auto random = stream(seed_, p.name, index);
    MachineDraw m{.population = &p, .index = index};
    m.cost = value_of(p, random, index, 0);
    m.slots = whole(p.units.draw(random, index));
    const auto mark = random.unit(), doom = random.unit();
    double dead = kForever;
    for (const auto& shock : s_.shocks)
      if (shock.dies == p.name) dead = std::min(dead, shock.at);
    for (const auto& fault : s_.faults)
      if ((fault.lenders.empty() || fault.lenders == p.name) && doom < fault.share)
        dead = std::min(dead, fault.at);
    std::vector<Away> away;
    if (p.churn) churn(*p.churn, index, p, away);
    for (const auto& shock : s_.shocks)
      if (shock.supply < 1 && mark >= shock.supply)
        away.push_back({shock.at, shock.at + shock.length, true});
    if (dead < kForever) away.push_back({dead, kForever, false});
    m.away = merged(std::move(away));
    out_.machines.push_back(std::move(m));
  }

  void churn(const Churn& c, std::uint64_t index, const Population& p, std::vector<Away>& away) {
    auto random = stream(seed_, p.name + "/churn", index);
    std::uint64_t n = index;
    for (double t = 0;; ++n) {
      t += std::max(1.0, c.up.draw(random, n));
      if (t >= horizon_) return;
      const auto back = t + std::max(1.0, c.down.draw(random, n));
      away.push_back({t, back, c.notice});
      t = back;
    }
  }

  static std::vector<Away> merged(std::vector<Away> away) {
    std::ranges::sort(away, {}, &Away::from);
    std::vector<Away> out;
    for (const auto& a : away) {
      if (!out.empty() && a.from <= out.back().until)
        out.back().until = std::max(out.back().until, a.until);
      else
        out.push_back(a);
    }
    return out;
  }

  const Scenario& s_;
  const Traces& traces_;
  const std::uint64_t seed_;
  const double horizon_;
  Draws out_;
};

struct Hours {
  double price;
  double hours;
};

}  // namespace

DrawSize draw_size(const Scenario& s) {
  DrawSize out;
  for (const auto& p : s.borrowers) out.jobs += p.count * drawn_by_one(s, p.arrivals);
  const auto horizon = s.horizon.seconds();
  for (const auto& p : s.lenders) {
    out.departures +=
        p.count * static_cast<double>(p.windows.size()) * horizon / (24 * base::kSecondsPerHour);
    if (p.churn)
      out.departures += p.count * horizon / (mean_time(p.churn->up) + mean_time(p.churn->down));
  }
  return out;
}

Draws draw_market(const Scenario& scenario, const Traces& traces, std::uint64_t seed) {
  return Drawing(scenario, traces, seed).run();
}

Bound bound_of(const Scenario& s, const Draws& draws, std::string_view slot_class) {
  Bound out;
  const auto horizon = s.horizon.seconds();
  std::vector<Hours> demand, supply;
  for (const auto& job : draws.jobs)
    if (draws.users[job.user].population->slot_class == slot_class)
      demand.push_back({job.value, job.workers * std::min(job.run_time, horizon - job.arrival) /
                                       base::kSecondsPerHour});
  for (const auto& m : draws.machines) {
    if (m.population->slot_class != slot_class) continue;
    supply.push_back({m.cost, m.slots * seconds_open(m, horizon) / base::kSecondsPerHour});
    out.offered += supply.back().hours;
  }
  std::ranges::sort(demand, std::greater{}, &Hours::price);
  std::ranges::sort(supply, {}, &Hours::price);
  std::size_t d = 0, a = 0;
  while (d < demand.size() && a < supply.size() && demand[d].price >= supply[a].price) {
    const auto hours = std::min(demand[d].hours, supply[a].hours);
    out.gain += hours * (demand[d].price - supply[a].price);
    // Between the last that trades and the first that does not, as in any crossing.
    auto low = supply[a].price, high = demand[d].price;
    demand[d].hours -= hours;
    supply[a].hours -= hours;
    if (demand[d].hours <= 0) ++d;
    if (supply[a].hours <= 0) ++a;
    if (d < demand.size()) low = std::max(low, std::min(high, demand[d].price));
    if (a < supply.size()) high = std::min(high, std::max(low, supply[a].price));
    out.price = (low + high) / 2;
  }
  return out;
}

}  // namespace souk::lab
