#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// The files of Gavel's experiments, and jobs drawn in their manner.
//
// A trace is tab-separated, without a header, in one of two forms:
//   kind, command, step flag, needs data, steps, arrival (s), workers                      7
//   columns kind, command, folder, step flag, needs data, steps, workers, weight, SLO, arrival 10
//   columns
// where an SLO below 0 is none.
// Throughputs are JSON: {worker: {"('kind', workers)": {"null": steps a second alone, ...}}}.

namespace souk::lab {

using base::Result;

struct GavelJob {
  std::string kind;
  double steps = 0;
  std::int32_t workers = 1;
  double weight = 1;
  double slo = -1;
  double arrival = 0;    // Seconds.
  std::size_t line = 0;  // Of the file.

  // "('LM (batch size 5)', 2)", as tables of throughputs name it.
  [[nodiscard]] std::string key() const;
};

// In the file's order. `name` is the file's, for errors, which name the line.
[[nodiscard]] Result<std::vector<GavelJob>> parse_gavel_jobs(std::string_view text,
                                                             std::string_view name);
// As parse_gavel_jobs() reads it: ten columns.
[[nodiscard]] std::string gavel_trace_text(const std::vector<GavelJob>& jobs);

// Steps a second, by worker, then by GavelJob::key().
using GavelRates = std::map<std::string, std::map<std::string, double, std::less<>>, std::less<>>;
[[nodiscard]] Result<GavelRates> parse_gavel_rates(std::string_view json, std::string_view name);
// Of one worker. Unknown ones are errors that suggest the nearest.
[[nodiscard]] Result<const std::map<std::string, double, std::less<>>*> rates_of(
    const GavelRates& rates, std::string_view worker, std::string_view name);

// How to draw a trace where none is at hand. As Gavel's own: a kind drawn evenly among those with a
// rate on `reference` for so many workers; 1, 2, 4 or 8 workers with odds 70, 10, 15 and 5 (or 1
// alone); a length of 10^u minutes on `reference`, u even in [1.5, 3] with odds 80 and in [3, 4]
// with odds 20.
struct GavelDraw {
  std::size_t jobs = 500;
  std::uint64_t seed = 1;
  double hourly = 0;  // Poisson arrivals; 0: all come at once.
  bool single = false;
  std::string reference = "v100";
};
[[nodiscard]] Result<std::vector<GavelJob>> draw_gavel_jobs(const GavelDraw& draw,
                                                            const GavelRates& rates,
                                                            std::string_view name);

}  // namespace souk::lab
