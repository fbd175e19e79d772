#include "train/aggregators/fold.h"
#include "train/aggregators/rules.h"

namespace souk::train {
namespace {

// FedAvg (McMahan et al., 2017), also known as local SGD: a round of `quorum` workers that all
// began from W; W becomes the mean of theirs, weighted by samples. As they share their base, that
// is W plus the mean change, and changes are what is sent. Params: quorum, all workers unless
// given. Waits for the slowest of a round.
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

base::Result<std::unique_ptr<Aggregator>> make_fedavg(const AggregatorSpec& spec) {
  SOUK_ASSIGN(const auto quorum, quorum_param(spec));
  return std::make_unique<FedAvg>(quorum);
}

}  // namespace souk::train
