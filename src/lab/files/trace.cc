#include "lab/files/trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "base/file.h"
#include "base/text.h"
#include "base/time.h"
#include "lab/files/gavel_trace.h"
#include "lab/files/lines.h"

namespace souk::lab {
namespace {

using base::Code;
using base::fail;

constexpr auto kBeside = "traces are looked for beside the scenario file";

// Those from `from` seconds after the first on, in order.
std::vector<TraceJob> in_order(std::vector<TraceJob> jobs, double from, std::int64_t most) {
  std::ranges::sort(jobs, {},
                    [](const TraceJob& j) { return std::tuple(j.arrival, j.run_time, j.workers); });
  if (!jobs.empty()) {
    const auto begin = jobs.front().arrival + from;
    jobs.erase(jobs.begin(), std::ranges::lower_bound(jobs, begin, {}, &TraceJob::arrival));
  }
  if (static_cast<std::int64_t>(jobs.size()) > most) jobs.resize(static_cast<std::size_t>(most));
  const auto first = jobs.empty() ? 0 : jobs.front().arrival;
  for (auto& job : jobs) job.arrival -= first;
  return jobs;
}

}  // namespace

Result<std::vector<TraceJob>> parse_philly(std::string_view text, std::string_view name,
                                           const TraceSource& source) {
  std::vector<TraceJob> out;
  SOUK_TRY(for_each_line(text, [&](std::string_view line, std::size_t n) -> Result<> {
    if (n == 1) {
      if (line.starts_with("timestamp,duration,num_gpus")) return {};
      return bad_line(name, n, "this is not a philly trace",
                      "its header begins timestamp,duration,num_gpus");
    }
    const auto cells = base::split(line, ',');
    if (cells.size() < 3)
      return bad_line(name, n, fmt::format("{} columns", cells.size()), "3 or more");
    auto when = std::string(cells[0]);
    std::ranges::replace(when, ' ', 'T');
    const auto at = base::parse_time(when + "Z");
    const auto seconds = number(cells[1]), gpus = number(cells[2]);
    if (!at || !seconds || !gpus)
      return bad_line(name, n, "a time, a duration or a number of GPUs cannot be read");
    if (*seconds > 0 && *gpus >= 1)
      out.push_back({(*at - base::Time()).seconds(), *seconds, static_cast<std::int32_t>(*gpus)});
    return {};
  }));
  return in_order(std::move(out), source.from, source.most);
}

Result<std::vector<TraceJob>> parse_gavel(std::string_view text, std::string_view name,
                                          std::string_view throughputs_json,
                                          const TraceSource& source) {
  GavelRates all;
  const std::map<std::string, double, std::less<>>* rates = nullptr;
  if (!throughputs_json.empty()) {
    SOUK_ASSIGN(all, parse_gavel_rates(throughputs_json, source.throughputs));
    SOUK_ASSIGN(rates, rates_of(all, source.worker, source.throughputs));
  }
  SOUK_ASSIGN(const auto jobs, parse_gavel_jobs(text, name));
  std::vector<TraceJob> out;
  for (const auto& job : jobs) {
    auto rate = source.steps_per_second;
    if (rates != nullptr) {
      const auto at = rates->find(job.key());
      if (at == rates->end() || at->second <= 0)
        return bad_line(name, job.line,
                        fmt::format("{} has no rate for {}", source.throughputs, job.key()),
                        "use another worker, or steps_per_second");
      rate = at->second;
    }
    if (job.steps > 0) out.push_back({job.arrival, job.steps / rate, job.workers});
  }
  return in_order(std::move(out), source.from, source.most);
}

Result<Traces> load_traces(const Scenario& s) {
  Traces out;
  for (const auto& p : s.borrowers) {
    if (!p.trace) continue;
    const auto path_of = [&](const std::string& file) {
      return (std::filesystem::path(s.folder) / file).string();
    };
    const auto path = path_of(p.trace->file);
    SOUK_ASSIGN(const auto text, base::read_file(path, kBeside));
    if (p.trace->format == TraceFormat::philly) {
      SOUK_ASSIGN(out[p.name], parse_philly(text, path, *p.trace));
    } else {
      std::string rates;
      if (!p.trace->throughputs.empty()) {
        SOUK_ASSIGN(rates, base::read_file(path_of(p.trace->throughputs), kBeside));
      }
      SOUK_ASSIGN(out[p.name], parse_gavel(text, path, rates, *p.trace));
    }
    for (auto& job : out[p.name]) job.arrival /= p.trace->speed;
  }
  return out;
}

}  // namespace souk::lab
