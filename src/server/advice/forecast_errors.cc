#include "server/advice/forecast_errors.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "lab/report/statistics.h"
#include "wire/api/plan.h"
#include "wire/json.h"

namespace souk::server {
namespace {

constexpr std::size_t kSizesKept = 1'000;

}  // namespace

void ForecastErrors::recall(const market::State& state) {
  for (const auto& [key, known] : state.profiles)
    if (const auto profile = wire::from_json<wire::Profile>(known.text))
      for (const auto error : profile->errors) add(error);
}

void ForecastErrors::add(double error) {
  sizes_.push_back(std::abs(error));
  if (sizes_.size() > kSizesKept) sizes_.pop_front();
}

std::optional<double> ForecastErrors::quantile(double share) const {
  if (sizes_.empty()) return std::nullopt;
  std::vector<double> sorted(sizes_.begin(), sizes_.end());
  std::ranges::sort(sorted);
  return lab::quantile_of(sorted, share);
}

}  // namespace souk::server
