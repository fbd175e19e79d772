#pragma once

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {

// A step of adaptive length, of which Adam's and Yogi's are two (Reddi et al., 2021): every
// `buffer` updates, with D their mean change weighted by samples,
//   m <- beta1 m + (1 - beta1) D
//   v <- Moment::second(v, D*D, beta2)
//   W <- W + eta m / (sqrt(v) + eps)
// in two planes, m and v, both zero at first. A number moves by about eta in a fold however small
// its changes are (down to eps), so eta is in units of the parameters.
template <class Moment>
class AdaptiveStep final : public Aggregator {
 public:
  AdaptiveStep(const base::Arguments& given, std::int32_t workers)
      : buffer_(buffer(given, workers)),
        eta_(static_cast<float>(given.number("eta"))),
        beta1_(static_cast<float>(given.number("beta1"))),
        beta2_(static_cast<float>(given.number("beta2"))),
        eps_(static_cast<float>(given.number("eps"))) {}
  std::string_view name() const override { return Moment::kName; }
  Needs needs() const override { return {.planes = 2, .arity = buffer_}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_sum(p, updates, shares_by_weight(updates),
             [eta = eta_, b1 = beta1_, b2 = beta2_, eps = eps_](const Chunk& chunk,
                                                                const float* __restrict d) {
               float* __restrict w = chunk.w;
               float* __restrict m = chunk.plane[0];
               float* __restrict v = chunk.plane[1];
               for (std::size_t i = 0; i < chunk.size; ++i) {
                 m[i] = b1 * m[i] + (1 - b1) * d[i];
                 v[i] = Moment::second(v[i], d[i] * d[i], b2);
                 w[i] += eta * m[i] / (root(v[i]) + eps);
               }
             });
  }

 private:
  std::size_t buffer_;
  float eta_, beta1_, beta2_, eps_;
};

}  // namespace souk::train
