#include "lab/strategies/strategy.h"

namespace souk::lab {
namespace {

class Shading final : public Strategy {
 public:
  explicit Shading(double by) : by_(by) {}
  double quote(const Situation& now, base::Random&) override {
    return now.value * (now.buys ? 1 - by_ : 1 + by_);
  }

 private:
  double by_;
};

}  // namespace

std::unique_ptr<Strategy> make_shading(const StrategyParams& params) {
  return std::make_unique<Shading>(params.at("by"));
}

}  // namespace souk::lab
