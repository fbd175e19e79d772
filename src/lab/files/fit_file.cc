#include "lab/files/fit_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "base/fields.h"
#include "base/text.h"
#include "lab/files/lines.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::fail;
using base::Result;

// --- JSON -------------------------------------------------------------------------------------

struct LossRow {
  double iterations = 0, loss = 0;
  std::optional<double> batch;
  std::optional<std::int32_t> workers;

  SOUK_FIELDS(LossRow, iterations, loss, batch, workers)
};

struct BandwidthRow {
  std::int32_t workers = 0;
  double mb_s = 0;

  SOUK_FIELDS(BandwidthRow, workers, mb_s)
};

struct FitRows {
  std::vector<LossRow> loss;
  std::vector<BandwidthRow> bandwidth;
  std::optional<double> request_mb_s, hub_mb_s;

  SOUK_FIELDS(FitRows, loss, bandwidth, request_mb_s, hub_mb_s)
};

Result<Measurements> measurements_of(const FitRows& rows) {
  Measurements out{.request_mb_s = rows.request_mb_s, .hub_mb_s = rows.hub_mb_s};
  for (const auto& r : rows.loss) out.loss.push_back({r.iterations, r.loss, r.batch, r.workers});
  for (const auto& r : rows.bandwidth) out.bandwidth.push_back({r.workers, r.mb_s});
  if (out.loss.empty() && out.bandwidth.empty())
    return fail(Code::invalid, "there are no measurements", "give \"loss\", \"bandwidth\" or both");
  return out;
}

// --- metrics.csv ------------------------------------------------------------------------------

constexpr std::array<std::string_view, 4> kLossColumns{"version", "samples", "workers", "loss"};

class MetricsReader {
 public:
  explicit MetricsReader(std::string_view name) : name_(name) {}

  Result<> line(std::string_view line, std::size_t n) {
    const auto cells = base::split(line, ',');
    return columns_ == 0 ? header(cells) : row(cells, n);
  }

  [[nodiscard]] Result<Measurements> take() && {
    if (points_.empty())
      return fail(Code::invalid, fmt::format("{}: there are no measurements", name_),
                  "a metrics.csv of `souk results`, or JSON as docs/planning.md shows it");
    const auto workers =
        static_cast<std::int32_t>(std::lround(workers_ / static_cast<double>(points_.size())));
    const auto batch = samples_ / version_;
    for (auto& p : points_) p.workers = std::max(1, workers), p.batch = batch;
    return Measurements{.loss = std::move(points_)};
  }

 private:
  Result<> header(const std::vector<std::string_view>& cells) {
    columns_ = cells.size();
    for (std::size_t i = 0; i < kLossColumns.size(); ++i) {
      const auto at = std::ranges::find(cells, kLossColumns[i]);
      if (at == cells.end())
        return bad_line(name_, 1, fmt::format("there is no column '{}'", kLossColumns[i]),
                        "a metrics.csv of `souk results`, or JSON as docs/planning.md shows it");
      where_[i] = static_cast<std::size_t>(at - cells.begin());
    }
    return {};
  }

  Result<> row(const std::vector<std::string_view>& cells, std::size_t n) {
    if (cells.size() != columns_)
      return bad_line(name_, n, fmt::format("{} cells in a row of {}", cells.size(), columns_));
    std::array<double, kLossColumns.size()> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = number(cells[where_[i]]);
      if (!value || *value < 0)
        return bad_line(
            name_, n, fmt::format("the {} '{}' is not a number", kLossColumns[i], cells[where_[i]]),
            "0 or more");
      values[i] = *value;
    }
    const auto [version, samples, workers, loss] = values;
    if (version <= version_)
      return bad_line(name_, n, fmt::format("version {} after {}", version, version_),
                      "rows are in the order of their epochs");
    points_.push_back({.iterations = (version_ + version) / 2, .loss = loss});
    version_ = version;
    samples_ = samples;
    workers_ += workers;
    return {};
  }

  std::string_view name_;
  std::size_t columns_ = 0;  // 0: no header yet.
  std::array<std::size_t, kLossColumns.size()> where_{};
  std::vector<advisor::LossPoint> points_;
  double version_ = 0, samples_ = 0;  // Of the last row,
  double workers_ = 0;                // and summed over all.
};

Result<> same(std::optional<double>& into, const std::optional<double>& more, std::string_view what,
              std::string_view name) {
  if (into && more && *into != *more)
    return fail(Code::invalid,
                fmt::format("{}: {} is {}, and {} in another file", name, what, *more, *into),
                "fit files of different networks one at a time");
  if (!into) into = more;
  return {};
}

}  // namespace

Result<Measurements> parse_measurements(std::string_view text, std::string_view name) {
  if (base::trim(text).starts_with('{')) {
    SOUK_ASSIGN(const auto rows, base::located(wire::from_json<FitRows>(text), name));
    return base::located(measurements_of(rows), name);
  }
  MetricsReader reader(name);
  SOUK_TRY(for_each_line(
      text, [&](std::string_view line, std::size_t n) { return reader.line(line, n); }));
  return std::move(reader).take();
}

Result<> merge(Measurements& into, Measurements more, std::string_view name) {
  SOUK_TRY(same(into.request_mb_s, more.request_mb_s, "request_mb_s", name));
  SOUK_TRY(same(into.hub_mb_s, more.hub_mb_s, "hub_mb_s", name));
  into.loss.insert(into.loss.end(), more.loss.begin(), more.loss.end());
  into.bandwidth.insert(into.bandwidth.end(), more.bandwidth.begin(), more.bandwidth.end());
  return {};
}

}  // namespace souk::lab
