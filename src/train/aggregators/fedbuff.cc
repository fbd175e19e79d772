#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// FedBuff (Nguyen et al., 2022): every `buffer` updates, whose changes D_k are t_k folds old and
// come from n_k samples,
//   W <- W + eta sum_k (n_k / sum n) D_k / sqrt(1 + t_k).
// The divisor is that of the samples alone, as in the paper, and not the sum of the discounts: a
// buffer of stale updates makes a shorter step.
class FedBuff final : public Aggregator {
 public:
  FedBuff(std::size_t buffer, double eta) : buffer_(buffer), eta_(eta) {}
  std::string_view name() const override { return "fedbuff"; }
  Needs needs() const override { return {.arity = buffer_}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    auto factors = shares_by_weight(updates);
    for (std::size_t k = 0; k < updates.size(); ++k) {
      const auto age = static_cast<double>(std::max<std::int64_t>(0, updates[k].staleness));
      factors[k] *= static_cast<float>(eta_ / std::sqrt(1 + age));
    }
    fold_sum(p, updates, factors,
             [](const Chunk& chunk, const float* sum) { add_times(chunk.w, sum, 1, chunk.size); });
  }

 private:
  std::size_t buffer_;
  double eta_;
};

}  // namespace

std::unique_ptr<Aggregator> make_fedbuff(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<FedBuff>(buffer(given, workers), given.number("eta"));
}

}  // namespace souk::train
