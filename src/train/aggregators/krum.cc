#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Multi-Krum (Blanchard et al., 2017): of n updates, f = floor(faulty n) of which may be anything,
// each is scored by the sum of its squared distances to the n - f - 2 others nearest to it (at
// least one); the mean of the changes of the `keep` best is added, times eta. Ties go to the one
// that came first. What is not finite is as if it had not come. All count the same. It has no
// memory, so small attacks that agree do pass; and it needs all distances, which takes time with
// the square of the buffer. `keep` is n - f unless given.
class Krum final : public Aggregator {
 public:
  struct Params {
    std::size_t buffer = 1, keep = 0;  // keep 0: n - f.
    double faulty = 0, eta = 0;
  };
  explicit Krum(const Params& params) : params_(params) {}
  std::string_view name() const override { return "krum"; }
  Needs needs() const override { return {.arity = params_.buffer}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto n = updates.size();
    const auto faulty = static_cast<std::size_t>(params_.faulty * static_cast<double>(n) + 1e-9);
    const auto scores = scores_of(p, updates, faulty);
    std::vector<std::pair<double, std::size_t>> ranking;
    for (std::size_t k = 0; k < n; ++k) ranking.emplace_back(scores[k], k);
    std::ranges::sort(ranking);
    auto keep = std::min(n, params_.keep > 0 ? params_.keep : n - faulty);
    while (keep > 0 && !std::isfinite(ranking[keep - 1].first)) --keep;
    std::vector<float> factors(n);
    for (std::size_t i = 0; i < keep; ++i)
      factors[ranking[i].second] = static_cast<float>(params_.eta / static_cast<double>(keep));
    fold_sum(p, updates, factors,
             [](const Chunk& chunk, const float* sum) { add_times(chunk.w, sum, 1, chunk.size); });
  }

 private:
  // Infinite for what is not finite.
  static std::vector<double> scores_of(const Parameters& p, std::span<const Update> updates,
                                       std::size_t faulty) {
    const auto n = updates.size();
    const auto between = distances(p, updates);
    const auto near = n > faulty + 2 ? n - faulty - 2 : 1;
    std::vector<double> scores(n);
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<double> others;
      for (std::size_t j = 0; j < n; ++j)
        if (j != k && between[j * n + j] == 0) others.push_back(between[k * n + j]);
      std::ranges::sort(others);
      others.resize(std::min(near, others.size()));
      scores[k] = std::accumulate(others.begin(), others.end(), between[k * n + k]);
    }
    return scores;
  }

  // Squared, n x n; on the diagonal 0, or infinity where an update is not finite.
  static std::vector<double> distances(const Parameters& p, std::span<const Update> updates) {
    const auto n = updates.size();
    std::vector<double> out(n * n);
    std::vector<float> scratch(n * kChunk);
    std::vector<std::span<const float>> values(n);
    for (std::size_t i = 0; i < p.count(); ++i)
      for (std::size_t from = 0; from < p.block(i).size(); from += kChunk) {
        for (std::size_t k = 0; k < n; ++k)
          values[k] = updates[k].chunk(i, from, std::span(scratch).subspan(k * kChunk, kChunk));
        for (std::size_t k = 0; k < n; ++k) {
          out[k * n + k] += sum_of_squares(values[k].data(), values[k].size());
          for (std::size_t j = 0; j < k; ++j)
            out[k * n + j] += square_distance(values[k].data(), values[j].data(), values[k].size());
        }
      }
    constexpr auto kInfinite = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < n; ++k) {
      out[k * n + k] = std::isfinite(out[k * n + k]) ? 0 : kInfinite;
      for (std::size_t j = 0; j < k; ++j) {
        auto& d = out[k * n + j];
        if (!std::isfinite(d)) d = kInfinite;
        out[j * n + k] = d;
      }
    }
    return out;
  }

  Params params_;
};

}  // namespace

std::unique_ptr<Aggregator> make_krum(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<Krum>(Krum::Params{.buffer = robust_buffer(given, workers),
                                             .keep = given.whole_or("keep", 0),
                                             .faulty = given.number("faulty"),
                                             .eta = given.number("eta")});
}

}  // namespace souk::train
