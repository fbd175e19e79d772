#include "lab/strategies/strategy.h"

// One trader behind several names. The first says the truth; each further one wants a share
// `spread` more for itself, so that what is left unsold or unbought moves the price for the others.

namespace souk::lab {
namespace {

class FalseNames final : public Strategy {
 public:
  FalseNames(std::int32_t names, double spread) : names_(names), spread_(spread) {}
  double quote(const Situation& now, base::Random&) override { return now.value; }
  [[nodiscard]] std::int32_t names() const override { return names_; }
  [[nodiscard]] double quote_of(std::int32_t name, const Situation& now,
                                double quoted) const override {
    const auto part = spread_ * name / names_;
    return quoted * (now.buys ? 1 - part : 1 + part);
  }

 private:
  std::int32_t names_;
  double spread_;
};

}  // namespace

std::unique_ptr<Strategy> make_false_names(const StrategyParams& params) {
  return std::make_unique<FalseNames>(static_cast<std::int32_t>(params.at("names")),
                                      params.at("spread"));
}

}  // namespace souk::lab
