#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Downpour (Dean et al., 2012), with changes in place of gradients: W <- W + eta D for each change
// D as it comes. The changes of K workers add up: with eta 1 they go K times as far as one, which
// workers that each take many steps do not survive. Hence eta is 1 / workers unless given.
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

std::unique_ptr<Aggregator> make_downpour(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Downpour>(given.number_or("eta", 1.0 / workers));
}

}  // namespace souk::train
