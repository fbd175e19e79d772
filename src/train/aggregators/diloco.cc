#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// DiLoCo (Douillard et al., 2023): a round of `quorum` workers that all began from W, with D their
// mean change weighted by samples, is one step of Nesterov's momentum with -D as the gradient:
//   m <- momentum m + D,  W <- W + eta (D + momentum m).
// The same in Nesterov's own two sequences, with the plane X in place of m (X = W before the last
// push of momentum; at version 0, W), which leaves the same W up to rounding and reads less:
//   T = W + eta D,  W <- T + momentum (T - X),  X <- T.
class Diloco final : public Aggregator {
 public:
  Diloco(std::size_t quorum, double eta, double momentum)
      : quorum_(quorum), eta_(static_cast<float>(eta)), momentum_(static_cast<float>(momentum)) {}
  std::string_view name() const override { return "diloco"; }
  Needs needs() const override {
    const auto gain = static_cast<double>(eta_) / (1 - static_cast<double>(momentum_));
    return {.planes = 1,
            .arity = quorum_,
            .synchronous = true,
            .gain = gain / static_cast<double>(quorum_)};
  }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto first = p.version() == 0;
    fold_sum(p, updates, shares_by_weight(updates),
             [&](const Chunk& chunk, const float* __restrict d) {
               float* __restrict w = chunk.w;
               float* __restrict x = chunk.plane[0];
               if (first) std::copy_n(w, chunk.size, x);
               for (std::size_t i = 0; i < chunk.size; ++i) {
                 const auto t = w[i] + eta_ * d[i];
                 w[i] = t + momentum_ * (t - x[i]);
                 x[i] = t;
               }
             });
  }

 private:
  std::size_t quorum_;
  float eta_, momentum_;
};

}  // namespace

std::unique_ptr<Aggregator> make_diloco(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Diloco>(quorum(given, workers), given.number("eta"),
                                  given.number("momentum"));
}

}  // namespace souk::train
