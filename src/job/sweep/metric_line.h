#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// How the program of a trial says how well it does: a line of its output,
//
//   SOUK_METRIC epoch=3 accuracy=0.913 loss=0.31
//
// The epoch may be left out: lines are counted then. Pure; reads what strangers print.

namespace souk::job {

struct MetricReport {
  std::optional<std::int32_t> epoch;
  std::optional<double> value;  // Absent: it was no finite number.
};

// What `line` reports of `metric`. Nothing: it is no such line, or does not name the metric.
[[nodiscard]] std::optional<MetricReport> read_metric_line(std::string_view line,
                                                           std::string_view metric);

}  // namespace souk::job
