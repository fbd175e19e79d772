#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// DC-ASGD (Zheng et al., 2017): W <- W - lr (g + lambda g*g*(W - Wb)), with Wb the base of the
// worker; the second term approximates how the gradient changed from Wb to W. Workers send the
// change D of several steps; taking D = -lr g, that is
//   plain:     W <- W + D - c,  c = (lambda / lr) D*D*(W - Wb)
//   adaptive:  c = lambda D*D*(W - Wb) / sqrt(m),  m <- 0.95 m + 0.05 D*D
// where lr drops out of the second, so it needs no knowledge of the workers. It was derived for
// single gradients; so that it stays sound for long changes, c is kept within -|D| and |D|: the
// correction at most stops a step or doubles it.
class DcAsgd final : public Aggregator {
 public:
  DcAsgd(bool adaptive, double lambda) : adaptive_(adaptive), by_(static_cast<float>(lambda)) {}
  std::string_view name() const override { return "dc-asgd"; }
  Needs needs() const override { return {.planes = adaptive_ ? 1UL : 0UL, .base = true}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    for (const auto& u : updates) CHECK(u.base.size() == p.count());
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* change) {
      const auto* base = updates[k].base[chunk.block]->data() + chunk.from;
      if (adaptive_)
        correct_adaptively(chunk.w, chunk.plane[0], change, base, by_, chunk.size);
      else
        correct(chunk.w, change, base, by_, chunk.size);
    });
  }

 private:
  bool adaptive_;
  float by_;  // lambda / lr, or lambda.
};

}  // namespace

std::unique_ptr<Aggregator> make_dc_asgd(const base::Arguments& given, std::int32_t /*workers*/) {
  const bool adaptive = given.whole("adaptive") == 1;
  const auto lambda = given.number_or("lambda", adaptive ? 2 : 0.04);
  return std::make_unique<DcAsgd>(adaptive, adaptive ? lambda : lambda / given.number("lr"));
}

}  // namespace souk::train
