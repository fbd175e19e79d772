#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

// Adds each change D as it comes, but none longer than `clip` times the usual length s:
//   W <- W + eta D min(1, clip s / |D|),  s <- s + (min(|D|, clip s) - s) / memory
// with s the length of the first change at first. What is zero says nothing of s, and what is not
// finite is left out. So one worker cannot do more harm than `clip` good ones; but as it acts on
// each alone, it cannot tell good directions from bad: for that, centered-clip, trimmed-mean or
// krum, which need several at once. s lies in the first number of a plane whose others stay zero.
class NormClip final : public Aggregator {
 public:
  NormClip(double clip, double eta, double memory) : clip_(clip), eta_(eta), memory_(memory) {}
  std::string_view name() const override { return "norm-clip"; }
  Needs needs() const override { return {.planes = 1, .whole = true}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    auto usual = p.plane(0, 0)[0];
    std::vector<float> factors;
    for (const auto& u : updates) factors.push_back(factor(u, usual));
    p.change_plane(0, 0)[0] = usual;
    fold_each(p, updates, [&](std::size_t k, const Chunk& chunk, const float* change) {
      if (factors[k] != 0) add_times(chunk.w, change, factors[k], chunk.size);
    });
  }

 private:
  // By what to multiply `u`; `usual` becomes what it is after it.
  float factor(const Update& u, float& usual) const {
    const auto norm = u.norm >= 0 ? u.norm : stats_of(u).norm;
    if (norm == 0 || !std::isfinite(norm)) return 0;
    if (usual == 0) usual = static_cast<float>(norm);
    const auto most = clip_ * static_cast<double>(usual), clipped = std::min(norm, most);
    usual += static_cast<float>((clipped - static_cast<double>(usual)) / memory_);
    return static_cast<float>(eta_ * clipped / norm);
  }

  double clip_, eta_, memory_;
};

}  // namespace

std::unique_ptr<Aggregator> make_norm_clip(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<NormClip>(given.number("clip"), given.number_or("eta", 1.0 / workers),
                                    given.number("memory"));
}

}  // namespace souk::train
