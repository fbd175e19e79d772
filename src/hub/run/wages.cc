#include "hub/run/wages.h"

#include <algorithm>
#include <utility>

namespace souk::hub {

void Wages::restore(std::vector<Wage> owed, std::int64_t next, std::int64_t paid_through) {
  owed_ = std::move(owed);
  next_ = std::max(next, std::int64_t{1});
  if (!owed_.empty()) next_ = std::max(next_, owed_.back().number + 1);
  acknowledge(paid_through);
  next_ = std::max(next_, paid_through + 1);
}

void Wages::add(Wage wage) {
  wage.number = next_++;
  owed_.push_back(wage);
}

void Wages::acknowledge(std::int64_t number) {
  const auto unpaid = std::ranges::upper_bound(owed_, number, {}, &Wage::number);
  owed_.erase(owed_.begin(), unpaid);
}

}  // namespace souk::hub
