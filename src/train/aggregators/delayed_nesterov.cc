#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Delayed Nesterov (Liu et al., 2024, with their momentum activation c = 0): changes are added as
// they come, one Nth each, and momentum acts once in N of them, on their mean, so that the momentum
// of stale changes does not add up. With D_t the change folded at version t, N = `period`:
//   s <- s + D_t
//   t + 1 not a multiple of N:  W <- W + eta D_t / N
//   else:  m <- momentum m + s / N,  W <- W + eta (D_t / N + momentum m),  s <- 0
// One round of N workers from the same W gives what DiLoCo gives. As there, Nesterov's own two
// sequences leave the same W up to rounding, with one plane X (W before the last push of momentum;
// at version 0, W) in place of m and s, and only every Nth fold touches it:
//   T = W + eta D_t / N
//   t + 1 not a multiple of N:  W <- T
//   else:                       W <- T + momentum (T - X),  X <- T.
// With stale workers the defaults converge in a third of the folds that DiLoCo's take
// (testing/bowl.h): staleness is momentum of its own.
class DelayedNesterov final : public Aggregator {
 public:
  DelayedNesterov(std::size_t period, double eta, double momentum)
      : period_(static_cast<std::int64_t>(period)),
        each_(static_cast<float>(eta / static_cast<double>(period))),
        momentum_(static_cast<float>(momentum)) {}
  std::string_view name() const override { return "delayed-nesterov"; }
  Needs needs() const override {
    return {.planes = 1, .gain = static_cast<double>(each_) / (1 - static_cast<double>(momentum_))};
  }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto before = p.version();
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* change) {
      const auto version = before + static_cast<std::int64_t>(k);
      if (version == 0) std::copy_n(chunk.w, chunk.size, chunk.plane[0]);
      (version + 1) % period_ == 0 ? push(chunk, change)
                                   : add_times(chunk.w, change, each_, chunk.size);
    });
  }

 private:
  void push(const Chunk& chunk, const float* __restrict d) const {
    float* __restrict w = chunk.w;
    float* __restrict x = chunk.plane[0];
    for (std::size_t i = 0; i < chunk.size; ++i) {
      const auto t = w[i] + each_ * d[i];
      w[i] = t + momentum_ * (t - x[i]);
      x[i] = t;
    }
  }

  std::int64_t period_;
  float each_, momentum_;
};

}  // namespace

std::unique_ptr<Aggregator> make_delayed_nesterov(const base::Arguments& given,
                                                  std::int32_t workers) {
  return std::make_unique<DelayedNesterov>(
      given.whole_or("period", static_cast<std::size_t>(workers)), given.number("eta"),
      given.number("momentum"));
}

}  // namespace souk::train
