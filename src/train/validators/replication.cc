#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "train/lanes.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

// Two answers may differ by this part of the longer. Rounding makes runs of some hundred steps
// differ by less than 1e-2, int8 adds as much; runs on other data or seeds differ by about 1.
constexpr double kRounding = 0.1;

}  // namespace

bool Replication::check(std::int64_t consecutive_valid, base::Random& random) const {
  const auto share = consecutive_valid < trusted_after_
                         ? newcomers_
                         : std::min(newcomers_, 1.0 / static_cast<double>(consecutive_valid));
  constexpr std::uint64_t kParts = 1'000'000;
  return random.below(kParts) < static_cast<std::uint64_t>(share * kParts + 0.5);
}

bool Replication::agree(const Update& a, const Update& b) {
  CHECK(a.size() == b.size());
  std::vector<float> one(kChunk), other(kChunk);
  double distance = 0, square_a = 0, square_b = 0;
  for (std::size_t i = 0; i < a.count(); ++i) {
    const auto size = std::min(kBlock, a.size() - i * kBlock);
    for (std::size_t from = 0; from < size; from += kChunk) {
      const auto x = a.chunk(i, from, one), y = b.chunk(i, from, other);
      distance += square_distance(x.data(), y.data(), x.size());
      square_a += sum_of_squares(x.data(), x.size());
      square_b += sum_of_squares(y.data(), y.size());
    }
  }
  // Not true of anything that is no number.
  return distance <= kRounding * kRounding * std::max(square_a, square_b) &&
         std::isfinite(distance);
}

}  // namespace souk::train
