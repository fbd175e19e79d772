#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.h"
#include "cli/shell/human.h"
#include "cli/shell/table.h"

namespace souk::cli {
namespace {

std::string off_by(double forecast, double took) {
  return forecast > 0 ? fmt::format("{:+.0f}%", 100 * (took / forecast - 1)) : "-";
}

void show_forecasts(Context& c, const std::vector<wire::ForecastOutcome>& items) {
  using enum Column::Align;
  Table table({{"job"},
               {"kind"},
               {"class"},
               {"ended"},
               {"forecast", right},
               {"took", right},
               {"off", right},
               {"cost forecast", right},
               {"cost", right}});
  for (const auto& f : items)
    table.add({to_string(f.job), f.kind, f.class_, word(f.state), rough(f.forecast.time),
               rough(f.actual.time), off_by(f.forecast.time.seconds(), f.actual.time.seconds()),
               brief(f.forecast.cost), brief(f.actual.cost)});
  c.print(table);
}

Result<> forecasts(Context& c, std::int32_t limit) {
  SOUK_ASSIGN(auto* api, c.api());
  SOUK_ASSIGN(const auto body, api->get(fmt::format("/v1/forecasts?limit={}", limit)));
  return c.show<wire::Page<wire::ForecastOutcome>>(body, [&](const auto& page) {
    if (page.items.empty()) return c.print("no job with a forecast has ended yet\n");
    show_forecasts(c, page.items);
  });
}

}  // namespace

Command forecasts_command() {
  auto limit = std::make_shared<std::int32_t>(50);
  Command out{.name = "forecasts",
              .summary = "what jobs were said to take and cost, and what came of it (operators)",
              .examples = {"forecasts", "forecasts --limit 500 --json"}};
  out.options = {flag("--limit N", "1 to 500, default 50", *limit)};
  out.run = [limit](Context& c) { return forecasts(c, *limit); };
  return out;
}

}  // namespace souk::cli
