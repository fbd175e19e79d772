#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "cli/shell/command.h"

// What benchmarks say, all in one form.

namespace souk::cli {

// One measurement. `ratio` is 1 where the result is as good as its baseline and above where it is
// better, whatever is measured; it is absent where the result was never reached.
struct BenchRow {
  std::string bench;  // "B4", as docs name them.
  std::string name;   // What was measured, under which conditions,
  std::string what;   // and what of it.
  std::string unit;
  std::optional<double> result, baseline, ratio;
  std::optional<double> low, high;  // Of the ratio.
  SOUK_FIELDS(BenchRow, bench, name, what, unit, result, baseline, ratio, low, high)
};

// A table, or {"items":[...]} with --json.
Result<> show_bench(const Context& c, const std::vector<BenchRow>& rows);

Command bench_fold_command();
Command bench_tta_command();
Command bench_hub_command();

}  // namespace souk::cli
