#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/report/summary.h"

// One page that shows an experiment: no scripts, nothing loaded from elsewhere, light or dark as
// the reader prefers, readable on a phone. Made from an experiment's two files alone, so it can be
// made again from them.

namespace souk::lab {

// Prices of one mechanism over time, all seeds together.
struct PriceSeries {
  std::string mechanism;
  struct Point {
    double time = 0;
    double mean = 0, deviation = 0;
  };
  std::vector<Point> points;
};

// Reads the text of a trades.csv. Errors name the line.
[[nodiscard]] Result<std::vector<PriceSeries>> price_series(std::string_view trades_csv,
                                                            std::string_view name);

[[nodiscard]] std::string report_html(const Summary& summary,
                                      const std::vector<PriceSeries>& prices);

// "12.3% ± 0.4%", "0.0123", "1h5m": a metric for people.
[[nodiscard]] std::string metric_text(const MetricName& metric, const Estimate& estimate);

}  // namespace souk::lab
