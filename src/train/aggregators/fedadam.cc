#include "train/aggregators/fold.h"
#include "train/aggregators/rules.h"

namespace souk::train {
namespace {

// FedAdam (Reddi et al., 2021): every `buffer` updates, with D their mean change weighted by
// samples,
//   m <- beta1 m + (1 - beta1) D
//   v <- beta2 v + (1 - beta2) D*D
//   W <- W + eta m / (sqrt(v) + eps)
// in two planes, m and v, both zero at first. Params: buffer; eta in [0, 10], 0.01 unless given;
// beta1 and beta2 in [0, 0.9999], 0.9 and 0.99; eps in [1e-8, 1], 0.001. A number moves by about
// eta in a fold however small its changes are (down to eps), so eta is in units of the parameters.
class FedAdam final : public Aggregator {
 public:
  struct Params {
    std::size_t buffer = 1;
    double eta = 0, beta1 = 0, beta2 = 0, eps = 0;
  };
  explicit FedAdam(const Params& params) : params_(params) {}
  std::string_view name() const override { return "fedadam"; }
  Needs needs() const override { return {.planes = 2, .arity = params_.buffer}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto eta = static_cast<float>(params_.eta), eps = static_cast<float>(params_.eps);
    const auto b1 = static_cast<float>(params_.beta1), b2 = static_cast<float>(params_.beta2);
    fold_sum(p, updates, shares_by_weight(updates),
             [=](const Chunk& chunk, const float* __restrict d) {
               float* __restrict w = chunk.w;
               float* __restrict m = chunk.plane[0];
               float* __restrict v = chunk.plane[1];
               for (std::size_t i = 0; i < chunk.size; ++i) {
                 const auto square = d[i] * d[i];
                 m[i] = b1 * m[i] + (1 - b1) * d[i];
                 v[i] = b2 * v[i] + (1 - b2) * square;
                 w[i] += eta * m[i] / (root(v[i]) + eps);
               }
             });
  }

 private:
  Params params_;
};

}  // namespace

base::Result<std::unique_ptr<Aggregator>> make_fedadam(const AggregatorSpec& spec) {
  FedAdam::Params params;
  SOUK_ASSIGN(params.buffer, buffer_param(spec));
  SOUK_ASSIGN(params.eta, eta_param(spec, 0.01));
  SOUK_ASSIGN(params.beta1, number_param(spec, "beta1", 0.9, 0, 0.9999));
  SOUK_ASSIGN(params.beta2, number_param(spec, "beta2", 0.99, 0, 0.9999));
  SOUK_ASSIGN(params.eps, number_param(spec, "eps", 1e-3, 1e-8, 1));
  return std::make_unique<FedAdam>(params);
}

}  // namespace souk::train
