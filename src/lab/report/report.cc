#include "lab/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "lab/report/charts.h"

namespace souk::lab {
namespace {

constexpr std::size_t kBuckets = 240;  // Of time, in the chart of prices.

constexpr std::string_view kStyle = R"(
:root{color-scheme:light dark;--ink:#1b1f24;--dim:#5b6470;--paper:#fff;--line:#d8dde3;--card:#f6f8fa}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--dim:#9aa4b0;--paper:#14171b;--line:#333a43;--card:#1c2127}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:60rem;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.6rem;margin:.5rem 0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p.note{color:var(--dim);margin:.25rem 0}
svg{width:100%;height:auto;display:block}svg text{fill:var(--ink);font-size:13px}
svg .tick{fill:var(--dim);font-size:12px}svg .inside{fill:#fff;font-size:12px}
@media (max-width:40rem){svg text,svg .tick,svg .inside{font-size:22px}svg .aside{display:none}}
.grid{stroke:var(--line)}.axis{stroke:var(--dim)}
.line{fill:none;stroke-width:2;stroke-linejoin:round}.band{opacity:.15;stroke:none}
.whisker{fill:none;stroke:var(--ink);stroke-width:1.5}
.legend{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:.25rem 0 0;font-size:.9rem}
.key{display:inline-block;width:.8em;height:.8em;border-radius:2px;margin-right:.4em}
.wide{overflow-x:auto}table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left;position:sticky;left:0;background:var(--paper)}
td small{color:var(--dim)}
pre{background:var(--card);padding:.75rem;overflow-x:auto;font-size:.85rem}
)";

// Told apart by the colour-blind too (Okabe and Ito's set, made to stand on light and dark).
constexpr std::string_view kColours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                         "#b8860b", "#4a90c2", "#8c6bb1", "#7f7f7f"};

std::string style() {
  std::string out(kStyle);
  for (int i = 0; const auto colour : kColours) {
    out += fmt::format(
        ".line.c{0}{{stroke:{1}}}.bar.c{0},.band.c{0},.dot.c{0}{{fill:{1}}}"
        ".key.c{0}{{background:{1}}}\n",
        i, colour);
    ++i;
  }
  return out;
}

std::string duration_text(double seconds) {
  if (seconds < 1) return fmt::format("{:.2g}s", seconds);
  return base::to_string(base::Duration(std::llround(seconds) * 1'000'000));
}

std::string number_text(const MetricName& metric, double v) {
  if (metric.unit == "%") return fmt::format("{:.2f}%", v * 100);
  if (metric.unit == "s") return duration_text(v);
  return fmt::format("{:.4g}", v);
}

const Estimate* find(const MechanismSummary& m, std::string_view field) {
  const auto at = m.metrics.find(std::string(field));
  return at == m.metrics.end() ? nullptr : &at->second;
}

std::string price_chart(const Summary& s, const std::vector<PriceSeries>& prices) {
  std::vector<Line> lines;
  for (const auto& series : prices) {
    Line line{.name = series.mechanism};
    for (const auto& p : series.points)
      line.points.push_back(
          {p.time, p.mean, std::max(0.0, p.mean - p.deviation), p.mean + p.deviation});
    lines.push_back(std::move(line));
  }
  const bool market = s.world == World::market;
  return line_chart("price over time", {.title = market ? "time" : "period", .time = market},
                    {.title = "credits per unit"}, lines);
}

std::string efficiency_chart(const Summary& s) {
  std::vector<Bar> bars;
  const auto& metric = metric_names().front();
  for (const auto& m : s.mechanisms)
    if (const auto* e = find(m, "efficiency"))
      bars.push_back({m.name, e->mean, e->low, e->high, number_text(metric, e->mean)});
  return bar_chart("efficiency", bars);
}

std::string split_chart(const Summary& s) {
  const std::vector<std::string> parts{"buyers", "sellers", "platform"};
  std::vector<Stack> rows;
  for (const auto& m : s.mechanisms) {
    Stack row{.name = m.name};
    for (const auto* field : {"buyers_share", "sellers_share", "platform_share"})
      if (const auto* e = find(m, field)) row.parts.push_back(e->mean);
    if (row.parts.size() == parts.size()) rows.push_back(std::move(row));
  }
  return rows.empty() ? "<p>nothing was gained</p>" : stack_chart("who gains", parts, rows);
}

std::string wait_chart(const Summary& s) {
  std::vector<Line> lines;
  for (const auto& m : s.mechanisms) {
    Line line{.name = m.name};
    const auto steps = static_cast<double>(std::max<std::size_t>(2, m.waits.size()) - 1);
    for (std::size_t i = 0; i < m.waits.size(); ++i) {
      const auto share = static_cast<double>(i) / steps;
      line.points.push_back({std::max(1.0, m.waits[i]), share * 100, share * 100, share * 100});
    }
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  if (lines.empty()) return "";
  return "<h2>Waits</h2><p class=\"note\">Share of jobs whose first worker ran within this "
         "time.</p>" +
         line_chart("waits", {.title = "wait", .time = true, .log = true}, {.title = "% of jobs"},
                    lines);
}

std::string metric_table(const Summary& s) {
  std::string out = "<div class=\"wide\"><table><thead><tr><th>metric</th>";
  for (const auto& m : s.mechanisms) out += fmt::format("<th>{}</th>", escaped(m.name));
  out += "</tr></thead><tbody>";
  for (const auto& metric : metric_names()) {
    std::string row;
    bool any = false;
    for (const auto& m : s.mechanisms) {
      const auto* e = find(m, metric.field);
      any |= e != nullptr;
      row += e == nullptr ? "<td>–</td>"
                          : fmt::format("<td>{}<br><small>{} … {}</small></td>",
                                        number_text(metric, e->mean), number_text(metric, e->low),
                                        number_text(metric, e->high));
    }
    if (any)
      out += fmt::format("<tr><td title=\"{}\">{}</td>{}</tr>", escaped(metric.means),
                         escaped(metric.title), row);
  }
  return out + "</tbody></table></div>";
}

struct Row {
  std::string mechanism;
  double time = 0, units = 0, pays = 0;
};

// mechanism,seed,time,bid,ask,units,pays,... ; the mechanism may be quoted.
std::optional<Row> parse_row(std::string_view line) {
  Row out;
  if (line.starts_with('"')) {
    const auto end = line.find('"', 1);
    if (end == std::string_view::npos) return std::nullopt;
    out.mechanism = line.substr(1, end - 1);
    line.remove_prefix(end + 1);
  } else {
    out.mechanism = line.substr(0, line.find(','));
    line.remove_prefix(std::min(line.find(','), line.size()));
  }
  for (int column = 1; column <= 6; ++column) {
    if (!line.starts_with(',')) return std::nullopt;
    line.remove_prefix(1);
    const auto end = std::min(line.find(','), line.size());
    double v = 0;
    const auto [stop, error] = std::from_chars(line.data(), line.data() + end, v);
    if (error != std::errc{} || stop != line.data() + end) return std::nullopt;
    (column == 2 ? out.time : column == 5 ? out.units : out.pays) = v;
    line.remove_prefix(end);
  }
  return out;
}

struct Bucket {
  double units = 0, sum = 0, squares = 0, time = 0;
};

}  // namespace

std::string metric_text(const MetricName& metric, const Estimate& e) {
  const auto half = (e.high - e.low) / 2;
  const auto mean = number_text(metric, e.mean);
  // Where all seeds agree, what is left is rounding.
  return half > 1e-9 * std::abs(e.mean) ? fmt::format("{} ± {}", mean, number_text(metric, half))
                                        : mean;
}

Result<std::vector<PriceSeries>> price_series(std::string_view csv, std::string_view name) {
  std::vector<std::string> order;
  std::map<std::string, std::vector<Row>, std::less<>> rows;
  double last = 0;
  for (std::size_t n = 1; !csv.empty(); ++n) {
    const auto end = std::min(csv.find('\n'), csv.size());
    const auto line = csv.substr(0, end);
    csv.remove_prefix(std::min(end + 1, csv.size()));
    if (n == 1 || line.empty()) continue;
    auto row = parse_row(line);
    if (!row)
      return base::fail(base::Code::damaged, fmt::format("{}:{}: this is not a trade", name, n),
                        "make it again with `souk lab run`");
    last = std::max(last, row->time);
    auto& mine = rows[row->mechanism];
    if (mine.empty()) order.push_back(row->mechanism);
    mine.push_back(std::move(*row));
  }
  std::vector<PriceSeries> out;
  for (const auto& mechanism : order) {
    std::vector<Bucket> buckets(kBuckets);
    for (const auto& row : rows[mechanism]) {
      const auto at = last > 0 ? row.time / last * static_cast<double>(kBuckets - 1) : 0;
      auto& b = buckets[static_cast<std::size_t>(at)];
      b.units += row.units;
      b.sum += row.units * row.pays;
      b.squares += row.units * row.pays * row.pays;
      b.time += row.units * row.time;
    }
    PriceSeries series{.mechanism = mechanism};
    for (const auto& b : buckets)
      if (b.units > 0) {
        const auto mean = b.sum / b.units;
        series.points.push_back(
            {b.time / b.units, mean, std::sqrt(std::max(0.0, b.squares / b.units - mean * mean))});
      }
    out.push_back(std::move(series));
  }
  return out;
}

std::string report_html(const Summary& s, const std::vector<PriceSeries>& prices) {
  std::string out =
      "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">";
  out +=
      fmt::format("<title>{}</title><style>{}</style></head><body>", escaped(s.scenario), style());
  out += fmt::format("<h1>{}</h1>", escaped(s.scenario));
  if (!s.description.empty()) out += fmt::format("<p>{}</p>", escaped(s.description));
  out += fmt::format(
      "<p class=\"note\">{} world, {} seed{}, {} mechanism{}; every mechanism met the same draws. "
      "Intervals are 95% over seeds.</p>",
      to_string(s.world), s.seeds.size(), s.seeds.size() == 1 ? "" : "s", s.mechanisms.size(),
      s.mechanisms.size() == 1 ? "" : "s");
  out +=
      "<h2>Price over time</h2><p class=\"note\">Mean of what was paid; the band is one standard "
      "deviation of the trades of that time.</p>" +
      price_chart(s, prices);
  out += "<h2>Efficiency</h2><p class=\"note\">Gains from trade, of the most there could be.</p>" +
         efficiency_chart(s);
  out += "<h2>Who gains</h2><p class=\"note\">Shares of the gains realised.</p>" + split_chart(s);
  out += wait_chart(s);
  out += "<h2>All metrics</h2>" + metric_table(s);
  out += fmt::format(
      "<h2>How to reproduce</h2><pre>{}\nscenario file, BLAKE2b-256: {}\nseeds: {}</pre>",
      escaped(s.reproduce), escaped(s.hash), fmt::join(s.seeds, ", "));
  return out + "</body></html>\n";
}

}  // namespace souk::lab
