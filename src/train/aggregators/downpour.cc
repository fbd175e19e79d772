#include "train/aggregators/fold.h"
#include "train/aggregators/rules.h"

namespace souk::train {
namespace {

// Downpour (Dean et al., 2012), with changes in place of gradients: W <- W + eta D for each change
// D as it comes. Params: eta in [0, 10], 1 / workers unless given. The changes of K workers add up:
// with eta 1 they go K times as far as one, which workers that each take many steps do not survive.
class Downpour final : public Aggregator {
 public:
  explicit Downpour(double eta) : eta_(static_cast<float>(eta)) {}
  std::string_view name() const override { return "downpour"; }
  Needs needs() const override { return {}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_each(p, updates, [&](std::size_t, const Chunk& chunk, const float* change) {
      add_times(chunk.w, change, eta_, chunk.size);
    });
  }

 private:
  float eta_;
};

}  // namespace

base::Result<std::unique_ptr<Aggregator>> make_downpour(const AggregatorSpec& spec) {
  SOUK_ASSIGN(const auto eta, eta_param(spec, 1.0 / spec.workers));
  return std::make_unique<Downpour>(eta);
}

}  // namespace souk::train
