#include "advisor/planners/pareto.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <tuple>

#include "base/check.h"

namespace souk::advisor {
namespace {

constexpr int kRungs = 24;  // Of the ladder of deadlines.
constexpr ExactLimits kEachRung{.nodes = 200'000};

// How many mixes there are, by adding one type after the other.
double count_mixes(const Forecaster& f) {
  std::vector<double> ways(static_cast<std::size_t>(f.most_machines()) + 1, 0);
  ways[0] = 1;
  for (const auto& type : f.problem().types) {
    const auto quota = static_cast<std::size_t>(type.quota);
    std::vector<double> next(ways.size(), 0);
    double window = 0;  // Of `ways` over the last quota + 1 sizes.
    for (std::size_t n = 0; n < ways.size(); ++n) {
      window += ways[n];
      if (n > quota) window -= ways[n - quota - 1];
      next[n] = window;
    }
    ways = std::move(next);
  }
  double sum = 0;
  for (std::size_t n = 1; n < ways.size(); ++n) sum += ways[n];
  return sum;
}

struct Candidate {
  Mix mix;
  Estimate estimate;
};

void add_all(const Forecaster& f, std::size_t type, std::int32_t left, Mix& mix,
             std::vector<Candidate>& out) {
  if (type == mix.size()) {
    if (left == f.most_machines()) return;  // Nobody at all.
    const auto e = f.estimate(mix);
    if (std::isfinite(e.time_s)) out.push_back({mix, e});
    return;
  }
  for (std::int32_t k = 0; k <= std::min(left, f.problem().types[type].quota); ++k) {
    mix[type] = k;
    add_all(f, type + 1, left - k, mix, out);
  }
  mix[type] = 0;
}

// The cheapest mixes for deadlines from the tightest to where time no longer costs anything.
void add_ladder(const Forecaster& f, std::vector<Candidate>& out) {
  const auto fastest = fastest_plan(f, kUnlimited, kEachRung);
  const auto cheapest = cheapest_plan(f, kUnlimited, kEachRung);
  if (!fastest || !cheapest) return;
  const auto from = f.estimate(fastest->mix).time_s, to = f.estimate(cheapest->mix).time_s;
  for (int i = 0; i <= kRungs; ++i) {
    const auto deadline_s = from * std::pow(to / from, static_cast<double>(i) / kRungs);
    const auto plan = cheapest_plan(f, deadline_s * (1 + 1e-12), kEachRung);
    if (plan) out.push_back({plan->mix, f.estimate(plan->mix)});
  }
}

// The same problem without the types that may leave, if that is another problem.
std::optional<Forecaster> steady_only(const Forecaster& f) {
  auto problem = f.problem();
  bool any = false;
  for (auto& type : problem.types)
    if (type.revocations_per_hour > 0 && type.quota > 0) {
      type.quota = 0;
      any = true;
    }
  if (!any) return std::nullopt;
  auto out = Forecaster::make(std::move(problem));  // Fails where nothing is left.
  if (!out) return std::nullopt;
  return *std::move(out);
}

// Leaves those that no other beats, fastest first.
std::vector<Forecast> undominated(const Forecaster& f, std::vector<Candidate> all,
                                  std::optional<double> deadline_s) {
  std::ranges::sort(
      all, {}, [](const Candidate& c) { return std::tuple(c.estimate.time_s, c.estimate.cost); });
  std::vector<Forecast> out;
  // Every one kept so far is as fast. So a candidate is beaten by one that costs as little and is
  // as likely to be in time.
  double sure_cost = kUnlimited;  // The least of those that nothing can beat in chance.
  for (const auto& c : all) {
    if (c.estimate.cost >= sure_cost) continue;
    const auto chance = deadline_s ? f.chance(c.mix, *deadline_s) : 1;
    const auto beats = [&](const Forecast& kept) {
      return kept.estimate.cost <= c.estimate.cost &&
             kept.chance.value_or(1) >= chance - kSameChance;
    };
    if (std::ranges::any_of(out, beats)) continue;
    out.push_back(f.forecast(c.mix, deadline_s));
    if (chance >= 1 - kSameChance) sure_cost = c.estimate.cost;
  }
  return out;
}

}  // namespace

Result<Front> pareto(const Forecaster& f, std::optional<double> deadline_s) {
  Front out{.mixes = count_mixes(f)};
  out.complete = out.mixes <= kMostMixes;
  std::vector<Candidate> candidates;
  if (out.complete) {
    Mix mix(f.problem().types.size(), 0);
    add_all(f, 0, f.most_machines(), mix, candidates);
  } else {
    add_ladder(f, candidates);
    if (const auto steady = steady_only(f)) {
      std::vector<Candidate> more;
      add_ladder(*steady, more);
      std::ranges::move(more, std::back_inserter(candidates));
    }
  }
  if (candidates.empty()) return std::unexpected(fastest_plan(f, kUnlimited).error());
  out.plans = undominated(f, std::move(candidates), deadline_s);
  CHECK(!out.plans.empty());
  return out;
}

}  // namespace souk::advisor
