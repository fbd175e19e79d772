#include <algorithm>

#include "lab/strategies/strategy.h"

// What best_response.h searches among. It never trades at a loss: the line is cut at the value.

namespace souk::lab {
namespace {

class Linear final : public Strategy {
 public:
  Linear(double intercept, double slope) : intercept_(intercept), slope_(slope) {}
  double quote(const Situation& now, base::Random&) override {
    const auto line = intercept_ + slope_ * now.value;
    return now.buys ? std::min(line, now.value) : std::max(line, now.value);
  }

 private:
  double intercept_, slope_;
};

}  // namespace

std::unique_ptr<Strategy> make_linear(const StrategyParams& params) {
  return std::make_unique<Linear>(params.at("intercept"), params.at("slope"));
}

}  // namespace souk::lab
