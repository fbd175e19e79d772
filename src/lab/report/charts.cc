#include "lab/report/charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/time.h"

namespace souk::lab {
namespace {

constexpr double kWidth = 720, kHeight = 320;
constexpr double kLeft = 64, kRight = 16, kTop = 12, kBottom = 52;
constexpr double kRow = 58, kNameAt = 20,
                 kBarAt = 28;            // Names stand above their bars: phones are narrow.
constexpr std::size_t kPartColours = 4;  // Parts are not mechanisms.

template <class... Args>
void add(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

std::string open_svg(std::string_view title, double height) {
  return fmt::format(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>)",
                     kWidth, height, escaped(title), escaped(title));
}

// All one value, but for rounding: steps between the ends would be too small to get anywhere.
bool flat(double low, double high) {
  return !(high - low > 1e-9 * std::max(std::abs(low), std::abs(high)));
}

// Round steps, about `count` of them.
double nice_step(double span, int count) {
  if (span <= 0) return 1;
  const auto raw = span / count;
  const auto power = std::pow(10, std::floor(std::log10(raw)));
  for (const auto times : {1.0, 2.0, 2.5, 5.0})
    if (times * power >= raw) return times * power;
  return 10 * power;
}

double nice_time_step(double span, int count) {
  for (const auto step : {1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 7200.0, 21600.0, 43200.0,
                          86400.0, 172800.0, 604800.0})
    if (span / step <= count + 1) return step;
  return nice_step(span / 604800, count) * 604800;
}

std::string tick_text(const Axis& axis, double v) {
  if (!axis.time) return fmt::format("{:.4g}", v);
  return base::to_string(base::Duration(static_cast<std::int64_t>(std::llround(v)) * 1'000'000));
}

struct Scale {
  double low = 0, high = 1;
  double from = 0, to = 1;  // On the page.
  bool log = false;

