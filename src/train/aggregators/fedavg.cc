#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// FedAvg (McMahan et al., 2017), also known as local SGD: a round of `quorum` workers that all
// began from W; W becomes the mean of theirs, weighted by samples. As they share their base, that
// is W plus the mean change, and changes are what is sent. Waits for the slowest of a round.
class FedAvg final : public Aggregator {
 public:
  explicit FedAvg(std::size_t quorum) : quorum_(quorum) {}
  std::string_view name() const override { return "fedavg"; }
  Needs needs() const override { return {.arity = quorum_, .synchronous = true}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_sum(p, updates, shares_by_weight(updates), [](const Chunk& chunk, const float* mean) {
      add_times(chunk.w, mean, 1, chunk.size);
    });
  }

 private:
  std::size_t quorum_;
};

}  // namespace

std::unique_ptr<Aggregator> make_fedavg(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<FedAvg>(quorum(given, workers));
}

}  // namespace souk::train
