#include "mechanism/schedule/discover.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "base/check.h"

namespace souk::mechanism {
namespace {

constexpr std::size_t kIdle = static_cast<std::size_t>(-1);

// The cheapest way for one job to have so many steps a second: the type `high` for a share of its
// time, and `low` for the rest of it, or nothing.
struct Answer {
  std::size_t high = kIdle, low = kIdle;  // kIdle for `high`: it needs nothing.
  double share = 0;                       // Of `high`.
  double cost = 0;
  double slope = 0;  // What a little more level costs, per level.
};

class SharesMarket {
 public:
  explicit SharesMarket(const SharesProgram& program)
      : s_(program), m_(program.types), n_(program.jobs) {
    for (std::size_t i = 0; i < n_; ++i) {
      CHECK(s_.level[i] > 0);
      fastest_.push_back(std::ranges::max(std::span(s_.rate).subspan(i * m_, m_)));
      highest_ = std::min(highest_, (fastest_[i] - s_.least[i]) / s_.level[i]);
    }
    level_ = highest_;
    // At first all machines together are worth 1, each as much as any other.
    double machines = 0;
    for (const auto c : s_.capacity) machines += c;
    prices_.assign(m_, 1 / machines);
    mean_.assign(n_ * m_, 0);
    excess_.assign(m_, 0);
    steps_.assign(m_, .5);
  }

  SharesSolution run(double gap, int most_rounds) {
    SharesSolution best{.bound = std::numeric_limits<double>::infinity()};
    for (int k = 1; k <= most_rounds; ++k) {
      best.steps = k;
      const auto slope = find_level();
      if (level_ < best.bound) {
        best.bound = level_;
        best.prices = prices_;
        // In levels: what the budget of a machine more would buy. Nothing, if none is short.
        for (auto& p : best.prices) p = level_ < highest_ ? p / slope : 0;
      }
      answer(8.0 / (k + 7));
      reprice();
      // Looking costs about as much as a round.
      if (k % kLookEvery == 0 || k == most_rounds) {
        look(best);
        if (best.bound - best.objective <= gap * std::abs(best.bound)) break;
      }
    }
    return best;
  }

 private:
  static constexpr int kLookEvery = 5;

  // Of all pairs of types, or a type and idling, that mix to what the level asks, the cheapest.
  [[nodiscard]] Answer cheapest(std::size_t i, double level) const {
    // No level is above highest_, but its rounding may be.
    const auto wanted = std::min(s_.least[i] + s_.level[i] * level, fastest_[i]);
    if (wanted <= 0) return {};
    Answer best{.cost = std::numeric_limits<double>::infinity()};
    const auto* a = &s_.rate[i * m_];
    for (std::size_t j = 0; j < m_; ++j) {
      if (a[j] < wanted) continue;
      const auto cost = s_.scale[i] * prices_[j];
      const auto try_with = [&](std::size_t low, double a_low, double cost_low) {
        const auto share = (wanted - a_low) / (a[j] - a_low);
        const auto total = cost_low + share * (cost - cost_low);
        if (total < best.cost)
          best = {j, low, share, total, s_.level[i] * (cost - cost_low) / (a[j] - a_low)};
      };
      try_with(kIdle, 0, 0);
      for (std::size_t g = 0; g < m_; ++g)
        if (a[g] > 0 && a[g] < wanted) try_with(g, a[g], s_.scale[i] * prices_[g]);
    }
    return best;
  }

  // Moves level_ to where all jobs together cost 1, which is what the machines are worth, and
  // returns the slope of their cost there. The cost is convex in the level, so that Newton's steps
  // come from above after the first, and no step ends below the root: the level is a bound even if
  // the steps end early.
  double find_level() {
    double slope = 0;
    for (int k = 0; k < 60; ++k) {
      double cost = 0;
      slope = 0;
      for (std::size_t i = 0; i < n_; ++i) {
        const auto answer = cheapest(i, level_);
        cost += answer.cost;
        slope += answer.slope;
      }
      if (cost <= 1 && (k > 0 || level_ >= highest_)) break;
      const auto next = slope > 0 ? std::min(highest_, level_ - (cost - 1) / slope) : highest_;
      if (std::abs(next - level_) <= 1e-12 * std::abs(level_)) break;
      level_ = next;
    }
    return slope;
  }

  // The jobs' answers at level_, as `weight` of the mean.
  void answer(double weight) {
    wanted_.assign(m_, 0);
    for (auto& share : mean_) share *= 1 - weight;
    for (std::size_t i = 0; i < n_; ++i) {
      const auto a = cheapest(i, level_);
      if (a.high == kIdle) continue;
      mean_[i * m_ + a.high] += weight * a.share;
      wanted_[a.high] += s_.scale[i] * a.share;
      if (a.low == kIdle) continue;
      mean_[i * m_ + a.low] += weight * (1 - a.share);
      wanted_[a.low] += s_.scale[i] * (1 - a.share);
    }
  }

  // A type that was too dear and is now too cheap, or the other way about, had its price changed
  // too far: from then on it changes less.
  void reprice() {
    double worth = 0;
    for (std::size_t j = 0; j < m_; ++j) {
      const auto excess = std::clamp(wanted_[j] / s_.capacity[j] - 1, -1.0, 2.0);
      steps_[j] *= excess * excess_[j] < 0 ? .6 : 1.05;
      excess_[j] = excess;
      prices_[j] *= std::exp(steps_[j] * excess);
      worth += prices_[j] * s_.capacity[j];
    }
    for (auto& p : prices_) p /= worth;
  }

  // The mean of the answers, made to fit, if it is better than what there was.
  void look(SharesSolution& best) const {
    std::vector<double> use(m_, 0);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < m_; ++j) use[j] += s_.scale[i] * mean_[i * m_ + j];
    std::vector<double> keep(m_);
    for (std::size_t j = 0; j < m_; ++j)
      keep[j] = std::min(1.0, s_.capacity[j] / std::max(use[j], 1e-300));
    auto lowest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n_; ++i) {
      double rate = 0;
      for (std::size_t j = 0; j < m_; ++j)
        rate += keep[j] * mean_[i * m_ + j] * s_.rate[i * m_ + j];
      lowest = std::min(lowest, (rate - s_.least[i]) / s_.level[i]);
    }
    if (!best.shares.empty() && lowest <= best.objective) return;
    best.objective = best.t = lowest;
    best.shares = mean_;
    for (std::size_t ij = 0; ij < best.shares.size(); ++ij) best.shares[ij] *= keep[ij % m_];
  }

  const SharesProgram& s_;
  const std::size_t m_, n_;
  std::vector<double> fastest_;                               // By job.
  double highest_ = std::numeric_limits<double>::infinity();  // That all jobs could reach.
  double level_ = 0;
  std::vector<double> prices_, mean_, wanted_;
  // By type: wanted beyond capacity, and how fast prices move.
  std::vector<double> excess_, steps_;
};

}  // namespace

SharesSolution discover(const SharesProgram& program, double gap, int most_rounds) {
  if (program.jobs == 0) return {.prices = std::vector<double>(program.types, 0)};
  CHECK(program.gain.empty());
  return SharesMarket(program).run(gap, most_rounds);
}

SharesSolution solve(const SharesProgram& program, Precision precision, double tolerance) {
  return precision == Precision::near ? discover(program) : solve(program, tolerance);
}

}  // namespace souk::mechanism
