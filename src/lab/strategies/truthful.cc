#include "lab/strategies/strategy.h"

namespace souk::lab {
namespace {

class Truthful final : public Strategy {
 public:
  double quote(const Situation& now, base::Random&) override { return now.value; }
};

}  // namespace

std::unique_ptr<Strategy> make_truthful(const StrategyParams&) {
  return std::make_unique<Truthful>();
}

}  // namespace souk::lab
