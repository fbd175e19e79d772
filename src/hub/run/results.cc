#include "hub/run/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "wire/api_json.h"
#include "wire/safetensors.h"

namespace souk::hub {
namespace {

std::string model_file(const train::Layout& layout, const train::Blocks& parameters) {
  std::vector<wire::SafeTensor> tensors;
  for (const auto& t : layout.tensors)
    tensors.push_back({.name = t.name, .dtype = "F32", .shape = t.shape});
  auto out = wire::safetensors_head(std::move(tensors));
  out.reserve(out.size() + layout.size() * sizeof(float));
  for (const auto& block : parameters)
    out.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
  return out;
}

std::string metrics_csv(const wire::Training& training) {
  std::string out =
      "epoch,seconds,samples,version,loss,validation_loss,accuracy,accuracy_mean,accuracy_low,"
      "accuracy_high,workers\n";
  for (const auto& r : training.rows)
    out += fmt::format("{},{:.3f},{},{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{}\n", r.epoch,
                       r.at.seconds(), r.samples, r.version, r.loss, r.validation_loss, r.accuracy,
                       r.mean, r.low, r.high, r.workers);
  return out;
}

// Where a value lies on the picture.
struct Frame {
  static constexpr double kLeft = 56, kTop = 40, kWidth = 560, kHeight = 280;
  double epochs, low, high;
  [[nodiscard]] double x(double epoch) const {
    return kLeft + kWidth * (epochs <= 1 ? 0.5 : (epoch - 1) / (epochs - 1));
  }
  [[nodiscard]] double y(double value) const {
    return kTop + kHeight * (1 - (value - low) / (high - low));
  }
};

}  // namespace

std::string curve_svg(const wire::Training& training) {
  const auto& rows = training.rows;
  double low = 1, high = 0;
  for (const auto& r : rows) {
    low = std::min(low, r.low);
    high = std::max(high, r.high);
  }
  if (training.target) {
    low = std::min(low, *training.target);
    high = std::max(high, *training.target);
  }
  if (rows.empty()) low = 0, high = 1;
  // Down to the next tenth, or, near the top, the next hundredth.
  const auto grid = high - low < 0.1 ? 0.01 : 0.1;
  low = std::max(0.0, std::floor(low / grid - 1e-9) * grid);
  high = std::min(1.0, std::ceil(high / grid + 1e-9) * grid);
  if (high <= low) high = low + grid;
  const Frame f{rows.empty() ? 1.0 : rows.back().epoch, low, high};
  std::string out =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 640 360\" role=\"img\" "
      "aria-label=\"accuracy by epoch\">\n<style>text{font:12px sans-serif;fill:#333}"
      ".grid{stroke:#ddd}.band{fill:#2b6cb0;opacity:.18}.line{fill:none;stroke:#2b6cb0;"
      "stroke-width:2}.dot{fill:#2b6cb0}.target{stroke:#c05621;stroke-dasharray:5 4}"
      "@media(prefers-color-scheme:dark){text{fill:#ddd}.grid{stroke:#444}.line{stroke:#63b3ed}"
      ".dot,.band{fill:#63b3ed}}</style>\n";
  out += fmt::format("<text x=\"56\" y=\"22\">accuracy by epoch, rule {}, {} epochs</text>\n",
                     training.rule, rows.size());
  const auto lines = std::lround((high - low) / grid);
  for (long i = 0; i <= lines; i += std::max(1L, lines / 10)) {
    const auto value = low + static_cast<double>(i) * grid;
    out += fmt::format(
        "<line class=\"grid\" x1=\"56\" x2=\"616\" y1=\"{0:.1f}\" y2=\"{0:.1f}\"/>"
        "<text x=\"50\" y=\"{1:.1f}\" text-anchor=\"end\">{2:.{3}f}</text>\n",
        f.y(value), f.y(value) + 4, value, grid < 0.05 ? 2 : 1);
  }
  std::string up, down, line;
  for (const auto& r : rows) {
    up += fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(r.high));
    down = fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(r.low)) + down;
    line += fmt::format("{:.1f},{:.1f} ", f.x(r.epoch), f.y(r.mean));
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
                       f.x(rows[i].epoch), f.y(rows[i].mean));
    if (i % step == 0)
      out += fmt::format("<text x=\"{:.1f}\" y=\"340\" text-anchor=\"middle\">{}</text>",
                         f.x(rows[i].epoch), rows[i].epoch);
  }
  return out + "\n</svg>\n";
}

std::map<std::string, std::string> result_files(const wire::Train& spec,
                                                const wire::Training& training,
                                                const train::Layout& layout,
                                                const train::Blocks& parameters) {
  std::string config = "{";
  for (const auto& [name, value] : spec.config)
    config += fmt::format("{}{}:{}", config.size() > 1 ? "," : "", wire::to_json(name), value);
  return {{"model.safetensors", model_file(layout, parameters)},
          {"metrics.csv", metrics_csv(training)},
          {"metrics.json", wire::to_json(training)},
          {"curve.svg", curve_svg(training)},
          {"trainer.json", config + "}"}};
}

}  // namespace souk::hub
