#include "hub/run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include "hub/run/event_file.h"
#include "wire/json.h"
#include "wire/safetensors.h"

namespace souk::hub {
namespace {

// What the rows' mean, low and high are of.
std::string figure_name(const wire::Training& training) {
  return training.figure ? training.figure->name : "accuracy";
}

std::string cell(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : std::string();
}

// The accuracy has its own columns where the checks are judged by it; every other metric that
// occurs has one at the end.
std::string metrics_csv(const wire::Training& training) {
  const auto figure = figure_name(training);
  std::set<std::string> names;
  for (const auto& r : training.rows)
    for (const auto& [name, _] : r.metrics) names.insert(name);
  const bool accuracy = figure == "accuracy";
  if (accuracy) names.erase("accuracy");
  auto out = fmt::format(
      "epoch,seconds,samples,version,loss,validation_loss,{1}{0}_mean,{0}_low,{0}_high,workers",
      figure == "loss" ? "validation_loss" : figure, accuracy ? "accuracy," : "");
  for (const auto& name : names) out += "," + name;
  out += "\n";
  for (const auto& r : training.rows) {
    out += fmt::format("{},{:.3f},{},{},{:.6g},{:.6g},{}{},{},{},{}", r.epoch, r.at.seconds(),
                       r.samples, r.version, r.loss, r.validation_loss,
                       accuracy ? cell(r.accuracy) + "," : "", cell(r.mean), cell(r.low),
                       cell(r.high), r.workers);
    for (const auto& name : names) {
      const auto it = r.metrics.find(name);
      out += "," + (it == r.metrics.end() ? std::string() : cell(it->second));
    }
    out += "\n";
  }
  return out;
}

struct Axis {
  double low = 0, high = 1, grid = 0.1;
  // As many digits as tell two lines of the grid apart.
  [[nodiscard]] std::string text(double value) const {
    const auto digits = std::clamp<long>(-std::lround(std::floor(std::log10(grid) + 1e-9)), 0, 9);
    return high < 1e6 ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.3g}", value);
  }
};

// 1, 2 or 5 times a power of ten: about ten lines.
double grid_for(double range) {
  const auto power = std::pow(10, std::floor(std::log10(range / 10)));
  for (const auto factor : {1, 2, 5})
    if (range / (factor * power) <= 10) return factor * power;
  return 10 * power;
}

Axis axis_for(const wire::Training& training, const std::vector<wire::TrainRow>& rows) {
  if (rows.empty()) return {};
  Axis out{.low = *rows.front().low, .high = *rows.front().high};
  for (const auto& r : rows) {
    out.low = std::min(out.low, *r.low);
    out.high = std::max(out.high, *r.high);
  }
  if (training.target) {
    out.low = std::min(out.low, *training.target);
    out.high = std::max(out.high, *training.target);
  }
  const bool share = figure_name(training) == "accuracy";
  const auto range = std::max(out.high - out.low, 1e-6 * std::max(std::abs(out.high), 1.0));
  // Down to the next tenth, or, near the top, the next hundredth.
  out.grid = !share ? grid_for(range) : range < 0.1 ? 0.01 : 0.1;
  out.low = std::floor(out.low / out.grid - 1e-9) * out.grid;
  out.high = std::ceil(out.high / out.grid + 1e-9) * out.grid;
  if (share) out.low = std::max(0.0, out.low), out.high = std::min(1.0, out.high);
  if (out.high <= out.low) out.high = out.low + out.grid;
  return out;
}

// Where a value lies on the picture.
struct Frame {
  static constexpr double kLeft = 56, kTop = 40, kWidth = 560, kHeight = 280;
  double epochs;
  Axis axis;
  [[nodiscard]] double x(double epoch) const {
    return kLeft + kWidth * (epochs <= 1 ? 0.5 : (epoch - 1) / (epochs - 1));
  }
  [[nodiscard]] double y(double value) const {
    return kTop + kHeight * (1 - (value - axis.low) / (axis.high - axis.low));
  }
};

std::string grid_svg(const Frame& f) {
  std::string out;
  const auto lines = std::lround((f.axis.high - f.axis.low) / f.axis.grid);
  for (long i = 0; i <= lines; i += std::max(1L, lines / 10)) {
    const auto value = f.axis.low + static_cast<double>(i) * f.axis.grid;
    out += fmt::format(
        "<line class=\"grid\" x1=\"56\" x2=\"616\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
        "<text x=\"50\" y=\"{1:.1f}\" text-anchor=\"end\">{2}</text>\n",
        f.y(value), f.y(value) + 4, f.axis.text(value));
  }
  return out;
}

}  // namespace

