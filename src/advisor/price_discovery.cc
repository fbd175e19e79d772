#include "advisor/price_discovery.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "advisor/max_min_las.h"

namespace souk::advisor {
namespace {

constexpr std::size_t kIdle = static_cast<std::size_t>(-1);

// The cheapest way for one job to reach a level: the type `high` for a share of its time, and `low`
// for the rest of it, or nothing.
struct Answer {
  std::size_t high = 0, low = kIdle;
  double share = 0;  // Of `high`.
  double cost = 0;
  double slope = 0;  // What a little more level costs, per level.
};

class Market {
 public:
  explicit Market(const ScheduleInstance& s) : s_(s), m_(s.types()), n_(s.jobs()) {
    const auto unit = las_levels(s);
    levels_.resize(n_ * m_);
    for (std::size_t i = 0; i < n_; ++i) {
      double most = 0;
      for (std::size_t j = 0; j < m_; ++j) {
        levels_[i * m_ + j] = s.rates(i)[j] / unit[i];
        most = std::max(most, levels_[i * m_ + j]);
      }
      highest_ = std::min(highest_, most);
    }
    level_ = highest_;
    // At first all machines together are worth 1, each as much as any other.
    double machines = 0;
    for (const auto c : s.capacity) machines += c;
    prices_.assign(m_, 1 / machines);
    mean_.assign(n_ * m_, 0);
    excess_.assign(m_, 0);
    steps_.assign(m_, .5);
  }

  Schedule run(double gap, int most_rounds) {
    Schedule best{.bound = std::numeric_limits<double>::infinity()};
    for (int k = 1; k <= most_rounds; ++k) {
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
        if (best.gap() <= gap) break;
      }
    }
    return best;
  }

 private:
  static constexpr int kLookEvery = 5;

  // Of all pairs of types, or a type and idling, that mix to the level, the cheapest.
  [[nodiscard]] Answer cheapest(std::size_t i, double level) const {
    Answer best{.cost = std::numeric_limits<double>::infinity()};
    const auto* a = &levels_[i * m_];
    for (std::size_t j = 0; j < m_; ++j) {
      if (a[j] < level || a[j] == 0) continue;
      const auto cost = s_.scale[i] * prices_[j];
      const auto try_with = [&](std::size_t low, double a_low, double cost_low) {
        const auto share = (level - a_low) / (a[j] - a_low);
        const auto total = cost_low + share * (cost - cost_low);
        if (total < best.cost) best = {j, low, share, total, (cost - cost_low) / (a[j] - a_low)};
      };
      try_with(kIdle, 0, 0);
      for (std::size_t g = 0; g < m_; ++g)
        if (a[g] > 0 && a[g] < level) try_with(g, a[g], s_.scale[i] * prices_[g]);
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
      const auto next = std::min(highest_, level_ - (cost - 1) / slope);
      if (std::abs(next - level_) <= 1e-12 * level_) break;
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
  void look(Schedule& best) const {
    std::vector<double> use(m_, 0);
    for (std::size_t i = 0; i < n_; ++i)
      for (std::size_t j = 0; j < m_; ++j) use[j] += s_.scale[i] * mean_[i * m_ + j];
    std::vector<double> keep(m_);
    for (std::size_t j = 0; j < m_; ++j)
      keep[j] = std::min(1.0, s_.capacity[j] / std::max(use[j], 1e-300));
    auto least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < n_; ++i) {
      double level = 0;
      for (std::size_t j = 0; j < m_; ++j)
        level += keep[j] * mean_[i * m_ + j] * levels_[i * m_ + j];
      least = std::min(least, level);
    }
    if (!best.shares.empty() && least <= best.objective) return;
    best.objective = least;
    best.shares = mean_;
    for (std::size_t ij = 0; ij < best.shares.size(); ++ij) best.shares[ij] *= keep[ij % m_];
  }

  const ScheduleInstance& s_;
  const std::size_t m_, n_;
  std::vector<double> levels_;  // Of each job on each type, all the time.
  double highest_ = std::numeric_limits<double>::infinity();  // That all jobs could reach.
  double level_ = 0;
  std::vector<double> prices_, mean_, wanted_;
  std::vector<double> excess_,
      steps_;  // By type: wanted beyond capacity, and how fast prices move.
};

}  // namespace

Result<Schedule> PriceDiscovery::solve(const ScheduleInstance& s) const {
  if (s.jobs() == 0) return Schedule{.prices = std::vector<double>(s.types(), 0)};
  return Market(s).run(gap_, most_rounds_);
}

}  // namespace souk::advisor
