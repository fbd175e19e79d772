#include "lab/strategies/strategy.h"
#include "lab/worlds/distribution.h"

// Gode and Sunder's constrained traders: no memory, no aim, no losses.

namespace souk::lab {
namespace {

class ZeroIntelligence final : public Strategy {
 public:
  double quote(const Situation& now, base::Random& random) override {
    const auto bound = now.buys ? now.lowest : now.highest;
    return now.value + (bound - now.value) * random.unit();
  }
};

}  // namespace

std::unique_ptr<Strategy> make_zero_intelligence(const StrategyParams&) {
  return std::make_unique<ZeroIntelligence>();
}

}  // namespace souk::lab
