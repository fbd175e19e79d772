#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// VC-ASGD (Atre, Jha and Rao, 2021): for each worker's parameters Wc,
//   W <- a W + (1 - a) Wc,  with a = e / (e + 1), e the epoch of the update's unit (from 1),
// or a constant `alpha` in [0, 1] where the params give one.
//
// With Wb the worker's base and D its change, that is W + (1 - a) (D + (Wb - W)): the last term
// takes back part of what others did since Wb was pulled. Hence slower than aggregators that add
// changes, the more workers there are; it is here as the faithful baseline.
class VcAsgd final : public Aggregator {
 public:
  explicit VcAsgd(double alpha) : alpha_(alpha) {}
  std::string_view name() const override { return "vc-asgd"; }
  Needs needs() const override { return {.sends = Sends::weights}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* weights) {
      const auto epoch = std::max(1, updates[k].epoch);
      const auto alpha = alpha_ >= 0 ? alpha_ : epoch / (epoch + 1.0);
      move_towards(chunk.w, weights, static_cast<float>(1 - alpha), chunk.size);
    });
  }

 private:
  double alpha_;  // Negative: by the epoch.
};

}  // namespace

std::unique_ptr<Aggregator> make_vc_asgd(const base::Arguments& given, std::int32_t /*workers*/) {
  return std::make_unique<VcAsgd>(given.number_or("alpha", -1));
}

}  // namespace souk::train
