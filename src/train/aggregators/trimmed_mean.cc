#include <cmath>

#include "train/aggregators/fold.h"
#include "train/aggregators/makers.h"

namespace souk::train {
namespace {

// Coordinate-wise trimmed mean (Yin et al., 2018): every `buffer` updates, for each number of the
// parameters the mean of its changes without the ceil(trim n) largest and as many smallest (as many
// as leave one at least), times eta. A change that is no number counts as zero. All count the same:
// samples are what workers say they are. It has no memory, so small attacks that agree from fold to
// fold do pass.
class TrimmedMean final : public Aggregator {
 public:
  TrimmedMean(std::size_t buffer, double trim, double eta)
      : buffer_(buffer), trim_(trim), eta_(eta) {}
  std::string_view name() const override { return "trimmed-mean"; }
  Needs needs() const override { return {.arity = buffer_}; }

  void fold(Parameters& p, std::span<const Update> updates) const override {
    const auto n = updates.size();
    for (const auto& u : updates) CHECK(u.size() == p.size());
    // A hair less, so that 0.2 x 5 is 1 however it is rounded.
    const auto cut = std::min(
        (n - 1) / 2, static_cast<std::size_t>(std::ceil(trim_ * static_cast<double>(n) - 1e-9)));
    const auto by = static_cast<float>(eta_ / static_cast<double>(n - 2 * cut));
    std::vector<float> scratch(n * kChunk), columns(n * kStrip);
    std::vector<const float*> values(n);
    for_each_chunk(p, 1, [&](const Chunk& chunk) {
      for (std::size_t k = 0; k < n; ++k)
        values[k] =
            updates[k]
                .chunk(chunk.block, chunk.from, std::span(scratch).subspan(k * kChunk, kChunk))
                .data();
      for (std::size_t from = 0; from < chunk.size; from += kStrip)
        add_trimmed({values, cut, by}, from, std::min(kStrip, chunk.size - from), columns.data(),
                    chunk.w + from);
    });
  }

 private:
  struct Strip {
    std::span<const float* const> values;
    std::size_t cut;
    float by;
  };

  static void add_trimmed(const Strip& strip, std::size_t from, std::size_t size, float* columns,
                          float* w) {
    const auto n = strip.values.size();
    if (size < kStrip) std::fill_n(columns, n * kStrip, 0.F);
    for (std::size_t k = 0; k < n; ++k)
      copy_numbers(columns + k * kStrip, strip.values[k] + from, size);
    std::array<float, kStrip> sum;
    sum_trimmed(columns, n, strip.cut, sum.data());
    add_times(w, sum.data(), strip.by, size);
  }

  std::size_t buffer_;
  double trim_, eta_;
};

}  // namespace

std::unique_ptr<Aggregator> make_trimmed_mean(const base::Arguments& given, std::int32_t workers) {
  return std::make_unique<TrimmedMean>(robust_buffer(given, workers), given.number("trim"),
                                       given.number("eta"));
}

}  // namespace souk::train
