#include "lab/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace souk::lab {
namespace {

using Column = std::vector<std::optional<double>>;  // One metric, seed by seed.

std::map<std::string, Column> columns(std::span<const Run> runs, std::size_t mechanism) {
  std::map<std::string, Column> out;
  for (const auto& run : runs) {
    if (run.mechanism != mechanism) continue;
    base::for_each_field(run.metrics, [&](std::string_view name, const auto& value) {
      out[std::string(name)].push_back(value);
    });
  }
  return out;
}

std::vector<double> present(const Column& column) {
  std::vector<double> out;
  for (const auto& v : column)
    if (v) out.push_back(*v);
  return out;
}

// A name may hold commas, as "posted(price=2, x=1)" does.
std::string csv_text(std::string_view text) {
  return text.find(',') == std::string_view::npos ? std::string(text) : fmt::format("\"{}\"", text);
}

// A file name that every shell takes as it is.
std::string file_name(std::string name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  };
  for (auto& c : name)
    if (!plain(c)) c = '-';
  return (name.empty() || name.front() == '-' ? "scenario" + name : name) + ".yaml";
}

// As --mechanisms takes it: "k-double:kappa=0.25".
std::string argument_of(const MechanismChoice& m) {
  auto out = m.name;
  char before = ':';
  for (const auto& [key, value] : m.params) {
    out += fmt::format("{}{}={}", before, key, value);
    before = ';';
  }
  return out;
}

// What makes this again, to be pasted into a shell: the comment is for people.
std::string command_of(const Scenario& s, std::string_view version) {
  std::vector<std::string> mechanisms;
  for (const auto& m : s.mechanisms) mechanisms.push_back(argument_of(m));
  auto names = fmt::format("{}", fmt::join(mechanisms, ","));
  std::erase(names, '\'');  // It would end the quotes; no mechanism has one in its parameters.
  auto out = fmt::format("souk lab run {} --mechanisms '{}'", file_name(s.name), names);
  const auto n = s.seeds.size();
  bool counted = true;  // 1 to n, as --seeds says it; others are in the file.
  for (std::size_t i = 0; i < n; ++i) counted = counted && s.seeds[i] == i + 1;
  if (counted) out += fmt::format(" --seeds {}", n);
  return out + fmt::format("  # file {}, souk {}", s.hash.substr(0, 16), version);
}

}  // namespace

Summary summarise(const Scenario& s, std::span<const Run> runs, std::string_view version) {
  Summary out{.scenario = s.name,
              .description = s.description,
              .world = s.world,
              .seeds = s.seeds,
              .hash = s.hash,
              .version = std::string(version)};
  for (std::size_t m = 0; m < s.mechanisms.size(); ++m) {
    MechanismSummary row{.name = s.mechanisms[m].label};
    for (const auto& [name, column] : columns(runs, m))
      if (const auto samples = present(column); !samples.empty())
        row.metrics[name] = estimate(samples);
    std::vector<double> waits;
    for (const auto& run : runs)
      if (run.mechanism == m) waits.insert(waits.end(), run.waits.begin(), run.waits.end());
    std::ranges::sort(waits);
    for (int i = 0; i <= 20 && !waits.empty(); ++i)
      row.waits.push_back(quantile_of(waits, i / 20.0));
    out.mechanisms.push_back(std::move(row));
  }
  out.reproduce = command_of(s, version);
  return out;
}

std::vector<Difference> compare(const Scenario&, std::span<const Run> runs, std::size_t a,
                                std::size_t b) {
  const auto left = columns(runs, a), right = columns(runs, b);
  std::vector<Difference> out;
  for (const auto& name : metric_names()) {
    const std::string field(name.field);
    const auto &x = left.at(field), &y = right.at(field);
    std::vector<double> xs, ys, differences;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!x[i] || !y[i]) continue;  // A pair or nothing.
      xs.push_back(*x[i]);
      ys.push_back(*y[i]);
      differences.push_back(*y[i] - *x[i]);
    }
    if (differences.empty()) continue;
    const auto d = estimate(differences);
    out.push_back({field, estimate(xs), estimate(ys), d,
                   differences.size() > 1 && (d.low > 0 || d.high < 0)});
  }
  return out;
}

std::vector<Comparison> comparisons(const Scenario& s, std::span<const Run> runs) {
  std::vector<Comparison> out;
  for (std::size_t other = 1; other < s.mechanisms.size(); ++other)
    out.push_back({s.mechanisms[0].label, s.mechanisms[other].label, compare(s, runs, 0, other)});
  return out;
}

std::string trades_csv(const Scenario& s, std::span<const Run> runs) {
  std::string out = "mechanism,seed,time,bid,ask,units,pays,gets,limit,reserve,value,cost\n";
  for (const auto& run : runs) {
    const auto name = csv_text(s.mechanisms[run.mechanism].label);
    for (const auto& t : run.trades)
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},{},{},{},{},{},{},{}\n", name,
                     run.seed, t.time, t.bid, t.ask, t.units, to_string(t.pays), to_string(t.gets),
                     to_string(t.limit), to_string(t.reserve), to_string(t.value),
                     to_string(t.cost));
  }
  return out;
}

}  // namespace souk::lab
