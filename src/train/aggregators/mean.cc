#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Adds each change as it comes, in the share of its worker: with D a change that one of N workers
// made, t folds ago,
//   W <- W + eta D / max(N, (t + 1) / 2).
// So N changes move the parameters by their mean, nobody waits for anybody, and workers may come
// and go: N is those who were there when the work was given out. What is staler than a round of
// all counts less; each has a unit under way beside the one on its way, so that t is 2 N - 1 where
// all are alike. A worker goes on from its own last change: one alone is serial training.
class Mean final : public Aggregator {
 public:
  Mean(double eta, std::int32_t workers) : eta_(eta), workers_(workers) {}
  std::string_view name() const override { return "mean"; }
  Needs needs() const override { return {.gain = eta_ / workers_, .own = eta_}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    std::vector<float> by;
    for (const auto& u : updates) {
      const auto among =
          std::max({std::int64_t{1}, std::int64_t{u.at_work}, (u.staleness + 1) / 2});
      by.push_back(static_cast<float>(eta_ / static_cast<double>(among)));
    }
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* change) {
      add_times(chunk.w, change, by[k], chunk.size);
    });
  }

 private:
  double eta_;
  std::int32_t workers_;
};

}  // namespace

std::unique_ptr<Aggregator> make_mean(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Mean>(given.number("eta"), workers);
}

}  // namespace souk::train
