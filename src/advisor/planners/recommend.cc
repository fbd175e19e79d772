#include "advisor/planners/recommend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"

namespace souk::advisor {
namespace {

using base::Code;
using base::fail;

constexpr double kRounding = 1e-9;

Result<> check(const Request& r) {
  const auto above_zero = [](double v) { return v > 0 && std::isfinite(v); };
  if (r.budget && !above_zero(*r.budget))
    return fail(Code::invalid, fmt::format("a budget of {}", *r.budget), "use more than 0");
  if (r.deadline_s && !above_zero(*r.deadline_s))
    return fail(Code::invalid, fmt::format("a deadline of {} s", *r.deadline_s), "use more than 0");
  if (!(r.confidence > 0 && r.confidence < 1))
    return fail(Code::invalid, fmt::format("a confidence of {}", r.confidence),
                "between 0 and 1, as 0.9");
  if (r.most < 1 || r.most > 10'000)
    return fail(Code::invalid, fmt::format("{} candidates", r.most), "use 1 to 10000");
  return {};
}

// The deadline that the plan meets with `confidence`, by bisection.
double sure_time(const Forecaster& f, const Mix& mix, double confidence) {
  double low = 0, high = f.estimate(mix).time_s;
  for (int i = 0; i < 60 && f.chance(mix, high) < confidence; ++i) high *= 2;
  for (int i = 0; i < 60; ++i) {
    const auto middle = (low + high) / 2;
    (f.chance(mix, middle) < confidence ? low : high) = middle;
  }
  return high;
}

base::Failure no_time(const Forecaster& f, const Request& r, const std::vector<Forecast>& plans) {
  double least = std::numeric_limits<double>::infinity();
  const Forecast* best = nullptr;
  for (const auto& plan : plans)
    if (const auto time = sure_time(f, plan.mix, r.confidence); time < least) {
      least = time;
      best = &plan;
    }
  CHECK(best != nullptr);
  return fail(Code::conflict,
              fmt::format("no plan is done in {} s with a chance of {:.0f}%", *r.deadline_s,
                          100 * r.confidence),
              fmt::format("the tightest deadline is {:.0f} s, with {}", std::ceil(least),
                          describe(best->mix, f.problem().types)));
}

base::Failure no_money(const Forecaster& f, const Request& r, std::string_view what,
                       const std::vector<const Forecast*>& plans) {
  const auto* cheapest =
      *std::ranges::min_element(plans, {}, [](const Forecast* p) { return p->cost_with_hub.high; });
  return fail(Code::conflict, fmt::format("no plan{} stays within {}", what, *r.budget),
              fmt::format("the least budget is {:.4f}, for {}",
                          std::ceil(cheapest->cost_with_hub.high * 1e4) / 1e4,
                          describe(cheapest->mix, f.problem().types)));
}

struct Choice {
  const Forecast* plan = nullptr;
  std::string why;
};

Result<Choice> choose(const Forecaster& f, const Request& r, const std::vector<Forecast>& plans) {
  std::vector<const Forecast*> left;
  for (const auto& p : plans)
    if (!r.deadline_s || *p.chance >= r.confidence) left.push_back(&p);
  if (left.empty()) return no_time(f, r, plans);
  if (r.budget) {
    const auto in_time = left;
    std::erase_if(left, [&](const Forecast* p) { return p->cost_with_hub.high > *r.budget; });
    if (left.empty())
      return no_money(f, r, r.deadline_s ? " that meets the deadline" : "", in_time);
  }
  const auto measure = [&](const Forecast* p) { return compared_by(*p, r); };
  const auto least = measure(*std::ranges::min_element(left, {}, measure));
  // What differs by rounding is the same; then the first, which may be the one with fewest
  // machines.
  const auto* best = *std::ranges::find_if(
      left, [&](const Forecast* p) { return measure(p) <= least * (1 + kRounding); });
  if (r.deadline_s)
    return Choice{best,
                  fmt::format("the cheapest that meets the deadline with a chance of at "
                              "least {:.0f}%{}",
                              100 * r.confidence, r.budget ? " and stays within the budget" : "")};
  if (r.budget)
    return Choice{best, "the fastest whose cost stays within the budget, at its high end"};
  return Choice{best,
                "the least time x cost: with neither a deadline nor a budget, twice as fast is "
                "worth twice the cost"};
}

// The chosen one, both ends, and others at even distances.
std::vector<std::size_t> thinned(std::size_t size, std::size_t chosen, std::size_t most) {
  std::vector<std::size_t> out{chosen};
  const auto add = [&](std::size_t i) {
    if (out.size() < most && std::ranges::find(out, i) == out.end()) out.push_back(i);
  };
  add(0);
  add(size - 1);
  for (std::size_t i = 1; i + 1 < most; ++i) add(i * (size - 1) / (most - 1));
  for (std::size_t i = 0; i < size && out.size() < most; ++i) add(i);
  std::ranges::sort(out);
  return out;
}

}  // namespace

double compared_by(const Forecast& plan, const Request& request) {
  const auto cost = plan.cost_with_hub.expected, time = plan.time_s.expected;
  if (request.deadline_s) return cost;
  return request.budget ? time : time * cost;
}

Result<Plans> recommend(const Request& request) {
  SOUK_TRY(check(request));
  SOUK_ASSIGN(const auto forecaster, Forecaster::make(request.problem));
  Front front{.mixes = static_cast<double>(request.only.size())};
  for (const auto& mix : request.only)
    front.plans.push_back(forecaster.forecast(mix, request.deadline_s));
  if (request.only.empty()) {
    SOUK_ASSIGN(front, pareto(forecaster, request.deadline_s));
  }
  SOUK_ASSIGN(auto choice, choose(forecaster, request, front.plans));
  const auto chosen = static_cast<std::size_t>(choice.plan - front.plans.data());
  Plans out{.why = std::move(choice.why), .complete = front.complete, .mixes = front.mixes};
  for (const auto i : thinned(front.plans.size(), chosen, request.most)) {
    if (i == chosen) out.chosen = out.candidates.size();
    out.candidates.push_back(front.plans[i]);
  }
  return out;
}

}  // namespace souk::advisor
