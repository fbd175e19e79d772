#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Centered clipping (Karimireddy, He and Jaggi, 2021), one iteration a fold: every `buffer` updates
// of changes D_k, with the plane v the estimate of the fold before (zero at first),
//   v <- v + mean_k (D_k - v) min(1, r / |D_k - v|),  W <- W + eta v.
// The radius r is `clip` times the median of the distances |D_k - v|, so it follows the scale of
// the changes, and a minority cannot set it. As v remembers, attacks that stay small but agree from
// fold to fold are bounded too, which aggregators without memory cannot do. What is not finite is
// left out. All count the same: samples are what workers say they are.
class CenteredClip final : public Aggregator {
 public:
  CenteredClip(std::size_t buffer, double clip, double eta)
      : buffer_(buffer), clip_(clip), eta_(static_cast<float>(eta)) {}
  std::string_view name() const override { return "centered-clip"; }
  Needs needs() const override { return {.planes = 1, .arity = buffer_}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto factors = factors_of(distances(p, updates));
    // v + sum f_k (D_k - v) = (1 - sum f_k) v + sum f_k D_k.
    double total = 0;
    for (const auto f : factors) total += static_cast<double>(f);
    const auto keep = static_cast<float>(1 - total);
    fold_sum(p, updates, factors, [&](const Chunk& chunk, const float* sum) {
      follow(chunk.w, chunk.plane[0], sum, keep, eta_, chunk.size);
    });
  }

 private:
  static std::vector<double> distances(const Parameters& p, std::span<const Update> updates) {
    std::vector<double> squares(updates.size());
    std::vector<float> scratch(kChunk);
    for (std::size_t i = 0; i < p.count(); ++i) {
      const auto v = p.plane(0, i);
      for (std::size_t from = 0; from < v.size(); from += kChunk)
        for (std::size_t k = 0; k < updates.size(); ++k) {
          const auto values = updates[k].chunk(i, from, scratch);
          squares[k] += square_distance(values.data(), v.data() + from, values.size());
        }
    }
    for (auto& s : squares) s = std::sqrt(s);
    return squares;
  }

  [[nodiscard]] std::vector<float> factors_of(const std::vector<double>& distances) const {
    std::vector<double> finite;
    for (const auto d : distances)
      if (std::isfinite(d)) finite.push_back(d);
    std::vector<float> out(distances.size());
    if (finite.empty()) return out;
    const auto middle = finite.begin() + static_cast<std::ptrdiff_t>((finite.size() - 1) / 2);
    std::ranges::nth_element(finite, middle);
    const auto radius = clip_ * *middle;
    for (std::size_t k = 0; k < out.size(); ++k)
      if (std::isfinite(distances[k]))
        out[k] = static_cast<float>((distances[k] > radius ? radius / distances[k] : 1) /
                                    static_cast<double>(finite.size()));
    return out;
  }

  std::size_t buffer_;
  double clip_;
  float eta_;
};

}  // namespace

std::unique_ptr<Aggregator> make_centered_clip(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<CenteredClip>(robust_buffer(given, workers), given.number("clip"),
                                        given.number("eta"));
}

}  // namespace souk::train
