#include "mechanism/sharing/cheapest.h"

#include <algorithm>

#include "base/check.h"

namespace souk::mechanism {

Cheapest::Cheapest(Lots asks) : asks_(std::move(asks)) {
  ends_.reserve(asks_.size());
  std::int64_t end = 0;
  for (const auto& ask : asks_) ends_.push_back(end += ask.units);
}

std::int64_t Cheapest::left_up_to(Credits price) const {
  if (at_ == asks_.size() || asks_[at_].price > price) return 0;
  const auto first = asks_.begin() + static_cast<std::ptrdiff_t>(at_);
  const auto beyond = std::ranges::upper_bound(first, asks_.end(), price, {}, &Lot::price);
  return ends_[static_cast<std::size_t>(beyond - asks_.begin()) - 1] - taken_;
}

void Cheapest::take(std::int64_t units) {
  CHECK(units >= 0 && units <= total() - taken_);
  taken_ += units;
  while (at_ < asks_.size() && ends_[at_] <= taken_) ++at_;
}

}  // namespace souk::mechanism
