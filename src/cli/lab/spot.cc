#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/file.h"
#include "cli/commands/commands.h"
#include "cli/lab/lab.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "lab/worlds/spot_study.h"
#include "wire/json.h"

// `souk lab spot`: what it costs to stay and to move, on recorded spot prices.

namespace souk::cli {
namespace {

struct SpotFlags {
  std::string prices;
  std::map<std::string, std::string> rates;
  double hours = 24, slack = 1.5;
  std::int32_t runs = 200;
  base::Duration period = base::minutes(5), restart = base::minutes(3);
};

Result<std::map<std::string, double>> rates_of(const SpotFlags& o) {
  std::map<std::string, double> out;
  for (const auto& [type, text] : o.rates) {
    double rate = 0;
    if (!read_value(text, rate) || !(rate > 0))
      return usage(fmt::format("--rate {}={} is not a speed", type, text),
                   "steps per second, above 0: --rate p3.2xlarge=5.5");
    out[type] = rate;
  }
  if (out.empty())
    return usage("`souk lab spot` needs the job's speed on each type",
                 "--rate p3.2xlarge=5.5 --rate p2.xlarge=0.77");
  return out;
}

void show_spot(const Context& c, const lab::SpotResult& r) {
  using enum Column::Align;
  Table table({{"policy"},
               {"cost", right},
               {"over hindsight", right},
               {"in 95% of runs below", right, 0, 1},
               {"moves", right},
               {"late", right}});
  const auto add = [&](const char* name, const lab::SpotOutcome& o) {
    table.add({name, fmt::format("{:.2f}", o.cost), percent(o.over, 1), percent(o.over_p95, 1),
               fmt::format("{:.1f}", o.moves), std::to_string(o.late)});
  };
  add("stay where it was cheapest", r.stays);
  add("move", r.moves);
  table.add({"hindsight", fmt::format("{:.2f}", r.hindsight), "", "", "", ""});
  c.print(table);
  c.print(fmt::format("{} at {}, means\n", plural(r.runs, "run"), plural(r.places, "place")));
}

Result<> spot(Context& c, const SpotFlags& o) {
  SOUK_ASSIGN(const auto rates, rates_of(o));
  SOUK_ASSIGN(const auto text, base::read_file(o.prices, "--prices takes a CSV file"));
  SOUK_ASSIGN(auto series, lab::read_spot_prices(text, rates, o.prices));
  Progress bar("simulating", "runs", static_cast<std::uint64_t>(std::max(0, o.runs)), c.err());
  SOUK_ASSIGN(const auto result,
              lab::study_spot({.series = std::move(series),
                               .rates = rates,
                               .hours = o.hours,
                               .slack = o.slack,
                               .runs = o.runs,
                               .period = o.period,
                               .restart = o.restart},
                              [&](int runs) { bar.update(static_cast<std::uint64_t>(runs)); }));
  if (c.json()) return c.print_json(wire::to_json(result));
  show_spot(c, result);
  return {};
}

}  // namespace

Command lab_spot_command() {
  auto o = std::make_shared<SpotFlags>();
  Command out{.name = "spot",
              .summary = "stay or move: a training on recorded spot prices",
              .examples = {"lab spot --prices aws.csv --rate p3.2xlarge=5.46 --rate p2.xlarge=0.77",
                           "lab spot --prices aws.csv --rate p3.2xlarge=8.2 --rate p2.xlarge=3.8 "
                           "--hours 48 --slack 2 --json"}};
  out.options = {
      required(flag("--prices FILE", "timestamp,region,az,type,product,price", o->prices)),
      flag("--rate TYPE=N", "steps a second on a type; may be repeated", o->rates),
      flag("--hours N", "of work on the fastest type, default 24", o->hours),
      flag("--slack N", "the deadline, in times of that, default 1.5", o->slack),
      flag("--runs N", "begun at even distances, default 200", o->runs),
      flag("--period TIME", "between two looks at the prices, default 5m", o->period),
      flag("--restart TIME", "that a move loses, default 3m", o->restart)};
  out.details =
      "Hindsight knows all prices, moves for nothing and may pause: no policy costs less.";
  out.run = [o](Context& c) { return spot(c, *o); };
  return out;
}

}  // namespace souk::cli
