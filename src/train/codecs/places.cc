#include "train/codecs/places.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace souk::train {
namespace {

float size_of(float v) {
  return std::isnan(v) ? std::numeric_limits<float>::infinity() : std::abs(v);
}

}  // namespace

Largest::Largest(std::span<const float> block, double share) {
  const auto count =
      static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(block.size()))));
  std::vector<float> sizes(block.size());
  std::ranges::transform(block, sizes.begin(), size_of);
  const auto nth = sizes.begin() + static_cast<std::ptrdiff_t>(count - 1);
  std::ranges::nth_element(sizes, nth, std::greater<>());
  least_ = *nth;
  // What is larger lies before it now.
  most_ = *std::max_element(sizes.begin(), nth + 1);
  ties_ = count - static_cast<std::size_t>(
                      std::count_if(sizes.begin(), nth, [&](float v) { return v > least_; }));
}

bool Largest::take(float value) {
  const auto size = size_of(value);
  if (size < least_ || size == 0) return false;
  if (size > least_) return true;
  if (ties_ == 0) return false;
  --ties_;
  return true;
}

bool are_gaps(std::string_view gaps, std::size_t values, std::size_t size) {
  std::size_t next = 0, places = 0;
  for (const auto gap : gaps) {
    const auto skipped = static_cast<unsigned char>(gap);
    next += skipped == kSkip ? kSkip : skipped + 1U;
    places += skipped == kSkip ? 0 : 1;
  }
  return places == values && next <= size;
}

}  // namespace souk::train