  [[nodiscard]] double operator()(double v) const {
    const auto f = [&](double x) { return log ? std::log10(std::max(x, 1.0)) : x; };
    return from + (f(v) - f(low)) / (f(high) - f(low)) * (to - from);
  }
};

std::vector<double> ticks(const Axis& axis, const Scale& scale, int count) {
  std::vector<double> out;
  if (axis.log) {
    for (const auto v : {1.0, 10.0, 60.0, 600.0, 3600.0, 21600.0, 86400.0, 604800.0})
      if (v >= scale.low && v <= scale.high) out.push_back(v);
    return out;
  }
  const auto span = scale.high - scale.low;
  const auto step = axis.time ? nice_time_step(span, count) : nice_step(span, count);
  for (auto v = std::ceil(scale.low / step) * step; v <= scale.high + step * 1e-9; v += step)
    out.push_back(v);
  return out;
}

void draw_axes(std::string& out, const Axis& x, const Axis& y, const Scale& sx, const Scale& sy) {
  for (const auto v : ticks(y, sy, 5))
    add(out,
        R"(<line class="grid" x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}"/>)"
        R"(<text class="tick" x="{}" y="{:.1f}" text-anchor="end">{}</text>)",
        kLeft, kWidth - kRight, sy(v), sy(v), kLeft - 6, sy(v) + 4, tick_text(y, v));
  for (const auto v : ticks(x, sx, 7))
    add(out, R"(<text class="tick" x="{:.1f}" y="{}" text-anchor="middle">{}</text>)", sx(v),
        kHeight - kBottom + 16, tick_text(x, v));
  add(out, R"(<line class="axis" x1="{}" x2="{}" y1="{}" y2="{}"/>)", kLeft, kWidth - kRight,
      kHeight - kBottom, kHeight - kBottom);
  add(out, R"(<text class="tick" x="{}" y="{}" text-anchor="middle">{}</text>)",
      (kLeft + kWidth - kRight) / 2, kHeight - 8, escaped(x.title));
  add(out,
      R"-(<text class="tick aside" x="14" y="{}" text-anchor="middle" transform="rotate(-90 14 {})">{}</text>)-",
      (kTop + kHeight - kBottom) / 2, (kTop + kHeight - kBottom) / 2, escaped(y.title));
}

void draw_line(std::string& out, const Line& line, std::size_t colour, const Scale& sx,
               const Scale& sy) {
  if (line.points.empty()) return;
  const bool band =
      std::ranges::any_of(line.points, [](const auto& p) { return p.low != p.y || p.high != p.y; });
  if (band) {
    std::string path;
    for (const auto& p : line.points) add(path, "{:.1f},{:.1f} ", sx(p.x), sy(p.high));
    for (auto p = line.points.rbegin(); p != line.points.rend(); ++p)
      add(path, "{:.1f},{:.1f} ", sx(p->x), sy(p->low));
    add(out, R"(<polygon class="band c{}" points="{}"/>)", colour, path);
  }
  std::string path;
  for (const auto& p : line.points) add(path, "{:.1f},{:.1f} ", sx(p.x), sy(p.y));
  add(out, R"(<polyline class="line c{}" points="{}"/>)", colour, path);
  if (line.points.size() == 1)
    add(out, R"(<circle class="dot c{}" cx="{:.1f}" cy="{:.1f}" r="3"/>)", colour,
        sx(line.points[0].x), sy(line.points[0].y));
}

std::string legend(std::span<const std::string> names, std::size_t first = 0) {
  std::string out = R"(<p class="legend">)";
  for (std::size_t i = 0; i < names.size(); ++i)
    add(out, R"(<span><i class="key c{}"></i>{}</span> )", (i + first) % 8, escaped(names[i]));
  return out + "</p>";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string line_chart(std::string_view title, const Axis& x, const Axis& y,
                       std::span<const Line> lines) {
  Scale sx{.from = kLeft, .to = kWidth - kRight, .log = x.log};
  Scale sy{.from = kHeight - kBottom, .to = kTop, .log = y.log};
  bool any = false;
  for (const auto& line : lines)
    for (const auto& p : line.points) {
      const auto low = std::min(p.y, p.low), high = std::max(p.y, p.high);
      sx.low = any ? std::min(sx.low, p.x) : p.x;
      sx.high = any ? std::max(sx.high, p.x) : p.x;
      sy.low = any ? std::min(sy.low, low) : low;
      sy.high = any ? std::max(sy.high, high) : high;
      any = true;
    }
  if (!any) return "<p>nothing traded</p>";
  if (x.log) sx.low = 1;
  if (flat(sx.low, sx.high)) sx.high = sx.low + 1;
  if (flat(sy.low, sy.high)) {
    sy.low -= std::max(.5, std::abs(sy.low) * .1);
    sy.high += std::max(.5, std::abs(sy.high) * .1);
  }
  const auto air = (sy.high - sy.low) * .05;
  if (sy.low != 0) sy.low = sy.low > 0 ? std::max(0.0, sy.low - air) : sy.low - air;
  sy.high += air;
  auto out = open_svg(title, kHeight);
  draw_axes(out, x, y, sx, sy);
  std::vector<std::string> names;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    draw_line(out, lines[i], i % 8, sx, sy);
    names.push_back(lines[i].name);
  }
  return out + "</svg>" + legend(names);
}

std::string bar_chart(std::string_view title, std::span<const Bar> bars) {
  double low = 0, high = 0;
  for (const auto& b : bars) {
    low = std::min({low, b.value, b.low});
    high = std::max({high, b.value, b.high});
  }
  if (high <= low) high = low + 1;
  const Scale sx{low, high, 4, kWidth - 110};
  auto out = open_svg(title, kRow * static_cast<double>(bars.size()) + 8);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const auto& b = bars[i];
    const auto top = kRow * static_cast<double>(i);
    const auto y = top + kBarAt, middle = y + 11;
    const auto left = std::min(sx(0), sx(b.value)), right = std::max(sx(0), sx(b.value));
    add(out, R"(<text x="4" y="{}">{}</text>)", top + kNameAt, escaped(b.name));
    add(out, R"(<rect class="bar c{}" x="{:.1f}" y="{}" width="{:.1f}" height="22" rx="2"/>)",
        i % 8, left, y, std::max(1.0, right - left));
    add(out, R"(<path class="whisker" d="M{0:.1f} {2}H{1:.1f}M{0:.1f} {3}V{4}M{1:.1f} {3}V{4}"/>)",
        sx(b.low), sx(b.high), middle, middle - 5, middle + 5);
    add(out, R"(<text class="tick" x="{:.1f}" y="{}">{}</text>)", std::max(right, sx(b.high)) + 8,
        middle + 4, escaped(b.text));
  }
  return out + "</svg>";
}

std::string stack_chart(std::string_view title, std::span<const std::string> parts,
                        std::span<const Stack> rows) {
  double low = 0, high = 0;
  for (const auto& row : rows) {
    double minus = 0, plus = 0;
    for (const auto v : row.parts) (v < 0 ? minus : plus) += v;
    low = std::min(low, minus);
    high = std::max(high, plus);
  }
  if (high <= low) high = low + 1;
  const Scale sx{low, high, 4, kWidth - 4};
  auto out = open_svg(title, kRow * static_cast<double>(rows.size()) + 8);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto y = kRow * static_cast<double>(i) + kBarAt;
    add(out, R"(<text x="4" y="{}">{}</text>)", y - kBarAt + kNameAt, escaped(rows[i].name));
    double minus = 0, plus = 0;
    for (std::size_t p = 0; p < rows[i].parts.size(); ++p) {
      const auto v = rows[i].parts[p];
      const auto from = v < 0 ? minus + v : plus;
      (v < 0 ? minus : plus) += v;
      const auto width = std::abs(sx(from + std::abs(v)) - sx(from));
      add(out, R"(<rect class="bar c{}" x="{:.1f}" y="{}" width="{:.1f}" height="22"/>)",
          (p + kPartColours) % 8, sx(from), y, width);
      if (width > 44)
        add(out, R"(<text class="inside" x="{:.1f}" y="{}" text-anchor="middle">{:.0f}%</text>)",
            sx(from) + width / 2, y + 15, v * 100);
    }
  }
  return out + "</svg>" + legend(parts, kPartColours);
}

}  // namespace souk::lab
