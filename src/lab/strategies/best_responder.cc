#include <algorithm>

#include "lab/strategies/strategy.h"

// Takes the last price for the next one: a buyer bids a step above it, a seller asks a step below
// it, neither past its own value. Before there is a price it is truthful.

namespace souk::lab {
namespace {

class BestResponse final : public Strategy {
 public:
  explicit BestResponse(double step) : step_(step) {}
  double quote(const Situation& now, base::Random&) override {
    if (!now.last_price) return now.value;
    return now.buys ? std::min(now.value, *now.last_price * (1 + step_))
                    : std::max(now.value, *now.last_price * (1 - step_));
  }

 private:
  double step_;
};

}  // namespace

std::unique_ptr<Strategy> make_best_response(const StrategyParams& params) {
  return std::make_unique<BestResponse>(params.at("step"));
}

}  // namespace souk::lab