std::string curve_svg(const wire::Training& training) {
  std::vector<wire::TrainRow> rows;
  std::ranges::copy_if(training.rows, std::back_inserter(rows),
                       [](const auto& r) { return r.mean && r.low && r.high; });
  const Frame f{rows.empty() ? 1.0 : rows.back().epoch, axis_for(training, rows)};
  auto out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" role=\"img\" "
      "aria-label=\"{} by epoch\">\n",
      figure_name(training));
  out +=
      "<style>text{font:12px sans-serif;fill:#333}"
      ".grid{stroke:#ddd}.band{fill:#2b6cb0;opacity:.18}.line{fill:none;stroke:#2b6cb0;"
      "stroke-width:2}.dot{fill:#2b6cb0}.target{stroke:#c05621;stroke-dasharray:5 4}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.line{stroke:#63b3ed}"
      ".dot,.band{fill:#63b3ed}}</style>\n";
  out += fmt::format("<text x=\"56\" y=\"22\">{} by epoch, rule {}, {} epochs</text>\n",
                     figure_name(training), training.rule, rows.size());
  out += grid_svg(f);
  std::string up, down, line;
  for (const auto& r : rows) {
    up += fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(*r.high));
    down = fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(*r.low)) + down;
    line += fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(*r.mean));
  }
  if (training.target)
    out +=
        fmt::format("<line class=\"target\" x1=\"56\" x2=\"616\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>\n",
                    f.y(*training.target));
  if (rows.size() > 1)
    out += fmt::format(
        "<polygon class=\"band\" points=\"{}{}\"/><polyline class=\"line\" "
        "points=\"{}\"/>\n",
        up, down, line);
  const auto step = std::max<std::size_t>(1, rows.size() / 12);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out += fmt::format("<circle class=\"dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"/>",
                       f.x(rows[i].epoch), f.y(*rows[i].mean));
    if (i % step == 0)
      out += fmt::format("<text x=\"{:.1f}\" y=\"340\" text-anchor=\"middle\">{}</text>",
                         f.x(rows[i].epoch), rows[i].epoch);
  }
  return out + "\n</svg>\n";
}

std::map<std::string, std::string> result_files(const wire::Train& spec,
                                                const wire::Training& training) {
  std::string config = "{";
  for (const auto& [name, value] : spec.config)
    config += fmt::format("{}{}:{}", config.size() > 1 ? "," : "", wire::to_json(name), value);
  return {{"metrics.csv", metrics_csv(training)},
          {"metrics.json", wire::to_json(training)},
          {"curve.svg", curve_svg(training)},
          {std::string(kEventFile), event_file(training)},
          {"trainer.json", config + "}"}};
}

base::Result<> write_model(const train::Layout& layout, const train::Blocks& parameters,
                           blob::FolderWriter& to) {
  std::vector<wire::SafeTensor> tensors;
  for (const auto& t : layout.tensors)
    tensors.push_back({.name = t.name, .dtype = "F32", .shape = t.shape});
  SOUK_TRY(to.add("model.safetensors", wire::safetensors_head(std::move(tensors))));
  for (const auto& block : parameters) {
    SOUK_TRY(
        to.append({reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float)}));
    block->let_go();
  }
  return {};
}

}  // namespace souk::hub
