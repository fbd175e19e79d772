#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// FedAsync (Xie, Koyejo and Gupta, 2019) with polynomial staleness: for each worker's parameters Wc
// that are t folds old,
//   W <- W + s (Wc - W),  s = a0 (1 + t)^-b.
// Takes back others' progress as VC-ASGD does, but less so for what is stale.
class FedAsync final : public Aggregator {
 public:
  FedAsync(double a0, double b) : a0_(a0), b_(b) {}
  std::string_view name() const override { return "fedasync"; }
  Needs needs() const override { return {.sends = Sends::weights}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    std::vector<float> by;
    for (const auto& u : updates) {
      const auto age = static_cast<double>(std::max<std::int64_t>(0, u.staleness));
      by.push_back(static_cast<float>(a0_ * std::pow(1 + age, -b_)));
    }
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* weights) {
      move_towards(chunk.w, weights, by[k], chunk.size);
    });
  }

 private:
  double a0_, b_;
};

}  // namespace

std::unique_ptr<Aggregator> make_fedasync(const base::Arguments& given, std::int32_t /*workers*/) {
  return std::make_unique<FedAsync>(given.number("a0"), given.number("b"));
}

}  // namespace souk::train
