#include "hub/run/tail_average.h"

#include <utility>

namespace souk::hub {

base::Result<> TailAverage::folded(double work) {
  if (!wanted_ || !average_.due(work)) return {};
  SOUK_ASSIGN(const auto now, store_.take());
  if (now.size() * sizeof(float) <= kMost) average_.add(now, work);
  return {};
}

base::Result<train::ParameterSnapshot> TailAverage::take(double work) {
  SOUK_ASSIGN(auto now, store_.take());
  if (!wanted_ || now.size() * sizeof(float) > kMost) return now;
  average_.add(now, work);
  now.blocks = average_.blocks();
  return now;
}

void TailAverage::save(SnapshotHead& head, SavedParameters& parameters) const {
  if (average_.empty()) return;
  head.averaged = average_.work();
  parameters.planes.push_back(average_.blocks());
  head.planes = static_cast<std::int32_t>(parameters.planes.size());
}

void TailAverage::restore(SnapshotHead& head, SavedParameters& parameters) {
  const auto work = std::exchange(head.averaged, 0);
  if (work <= 0 || parameters.planes.empty()) return;
  if (wanted_) average_.restore(std::move(parameters.planes.back()), work);
  parameters.planes.pop_back();
  head.planes = static_cast<std::int32_t>(parameters.planes.size());
}

}  // namespace souk::hub
