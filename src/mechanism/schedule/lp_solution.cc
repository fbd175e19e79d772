#include "mechanism/schedule/lp_solution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace souk::mechanism {
namespace {

constexpr double kMet = 1e-11;  // Of a row with `least`: rounding.

void fit(const SharesProgram& s, std::vector<double>& shares) {
  const auto m = s.types;
  std::vector<double> use(m, 0);
  for (std::size_t i = 0; i < s.jobs; ++i) {
    auto* row = shares.data() + i * m;
    double time = 0;
    for (std::size_t j = 0; j < m; ++j) time += row[j];
    if (time > 1)
      for (std::size_t j = 0; j < m; ++j) row[j] /= time;
    for (std::size_t j = 0; j < m; ++j) use[j] += s.scale[i] * row[j];
  }
  for (std::size_t j = 0; j < m; ++j) {
    if (use[j] <= s.capacity[j]) continue;
    const auto keep = s.capacity[j] / use[j];
    for (std::size_t i = 0; i < s.jobs; ++i) shares[i * m + j] *= keep;
  }
}

void judge(const SharesProgram& s, SharesSolution& out) {
  out.t = std::numeric_limits<double>::infinity();
  double gains = 0;
  for (std::size_t i = 0; i < s.jobs; ++i) {
    double rate = 0;
    for (std::size_t j = 0; j < s.types; ++j) {
      const auto ij = i * s.types + j;
      rate += s.rate[ij] * out.shares[ij];
      if (!s.gain.empty()) gains += s.gain[ij] * out.shares[ij];
    }
    if (s.level[i] > 0)
      out.t = std::min(out.t, (rate - s.least[i]) / s.level[i]);
    else if (s.least[i] > 0)
      out.shortfall = std::max(out.shortfall, 1 - rate / s.least[i]);
  }
  if (std::ranges::none_of(s.level, [](double level) { return level > 0; })) out.t = 0;
  out.objective = gains + out.t;
}

// A row that is not met counts for more than any objective.
bool better(const SharesSolution& a, const SharesSolution& b) {
  if (std::max(a.shortfall, b.shortfall) > kMet) return a.shortfall < b.shortfall;
  return a.objective > b.objective;
}

}  // namespace

SharesSolution fitted(const SharesProgram& program, std::vector<double> shares) {
  SharesSolution out{.shares = std::move(shares)};
  fit(program, out.shares);
  judge(program, out);
  return out;
}

double gap(const SharesSolution& s) {
  return (s.bound - s.objective) / std::max(std::abs(s.bound), 1e-300) + s.shortfall;
}

void take_better(SharesSolution& best, SharesSolution now) {
  if (better(now, best)) {
    best.shares = std::move(now.shares);
    best.t = now.t;
    best.objective = now.objective;
    best.shortfall = now.shortfall;
  }
  if (now.bound < best.bound) {
    best.bound = now.bound;
    best.prices = std::move(now.prices);
  }
}

}  // namespace souk::mechanism
