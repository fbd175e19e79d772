#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Local SGD in rounds that take the same time for everybody: all begin from W, each does as many
// steps as it has time for, and W becomes the mean of theirs, weighted by samples. Who is late is
// left out (train/units/round_clock.h). No momentum is added here: on rounds this short the
// workers' own is enough.
class Rounds final : public Aggregator {
 public:
  Rounds(double seconds, std::int32_t workers) : seconds_(seconds), workers_(workers) {}
  std::string_view name() const override { return "rounds"; }
  Needs needs() const override {
    return {.arity = static_cast<std::size_t>(workers_),
            .synchronous = true,
            .round_s = seconds_,
            .by_clock = true};
  }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_sum(p, updates, shares_by_weight(updates), [](const Chunk& chunk, const float* mean) {
      add_times(chunk.w, mean, 1, chunk.size);
    });
  }

 private:
  double seconds_;
  std::int32_t workers_;
};

}  // namespace

std::unique_ptr<Aggregator> make_rounds(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Rounds>(given.number("seconds"), workers);
}

}  // namespace souk::train
