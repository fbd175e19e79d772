#pragma once

#include <deque>
#include <optional>

#include "market/state.h"

namespace souk::server {

// How far the market's last forecasts of trainings were off: a metric of the market. On the core
// thread.
class ForecastErrors {
 public:
  // Begins with what profiles remember, so that it survives a restart.
  void recall(const market::State& state);
  // Time it took / time forecast - 1.
  void add(double error);
  [[nodiscard]] std::size_t count() const { return sizes_.size(); }
  // Of the sizes of the last errors; nothing before the first.
  [[nodiscard]] std::optional<double> quantile(double share) const;

 private:
  std::deque<double> sizes_;
};

}  // namespace souk::server
