#include "cli/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

#include "advisor/catalog.h"
#include "base/text.h"
#include "base/time.h"
#include "cli/commands/commands.h"
#include "cli/plan/plan_job.h"
#include "wire/json.h"

// Which cluster to rent, before anything is spent: from files, so that it needs no server.

namespace souk::cli {
namespace {

constexpr std::int64_t kFreshDays = 30;  // Spot prices, at least, differ from month to month.

struct Algorithm {
  std::string_view name, summary;
  Result<> (*run)(Context& c, const PlanFlags& flags);
};

// The planners of mixes; those for workers of one type have a table of their own in the advisor.
constexpr std::array<Algorithm, 3> kMixes{{
    {"spotdnn", "the cheapest window of machines, sorted by speed, that is done in time",
     &plan_mix},
    {"exact", "the cheapest of all mixes that is done in time, proved to be", &plan_mix},
    {"pareto", "all mixes that no other beats in time, cost and chance, one of them chosen",
     &plan_mix},
}};

std::vector<Algorithm> algorithms() {
  std::vector<Algorithm> out;
  for (const auto& r : advisor::cluster_recommenders())
    out.push_back({r.name, r.summary, &plan_cluster});
  out.insert(out.end(), kMixes.begin(), kMixes.end());
  return out;
}

struct ListedAlgorithm {
  std::string name, summary;
  SOUK_FIELDS(ListedAlgorithm, name, summary)
};
struct ListedAlgorithms {
  std::vector<ListedAlgorithm> items;
  SOUK_FIELDS(ListedAlgorithms, items)
};

Result<> list_plans(const Context& c) {
  ListedAlgorithms out;
  for (const auto& a : algorithms())
    out.items.push_back({std::string(a.name), std::string(a.summary)});
  if (c.json()) return c.print_json(wire::to_json(out));
  Table table({{"algorithm"}, {"recommends", Column::Align::left, 20}});
  for (const auto& a : out.items) table.add({a.name, a.summary});
  c.print(table);
  return {};
}

// Who takes a flag; a sum of them.
constexpr unsigned kFit = 0, kCluster = 1, kMix = 2;

// A flag that would be ignored is a mistake that somebody would find out after paying.
Result<> only_own_flags(const PlanFlags& f, unsigned kind, std::string_view who,
                        std::string_view hint) {
  struct FlagUse {
    std::string_view flag;
    unsigned of;
    bool given;
  };
  const FlagUse all[] = {{"--catalog", kCluster, !f.catalog.empty()},
                         {"--ps", kCluster, !f.ps.empty()},
                         {"--bandwidth", kCluster, !f.bandwidth.empty()},
                         {"--type", kCluster, !f.type.empty()},
                         {"--types", kCluster, !f.types.items.empty()},
                         {"--max-workers", kCluster, f.max_workers.has_value()},
                         {"--p", kCluster, f.share.has_value()},
                         {"--budget", kCluster | kMix, f.budget.has_value()},
                         {"--buy", kCluster | kMix, f.buy.has_value()},
                         {"--profile", kMix, !f.profile.empty()},
                         {"--prices", kMix, !f.prices.empty()},
                         {"--loss", kMix, f.loss.has_value()},
                         {"--samples", kMix, f.samples.has_value()},
                         {"--iterations", kMix, f.iterations.has_value()},
                         {"--time", kMix, f.time.has_value()},
                         {"--confidence", kMix, f.confidence.has_value()},
                         {"--server-price", kMix, f.server_price.has_value()},
                         {"--most", kMix, f.most.has_value()}};
  for (const auto& g : all)
    if (g.given && (g.of & kind) == 0)
      return usage(fmt::format("{} takes no {}", who, g.flag), std::string(hint));
  return {};
}

Result<> fit(Context& c, const PlanFlags& f) {
  if (!f.job.empty() || !f.algorithm.empty() || f.measure)
    return usage("--fit plans nothing", "fit first, then plan with the profile it gives");
  SOUK_TRY(only_own_flags(f, kFit, "--fit", "it reads measurements and writes parameters"));
  return plan_fit(c, f);
}

Result<> plan(Context& c, const PlanFlags& f) {
  if (f.list) return list_plans(c);
  if (!f.fit.empty()) return fit(c, f);
  if (!f.job.empty()) {
    if (!f.algorithm.empty())
      return usage("a job file and --algorithm do not go together",
                   "the market plans a job; algorithms plan from a --catalog or --profile");
    return plan_job(c, f.job, f.measure);
  }
  if (f.measure) return usage("--measure needs a job file", "souk plan job.yaml --measure");
  if (f.algorithm.empty())
    return usage("`souk plan` needs a job file, or an --algorithm",
                 "`souk plan --list` names them");
  std::vector<std::string_view> names;
  for (const auto& a : algorithms()) {
    names.push_back(a.name);
    if (a.name != f.algorithm) continue;
    const bool mix = a.run == &plan_mix;
    SOUK_TRY(only_own_flags(f, mix ? kMix : kCluster, a.name,
                            mix ? "it plans from a --profile" : "it plans from a --catalog"));
    return a.run(c, f);
  }
  return usage(fmt::format("there is no algorithm '{}'", f.algorithm),
               base::suggest(f.algorithm, names));
}

}  // namespace

base::Result<> read_value(std::string_view text, Seconds& out) {
  double plain = 0;
  if (read_value(text, plain) && plain > 0) {
    out.s = plain;
    return {};
  }
  const auto duration = base::parse_duration(text);
  if (!duration || duration->us <= 0)
    return base::fail(base::Code::invalid, fmt::format("'{}' is not a length of time", text),
                      "seconds, as 1900, or 31m40s; above 0");
  out.s = duration->seconds();
  return {};
}

base::Result<> read_value(std::string_view text, BuyFlag& out) {
  constexpr std::pair<std::string_view, advisor::Buy> ways[] = {
      {"spot", advisor::Buy::spot},
      {"on-demand", advisor::Buy::on_demand},
      {"both", advisor::Buy::both}};
  for (const auto& [name, way] : ways)
    if (name == text) {
      out.way = way;
      return {};
    }
  return base::fail(base::Code::invalid, fmt::format("'{}' is not a way to buy", text),
                    "one of: spot, on-demand, both");
}

PricesUsed prices_used(const advisor::PriceCatalog& catalog) {
  return {catalog.provider, catalog.region, date_of(catalog)};
}

std::string prices_line(const advisor::PriceCatalog& catalog) {
  return fmt::format("Prices of {} on {}.\n", place_of(catalog), date_of(catalog));
}

void note_age(const Context& c, const advisor::PriceCatalog& catalog) {
  const auto days = (c.now() - catalog.date).us / base::days(1).us;
  if (days > kFreshDays)
    c.note(fmt::format("the prices of {} are {} days old: take newer ones before you spend",
                       place_of(catalog), days));
}

Command plan_command() {
  auto o = std::make_shared<PlanFlags>();
  Command out{.name = "plan",
              .summary = "which cluster to rent: time, cost and chance before anything is spent",
              .examples = {"plan job.yaml --measure",
                           "plan --algorithm scala-opt --catalog catalog.json --ps m4.large "
                           "--bandwidth '{\"t2.xlarge\":180,\"c4.xlarge\":160}' --max-workers 6",
                           "plan --algorithm pareto --profile profile.json --loss 0.9 --time 1h "
                           "--prices ec2.json --buy both",
                           "plan --fit measurements.json --json"}};
  out.options = {
      optional(argument("FILE", "a job file with a training: planned on the live market", o->job)),
      flag("--measure", "run it on one worker first, a minute at most, and pay for that",
           o->measure),
      flag("--algorithm NAME", "which one; see --list", o->algorithm),
      flag("--list", "the algorithms", o->list),
      flag("--catalog FILE", "parameter servers and workers with their prices", o->catalog),
      flag("--ps TYPE", "the parameter server; default: the one with most bandwidth", o->ps),
      flag("--bandwidth JSON", "Mbps of one worker by type, from a short run", o->bandwidth),
      flag("--types NAMES", "choose among these worker types only", o->types),
      flag("--type TYPE", "the worker type, for scala-opt-m", o->type),
      flag("--max-workers N", "at most this many", o->max_workers),
      flag("--p SHARE", "of the server's bandwidth to fill; default 0.95", o->share),
      flag("--budget CREDITS", "with --catalog for an hour, with --profile for all", o->budget),
      flag("--profile FILE", "machine types with measured steps, and the model", o->profile),
      flag("--prices FILE", "take prices and quotas from a provider's catalog", o->prices),
      flag(
          "--buy WAY",
          "spot, on-demand or both, at a provider's prices; default: both with --prices, on-demand "
          "with --catalog",
          o->buy),
      flag("--loss LOSS", "the work: until the loss is down to this", o->loss),
      flag("--samples N", "the work: this many samples", o->samples),
      flag("--iterations N", "the work: this many steps", o->iterations),
      flag("--time TIME", "the deadline, in seconds or as 1h30m", o->time),
      flag("--confidence SHARE", "for pareto, of meeting the deadline; default 0.9", o->confidence),
      flag("--server-price CREDITS", "of the parameter server for an hour", o->server_price),
      flag("--most N", "plans that pareto shows; default 8", o->most),
      flag("--fit FILE",
           "fit a loss curve and the hub's contention to measurements, or to the metrics.csv of a "
           "training; several add up",
           o->fit)};
  out.details =
      "With a job file: how long the training would take and what it would cost on the machines "
      "that are free now, from what was measured of it before. With --algorithm, from files: "
      "cost-opt, time-opt, scala-opt and scala-opt-m size a cluster of one parameter server and "
      "workers of one type (--catalog). spotdnn, exact and pareto mix types of different speed and "
      "price (--profile). --fit makes the parameters of a profile from measurements. "
      "docs/planning.md has the files and what each algorithm does.";
  out.run = [o](Context& c) { return plan(c, *o); };
  return out;
}

}  // namespace souk::cli
