#include "lab/report/metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lab/report/statistics.h"

namespace souk::lab {
namespace {

constexpr std::array kNames{
    MetricName{"efficiency", "efficiency", "%", "gains from trade, of the most there could be"},
    MetricName{"buyers_share", "buyers' share", "%", "of the gains realised"},
    MetricName{"sellers_share", "sellers' share", "%", "of the gains realised"},
    MetricName{"platform_share", "platform's share", "%", "of the gains realised"},
    MetricName{"price", "mean price", "credits", "paid per unit"},
    MetricName{"alpha", "Smith's alpha", "%", "distance of prices from equilibrium"},
    MetricName{"volatility", "volatility", "", "of the log price, clearing to clearing"},
    MetricName{"gini_credits", "Gini of credits", "", "0: all have the same"},
    MetricName{"gini_access", "Gini of access", "", "of what borrowers got of what they wanted"},
    MetricName{"platform_drift", "platform", "credits", "what the platform gained"},
    MetricName{"utilisation", "utilisation", "%", "slot-hours used of those offered"},
    MetricName{"wait_p50", "median wait", "s", "from submission to the first worker"},
    MetricName{"wait_p95", "95% wait", "s", "from submission to the first worker"},
    MetricName{"defection", "defection", "%", "users who waited over 15 times their run time"},
    MetricName{"completed", "completed", "%", "of the jobs"},
    MetricName{"regret", "regret", "credits", "gain of the best lie about one's price"},
    MetricName{"false_name_gain", "false-name gain", "credits", "gain of a second identity"},
    MetricName{"recovery", "recovery", "", "time from a shock's end to a price near equilibrium"},
    MetricName{"units", "units traded", "", ""},
};
static_assert(kNames.size() == Metrics::souk_field_names.size());
static_assert(std::ranges::equal(kNames, Metrics::souk_field_names, {}, &MetricName::field));

std::optional<double> ratio(double part, double whole) {
  if (whole <= 0) return std::nullopt;
  return part / whole;
}

// Each trade weighs as many units as it has. Alpha is about the equilibrium of its own time.
struct PriceSums {
  double units = 0, sum = 0;
  double compared = 0, squares = 0;

  explicit PriceSums(const std::vector<TradeRow>& trades) {
    for (const auto& t : trades) {
      units += t.units;
      sum += t.units * in_credits(t.pays);
      if (t.equilibrium <= 0) continue;
      const auto off = in_credits(t.pays) / t.equilibrium - 1;
      compared += t.units;
      squares += t.units * off * off;
    }
  }
};

}  // namespace

std::span<const MetricName> metric_names() { return kNames; }

double smith_alpha(std::span<const double> prices, double equilibrium) {
  if (prices.empty() || equilibrium <= 0) return 0;
  double squares = 0;
  for (const auto p : prices) squares += (p - equilibrium) * (p - equilibrium);
  return std::sqrt(squares / static_cast<double>(prices.size())) / equilibrium;
}

double gini(std::span<const double> amounts) {
  std::vector<double> sorted;
  for (const auto a : amounts) sorted.push_back(std::max(a, 0.0));
  std::ranges::sort(sorted);
  double sum = 0, ranked = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    sum += sorted[i];
    ranked += static_cast<double>(i + 1) * sorted[i];
  }
  if (sum <= 0) return 0;
  const auto n = static_cast<double>(sorted.size());
  return 2 * ranked / (n * sum) - (n + 1) / n;
}

double log_volatility(std::span<const double> prices) {
  std::vector<double> steps;
  double before = 0;
  for (const auto p : prices) {
    if (p <= 0) continue;
    if (before > 0) steps.push_back(std::log(p / before));
    before = p;
  }
  return deviation_of(steps);
}

double recovery_time(std::span<const PricePoint> prices, double since, double end) {
  constexpr double near = .05;
  for (const auto& p : prices)
    if (p.time >= since && p.equilibrium > 0 && std::abs(p.price / p.equilibrium - 1) <= near)
      return p.time - since;
  return std::max(0.0, end - since);
}

Metrics measure(const Record& r) {
  Metrics m;
  m.efficiency = ratio(r.gain, r.most_gain);
  m.buyers_share = ratio(r.buyers_gain, r.gain);
  m.sellers_share = ratio(r.sellers_gain, r.gain);
  m.platform_share = ratio(r.platform, r.gain);
  m.platform_drift = r.platform;
  const PriceSums paid(r.trades);
  m.units = paid.units;
  if (paid.units > 0) m.price = paid.sum / paid.units;
  if (paid.compared > 0) m.alpha = std::sqrt(paid.squares / paid.compared);
  if (r.prices.size() > 2) {
    std::vector<double> prices;
    for (const auto& p : r.prices) prices.push_back(p.price);
    m.volatility = log_volatility(prices);
  }
  if (!r.credits.empty()) m.gini_credits = gini(r.credits);
  if (!r.access.empty()) m.gini_access = gini(r.access);
  m.utilisation = ratio(r.used, r.offered);
  if (!r.waits.empty()) {
    auto sorted = r.waits;
    std::ranges::sort(sorted);
    m.wait_p50 = quantile_of(sorted, .5);
    m.wait_p95 = quantile_of(sorted, .95);
  }
  if (r.users > 0) m.defection = static_cast<double>(r.defectors) / static_cast<double>(r.users);
  if (r.jobs > 0) m.completed = static_cast<double>(r.jobs_done) / static_cast<double>(r.jobs);
  m.regret = r.regret;
  m.false_name_gain = r.false_name_gain;
  if (r.shock_end) m.recovery = recovery_time(r.prices, *r.shock_end, r.end);
  return m;
}

}  // namespace souk::lab
