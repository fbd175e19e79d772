#include "cli/commands/sweep_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>
#include <vector>

#include "wire/json.h"

namespace souk::cli {
namespace {

constexpr double kLeft = 60, kTop = 50, kBottom = 300, kBetween = 140;

// Text in XML; what is no character there is left out.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

std::string without_quotes(const std::string& json) {
  return wire::from_json<std::string>(json).value_or(json);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

// Where values of one kind stand, from 0 to 1: numbers by size, words one after the other.
class Axis {
 public:
  Axis(std::string name, bool log, const std::vector<std::string>& values)
      : name_(std::move(name)), log_(log), words_(values) {
    std::ranges::sort(words_);
    words_.erase(std::ranges::unique(words_).begin(), words_.end());
    for (const auto& word : words_)
      if (const auto number = wire::from_json<double>(word)) numbers_.push_back(*number);
    if (numbers_.size() != words_.size()) numbers_.clear();  // Then they are words.
    std::ranges::sort(numbers_);
    log_ = log_ && !numbers_.empty() && numbers_.front() > 0;
  }

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] double at(const std::string& value) const {
    if (numbers_.empty()) {
      const auto place = std::ranges::lower_bound(words_, value) - words_.begin();
      return part(static_cast<double>(place), 0, static_cast<double>(words_.size() - 1));
    }
    const auto scaled = [&](double x) { return log_ ? std::log(x) : x; };
    return part(scaled(wire::from_json<double>(value).value_or(0)), scaled(numbers_.front()),
                scaled(numbers_.back()));
  }
  // What is written beside it, with its place.
  [[nodiscard]] std::vector<std::pair<double, std::string>> marks() const {
    std::vector<std::pair<double, std::string>> out;
    if (!numbers_.empty()) {
      out.emplace_back(0, fmt::format("{:.4g}", numbers_.front()));
      if (numbers_.size() > 1) out.emplace_back(1, fmt::format("{:.4g}", numbers_.back()));
      return out;
    }
    for (const auto& word : words_) out.emplace_back(at(word), without_quotes(word).substr(0, 14));
    return out;
  }

 private:
  static double part(double x, double low, double high) {
    return high > low ? (x - low) / (high - low) : 0.5;
  }
  std::string name_;
  bool log_;
  std::vector<std::string> words_;
  std::vector<double> numbers_;
};

struct CurveLine {
  std::vector<std::string> values;  // The metric last.
  double goodness = 0;              // Of the metric, 0 to 1.
  bool best = false;
  std::string title;
};

double y_of(double at) { return kBottom - at * (kBottom - kTop); }

std::string drawn(const CurveLine& line, const std::vector<Axis>& axes) {
  std::string points;
  for (std::size_t i = 0; i < axes.size(); ++i)
    points += fmt::format("{:.1f},{:.1f} ", kLeft + static_cast<double>(i) * kBetween,
                          y_of(axes[i].at(line.values[i])));
  return fmt::format(
      "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-opacity=\"{:.2f}\" "
      "stroke-width=\"{}\"><title>{}</title></polyline>\n",
      points, line.best ? "#c2410c" : "#1d4ed8", line.best ? 1 : 0.15 + 0.6 * line.goodness,
      line.best ? 3 : 1.5, escaped(line.title));
}

std::string drawn(const Axis& axis, double x) {
  auto out = fmt::format(
      "<line x1=\"{0:.1f}\" y1=\"{1}\" x2=\"{0:.1f}\" y2=\"{2}\" stroke=\"#777\"/>\n"
      "<text x=\"{0:.1f}\" y=\"{3}\" text-anchor=\"middle\" font-weight=\"bold\">{4}</text>\n",
      x, kTop, kBottom, kTop - 18, escaped(axis.name()));
  for (const auto& [at, text] : axis.marks())
    out += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", x - 6,
                       y_of(at) + 4, escaped(text));
  return out;
}

}  // namespace

std::string sweep_csv(const wire::SweepStatus& status) {
  std::string out = "trial,job,state";
  for (const auto& [name, parameter] : status.sweep.parameters) out += "," + csv_cell(name);
  out += fmt::format(",epoch,{},credits\n", csv_cell(status.sweep.metric));
  for (const auto& trial : status.trials) {
    out += fmt::format("{},{},{}", trial.number, to_string(trial.job), to_string(trial.state));
    for (const auto& [name, parameter] : status.sweep.parameters) {
      const auto it = trial.parameters.find(name);
      out += "," + (it == trial.parameters.end() ? "" : csv_cell(without_quotes(it->second)));
    }
    out += fmt::format(",{},{},{}\n", trial.epoch,
                       trial.value ? fmt::format("{}", *trial.value) : "", to_string(trial.spent));
  }
  return out;
}

std::string sweep_svg(const wire::SweepStatus& status) {
  std::vector<CurveLine> lines;
  std::vector<double> found;
  for (const auto& trial : status.trials) {
    if (!trial.value) continue;
    CurveLine line{.best = status.best == trial.number,
                   .title = fmt::format("trial {} ({}): {} {:.6g}", trial.number,
                                        to_string(trial.job), status.sweep.metric, *trial.value)};
    for (const auto& [name, parameter] : status.sweep.parameters) {
      const auto it = trial.parameters.find(name);
      line.values.push_back(it == trial.parameters.end() ? "" : it->second);
    }
    line.values.push_back(fmt::format("{}", *trial.value));
    found.push_back(*trial.value);
    lines.push_back(std::move(line));
  }
  if (lines.empty()) return {};
  const auto [low, high] = std::ranges::minmax(found);
  const bool less = status.sweep.goal == wire::SweepGoal::minimize;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto at = high > low ? (found[i] - low) / (high - low) : 1;
    lines[i].goodness = less && high > low ? 1 - at : at;
  }
  std::ranges::sort(lines, {}, [](const CurveLine& line) {  // The best are drawn last.
    return std::tuple(line.goodness, line.best, std::string_view(line.title));
  });
  std::vector<Axis> axes;
  const auto column = [&](std::size_t i) {
    std::vector<std::string> out;
    for (const auto& line : lines) out.push_back(line.values[i]);
    return out;
  };
  for (const auto& [name, parameter] : status.sweep.parameters)
    axes.emplace_back(name, parameter.scale == wire::SweepScale::log, column(axes.size()));
  axes.emplace_back(status.sweep.metric, false, column(axes.size()));
  const auto width = 2 * kLeft + static_cast<double>(axes.size() - 1) * kBetween;
  auto out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} 330\" width=\"{0}\" "
      "height=\"330\" font-family=\"sans-serif\" font-size=\"11\">\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      width);
  for (const auto& line : lines) out += drawn(line, axes);
  for (std::size_t i = 0; i < axes.size(); ++i)
    out += drawn(axes[i], kLeft + static_cast<double>(i) * kBetween);
  return out + "</svg>\n";
}

}  // namespace souk::cli
