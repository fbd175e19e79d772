#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/rules.h"

namespace souk::train {
namespace {

// FedAsync (Xie, Koyejo and Gupta, 2019) with polynomial staleness: for each worker's parameters Wc
// that are t folds old,
//   W <- W + s (Wc - W),  s = a0 (1 + t)^-b.
// Params: a0 in [0, 1], 0.6 unless given; b in [0, 10], 0.5 unless given. Takes back others'
// progress as VC-ASGD does, but less so for what is stale.
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

base::Result<std::unique_ptr<Aggregator>> make_fedasync(const AggregatorSpec& spec) {
  SOUK_ASSIGN(const auto a0, number_param(spec, "a0", 0.6, 0, 1));
  SOUK_ASSIGN(const auto b, number_param(spec, "b", 0.5, 0, 10));
  return std::make_unique<FedAsync>(a0, b);
}

}  // namespace souk::train
