#include "lab/files/gavel_trace.h"

#include <fmt/format.h>

#include <boost/json/value.hpp>
#include <cmath>

#include "base/text.h"
#include "lab/files/lines.h"
#include "lab/worlds/distribution.h"
#include "wire/json.h"

namespace souk::lab {
namespace {

using base::Code;
using base::fail;

Result<GavelJob> parse_line(std::string_view line, std::string_view name, std::size_t n) {
  const auto bad = [&](std::string_view what, std::string hint = {}) {
    return bad_line(name, n, what, std::move(hint));
  };
  const auto cells = base::split(line, '\t');
  const bool old_form = cells.size() == 7;
  if (!old_form && cells.size() != 10)
    return bad(fmt::format("{} columns", cells.size()), "a gavel trace has 7 or 10");
  const auto steps = number(cells[old_form ? 4 : 5]);
  const auto arrival = number(cells[old_form ? 5 : 9]);
  const auto workers = number(cells[6]);
  if (!steps || !arrival || !workers || *workers < 1 || *workers > 1e6)
    return bad("steps, arrival or workers cannot be read");
  GavelJob out{.kind = std::string(cells[0]),
               .steps = *steps,
               .workers = static_cast<std::int32_t>(*workers),
               .arrival = *arrival,
               .line = n};
  if (old_form) return out;
  const auto weight = number(cells[7]), slo = number(cells[8]);
  if (!weight || *weight <= 0 || !slo) return bad("the weight or the SLO cannot be read");
  out.weight = *weight;
  out.slo = *slo;
  return out;
}

}  // namespace

std::string GavelJob::key() const { return fmt::format("('{}', {})", kind, workers); }

Result<std::vector<GavelJob>> parse_gavel_jobs(std::string_view text, std::string_view name) {
  std::vector<GavelJob> out;
  SOUK_TRY(for_each_line(text, [&](std::string_view line, std::size_t n) -> Result<> {
    SOUK_ASSIGN(auto job, parse_line(line, name, n));
    out.push_back(std::move(job));
    return {};
  }));
  return out;
}

std::string gavel_trace_text(const std::vector<GavelJob>& jobs) {
  std::string out;
  for (const auto& j : jobs)
    out += fmt::format("{}\t-\t-\t-\t0\t{:.0f}\t{}\t{}\t{:.6f}\t{:.6f}\n", j.kind, j.steps,
                       j.workers, j.weight, j.slo, j.arrival);
  return out;
}

Result<GavelRates> parse_gavel_rates(std::string_view json, std::string_view name) {
  SOUK_ASSIGN(const auto value, base::located(wire::parse(json), name));
  const auto* workers = value.if_object();
  if (workers == nullptr)
    return fail(Code::invalid, fmt::format("{} is not a table of throughputs", name),
                R"-(it looks like {"v100": {"('kind', 1)": {"null": 2.5}}})-");

  GavelRates out;
  for (const auto& worker : *workers) {
    auto& rates = out[std::string(worker.key())];
    if (!worker.value().is_object()) continue;
    for (const auto& kind : worker.value().get_object()) {
      const auto* beside = kind.value().if_object();
      const auto* alone = beside ? beside->if_contains("null") : nullptr;
      if (alone && alone->is_number())
        rates.emplace(std::string(kind.key()), alone->to_number<double>());
    }
  }
  return out;
}

Result<const std::map<std::string, double, std::less<>>*> rates_of(const GavelRates& rates,
                                                                   std::string_view worker,
                                                                   std::string_view name) {
  if (const auto at = rates.find(worker); at != rates.end()) return &at->second;
  std::vector<std::string_view> known;
  for (const auto& [one, of_it] : rates) known.push_back(one);
  return fail(Code::invalid, fmt::format("{} knows no worker '{}'", name, worker),
              base::suggest(worker, known));
}

Result<std::vector<GavelJob>> draw_gavel_jobs(const GavelDraw& draw, const GavelRates& rates,
                                              std::string_view name) {
  SOUK_ASSIGN(const auto* reference, rates_of(rates, draw.reference, name));
  std::map<std::int32_t, std::vector<std::pair<std::string, double>>> kinds;  // By workers.
  for (const auto& [key, rate] : *reference) {
    // Back from key(): what stands between the quotes, and the number behind them.
    const auto comma = key.rfind("', ");
    if (rate <= 0 || !key.starts_with("('") || comma == std::string::npos) continue;
    const auto workers = number(std::string_view(key).substr(comma + 3, key.size() - comma - 4));
    if (workers) kinds[static_cast<int>(*workers)].emplace_back(key.substr(2, comma - 2), rate);
  }
  std::vector<GavelJob> out;
  double at = 0;
  for (std::size_t i = 0; i < draw.jobs; ++i) {
    auto random = stream(draw.seed, "gavel", i);
    const auto lot = random.below(100);
    const auto workers = draw.single || lot < 70 ? 1 : lot < 80 ? 2 : lot < 95 ? 4 : 8;
    const auto& among = kinds[workers];
    if (among.empty())
      return fail(Code::invalid, fmt::format("{} has no rates of {} for {} workers", name,
                                             draw.reference, workers));
    const auto& [kind, rate] = among[random.below(among.size())];
    const bool short_one = random.below(100) < 80;
    const auto exponent = short_one ? 1.5 + 1.5 * random.unit() : 3 + random.unit();
    const auto seconds = 60 * std::pow(10, exponent);
    if (draw.hourly > 0 && i > 0) at -= std::log(1 - random.unit()) * 3600 / draw.hourly;
    out.push_back({.kind = kind,
                   .steps = std::max(1.0, std::floor(seconds * rate)),
                   .workers = workers,
                   .arrival = at,
                   .line = i + 1});
  }
  return out;
}

}  // namespace souk::lab
