#include <fmt/format.h>

#include "cli/bench/rows.h"
#include "cli/commands/commands.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

std::string number_or_dash(const std::optional<double>& n) {
  if (!n) return "-";
  const auto size = *n < 0 ? -*n : *n;
  return fmt::format("{:.{}f}", *n, size >= 1000 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 4);
}

}  // namespace

Result<> show_bench(const Context& c, const std::vector<BenchRow>& rows) {
  if (c.json()) return c.print_json("{\"items\":" + wire::to_json(rows) + "}");
  using enum Column::Align;
  Table table({{"bench", left, 0, 1},
               {"name"},
               {"what"},
               {"unit", left, 0, 3},
               {"result", right},
               {"baseline", right},
               {"ratio", right},
               {"low", right, 0, 2},
               {"high", right, 0, 2}});
  for (const auto& r : rows)
    table.add({r.bench, r.name, r.what, r.unit, number_or_dash(r.result),
               number_or_dash(r.baseline), number_or_dash(r.ratio), number_or_dash(r.low),
               number_or_dash(r.high)});
  c.print(table);
  return {};
}

Command bench_command() {
  Command out{.name = "bench",
              .summary = "measure this machine and the aggregators against baselines",
              .examples = {"bench fold --rules mean", "bench tta", "bench tta --full"},
              .common = Common::local};
  out.commands = {bench_fold_command(), bench_tta_command(), bench_hub_command()};
  out.details =
      "Every row has a result, a baseline from the same run and their ratio: 1 is as good as the "
      "baseline, more is better.";
  return out;
}

}  // namespace souk::cli
