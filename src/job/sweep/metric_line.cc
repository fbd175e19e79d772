#include "job/sweep/metric_line.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "base/text.h"

namespace souk::job {
namespace {

constexpr std::string_view kMark = "SOUK_METRIC ";
constexpr std::int32_t kMostEpochs = 1'000'000;

// "nan" and what is no number at all is nothing.
std::optional<double> number_of(std::string_view text) {
  double out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(out))
    return std::nullopt;
  return out;
}

}  // namespace

std::optional<MetricReport> read_metric_line(std::string_view line, std::string_view metric) {
  if (!line.starts_with(kMark)) return std::nullopt;
  std::optional<std::int32_t> epoch;
  std::optional<MetricReport> out;
  for (const auto word : base::split(line.substr(kMark.size()), ' ')) {
    const auto equals = word.find('=');
    if (equals == std::string_view::npos) continue;
    const auto name = word.substr(0, equals), value = word.substr(equals + 1);
    if (name == metric) out = MetricReport{{}, number_of(value)};
    if (name == "epoch")
      if (const auto n = number_of(value); n && *n >= 0 && *n <= kMostEpochs)
        epoch = static_cast<std::int32_t>(*n);
  }
  if (out) out->epoch = epoch;
  return out;
}

}  // namespace souk::job
