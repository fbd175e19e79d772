#pragma once

#include <span>
#include <vector>

// What to bid for machines whose price changes while one holds them. The price of each slot of time
// is drawn from a law F; whoever bids at least the price of the slot runs and pays that price.
// Pure.
//
//   one-time    loses everything when outbid, so it wants to live through t_s / t_k slots: it bids
//               the price that is exceeded with a chance of t_k / t_s, never below the floor.
//   persistent  waits when outbid and needs t_r to recover: it bids the p with
//               F(p) (G(p) / H(p) - 1) = t_k / t_r - 1, where G = integral of x f and
//               H = integral of (p - x) f up to p. Where recovering is so cheap that no such p
//               exists, it bids the floor.

namespace souk::lab {

// A law of prices. Not below floor(), not above ceiling().
class PriceLaw {
 public:
  virtual ~PriceLaw() = default;
  [[nodiscard]] virtual double below(double price) const = 0;    // F
  [[nodiscard]] virtual double partial(double price) const = 0;  // G
  [[nodiscard]] virtual double quantile(double share) const = 0;
  [[nodiscard]] virtual double floor() const = 0;
  [[nodiscard]] virtual double ceiling() const = 0;
};

class UniformPrices final : public PriceLaw {
 public:
  UniformPrices(double low, double high) : low_(low), high_(high) {}
  [[nodiscard]] double below(double price) const override;
  [[nodiscard]] double partial(double price) const override;
  [[nodiscard]] double quantile(double share) const override;
  [[nodiscard]] double floor() const override { return low_; }
  [[nodiscard]] double ceiling() const override { return high_; }

 private:
  double low_, high_;
};

// floor + an exponential with this mean.
class ExponentialPrices final : public PriceLaw {
 public:
  ExponentialPrices(double floor, double mean) : floor_(floor), mean_(mean) {}
  [[nodiscard]] double below(double price) const override;
  [[nodiscard]] double partial(double price) const override;
  [[nodiscard]] double quantile(double share) const override;
  [[nodiscard]] double floor() const override { return floor_; }
  [[nodiscard]] double ceiling() const override { return floor_ + 40 * mean_; }

 private:
  double floor_, mean_;
};

// Prices that were seen, each as likely as it was frequent. Requires at least one.
class SeenPrices final : public PriceLaw {
 public:
  explicit SeenPrices(std::span<const double> prices);
  [[nodiscard]] double below(double price) const override;
  [[nodiscard]] double partial(double price) const override;
  [[nodiscard]] double quantile(double share) const override;
  [[nodiscard]] double floor() const override { return sorted_.front(); }
  [[nodiscard]] double ceiling() const override { return sorted_.back(); }

 private:
  std::vector<double> sorted_;
  std::vector<double> sums_;  // Of the first n prices.
};

// Times in seconds, prices per hour.
struct SpotJob {
  double slot = 300;    // t_k: how long a price holds.
  double run_time = 0;  // t_s
  double recovery = 0;  // t_r, of a persistent request.
};

[[nodiscard]] double one_time_bid(const PriceLaw& law, const SpotJob& job);
[[nodiscard]] double persistent_bid(const PriceLaw& law, const SpotJob& job);

// What a persistent request of this bid pays in all, in expectation: its hours, made longer by
// recoveries, at the mean of the prices it accepts.
[[nodiscard]] double persistent_cost(const PriceLaw& law, const SpotJob& job, double bid);

}  // namespace souk::lab
