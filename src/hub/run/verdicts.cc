#include "hub/run/verdicts.h"

#include <utility>

#include "base/check.h"

namespace souk::hub {

void Verdicts::add(base::LeaseId worker, std::int64_t unit, wire::UnitVerdict verdict) {
  const bool first = by_unit_.emplace(unit, FirstVerdict{worker, std::move(verdict)}).second;
  CHECK(first);
  if (by_unit_.size() > most_) by_unit_.erase(by_unit_.begin());
}

const wire::UnitVerdict* Verdicts::find(base::LeaseId worker, std::int64_t unit) const {
  const auto it = by_unit_.find(unit);
  return it == by_unit_.end() || it->second.worker != worker ? nullptr : &it->second.verdict;
}

}  // namespace souk::hub
