#include <algorithm>

#include "lab/strategies/strategy.h"

// A margin over one's own value that moves with experience, after Cliff's zero-intelligence-plus
// traders: whoever traded could have had the market's price, and `greed` more is worth a try;
// whoever did not trade comes a `step` below it. The margin follows that target at `rate`.

namespace souk::lab {
namespace {

class Adaptive final : public Strategy {
 public:
  Adaptive(double margin, double rate, double step, double greed)
      : margin_(margin), rate_(rate), step_(step), greed_(greed) {}

  double quote(const Situation& now, base::Random&) override {
    return now.value * (now.buys ? 1 - margin_ : 1 + margin_);
  }

  void learn(const Lesson& l) override {
    if (l.value <= 0) return;
    // Where nothing traded there is no price to go by but one's own.
    const auto price = l.price.value_or(l.quoted);
    const auto greedy = l.traded ? 1 + greed_ : 1 - step_;  // As a seller sees it.
    const auto target = l.buys ? price * (2 - greedy) : price * greedy;
    const auto wanted = l.buys ? 1 - target / l.value : target / l.value - 1;
    margin_ += rate_ * (std::clamp(wanted, 0.0, l.buys ? kMostOff : kMostOn) - margin_);
  }

 private:
  static constexpr double kMostOff = .99, kMostOn = 1'000;  // A buyer cannot want more than all.
  double margin_, rate_, step_, greed_;
};

}  // namespace

std::unique_ptr<Strategy> make_adaptive(const StrategyParams& params) {
  return std::make_unique<Adaptive>(params.at("margin"), params.at("rate"), params.at("step"),
                                    params.at("greed"));
}

}  // namespace souk::lab
