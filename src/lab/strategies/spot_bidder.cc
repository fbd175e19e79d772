#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "lab/strategies/spot_bid.h"
#include "lab/strategies/strategy.h"

// Takes the prices seen so far for the law of those to come. With a `recovery` its jobs wait when
// outbid (persistent), without one they are lost (one-time). Sellers, and buyers before there are
// enough prices, are truthful; nobody bids above the value.

namespace souk::lab {
namespace {

constexpr std::size_t kEnough = 8;

class SpotBidder final : public Strategy {
 public:
  explicit SpotBidder(SpotJob job) : job_(job) {}
  double quote(const Situation& now, base::Random&) override {
    if (!now.buys || now.history.size() < kEnough) return now.value;
    auto job = job_;
    if (now.run_time > 0) job.run_time = now.run_time;
    if (now.slot > 0) job.slot = now.slot;
    see(now.history);
    const auto bid = job.recovery > 0 ? persistent_bid(*law_, job) : one_time_bid(*law_, job);
    return std::min(now.value, bid);
  }

 private:
  // Sorting is most of the work, and an agent asks for all its jobs between two clearings.
  void see(std::span<const double> prices) {
    if (law_ && std::ranges::equal(seen_, prices)) return;
    seen_.assign(prices.begin(), prices.end());
    law_.emplace(prices);
  }

  SpotJob job_;
  std::vector<double> seen_;
  std::optional<SeenPrices> law_;
};

}  // namespace

std::unique_ptr<Strategy> make_spot_bidder(const StrategyParams& params) {
  return std::make_unique<SpotBidder>(SpotJob{.slot = params.at("slot"),
                                              .run_time = params.at("run_time"),
                                              .recovery = params.at("recovery")});
}

}  // namespace souk::lab
