#include "lab/worlds/cluster_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace souk::lab {
namespace {

using RatesOfType = std::map<std::string, double, std::less<>>;

// Steps a second by type; empty if there are none.
std::vector<double> rates_on(const std::vector<const RatesOfType*>& tables,
                             const std::string& key) {
  std::vector<double> out;
  for (const auto* table : tables) {
    const auto at = table->find(key);
    out.push_back(at == table->end() ? 0 : at->second);
  }
  if (std::ranges::max(out) <= 0) out.clear();
  return out;
}

}  // namespace

Result<std::vector<ClusterJob>> cluster_jobs(const std::vector<GavelJob>& trace,
                                             const GavelRates& rates,
                                             const std::vector<std::string>& types,
                                             std::string_view trace_name, std::size_t most,
                                             Missing missing) {
  std::vector<const RatesOfType*> tables;
  for (const auto& type : types) {
    SOUK_ASSIGN(const auto* table, rates_of(rates, type, "the table of throughputs"));
    tables.push_back(table);
  }
  std::vector<const GavelJob*> in_order;
  for (const auto& t : trace)
    if (t.steps > 0) in_order.push_back(&t);
  std::ranges::sort(in_order, {}, [](const GavelJob* j) { return std::pair(j->arrival, j->line); });
  std::vector<ClusterJob> out;
  for (const auto* from : in_order) {
    auto job = *from;
    auto mine = rates_on(tables, job.key());
    while (missing == Missing::fewer && mine.empty() && job.workers > 1) {
      --job.workers;
      mine = rates_on(tables, job.key());
    }
    if (mine.empty() && missing == Missing::skip) continue;
    if (mine.empty())
      return base::fail(
          base::Code::invalid,
          fmt::format("{}:{}: there is no throughput for {}", trace_name, job.line, from->key()),
          "give another table, or say what to do with such jobs (--missing skip, fewer)");
    if (out.size() == most) break;
    out.push_back({.arrival = job.arrival,
                   .steps = job.steps,
                   .workers = job.workers,
                   .weight = job.weight,
                   .rates = std::move(mine)});
  }
  const auto first = out.empty() ? 0 : out.front().arrival;
  for (auto& job : out) job.arrival -= first;
  return out;
}

}  // namespace souk::lab
