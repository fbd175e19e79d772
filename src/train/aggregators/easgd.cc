#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// The hub's part of elastic averaging SGD (Zhang, Choromanska and LeCun, 2015): for each worker's
// parameters Wc, W <- W + alpha (Wc - W).
//
// In the paper the worker too moves, by the same difference the other way, and otherwise goes on
// from its own parameters, so that workers explore. Here workers keep nothing and begin each unit
// from the hub's parameters: the elastic pull on the worker becomes a full return, exploration is
// lost, and what is left is averaging with a small constant weight. For workers that may vanish.
class Easgd final : public Aggregator {
 public:
  explicit Easgd(double alpha) : alpha_(static_cast<float>(alpha)) {}
  std::string_view name() const override { return "easgd"; }
  Needs needs() const override { return {.sends = Sends::weights}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    fold_each(p, updates, [&](std::size_t, const Chunk& chunk, const float* weights) {
      move_towards(chunk.w, weights, alpha_, chunk.size);
    });
  }

 private:
  float alpha_;
};

}  // namespace

std::unique_ptr<Aggregator> make_easgd(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Easgd>(given.number_or("alpha", 0.9 / workers));
}

}  // namespace souk::train
