#include <fmt/format.h>

#include <memory>

#include "cli/bench/sim.h"
#include "cli/commands/commands.h"
#include "cli/shell/choices.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"
#include "lab/report/choices.h"
#include "wire/json.h"

// A training under a virtual clock: what an aggregator, a codec or a fleet would do to a job,
// before any machine is paid for it.

namespace souk::cli {
namespace {

constexpr double kSimParts = 1000;  // Of a simulation, in the progress bar.

struct TrainSim : SimFlags {
  std::string rule = std::string(train::kDefaultAggregator);
  Names compare;
  bool list = false;
};

std::string seconds_text(double s) { return fmt::format("{:.1f}", s); }
void show_simulation(const Context& c, const lab::SimResult& r) {
  using enum Column::Align;
  Table table({{"epoch", right},
               {"seconds", right},
               {"samples", right},
               {"loss", right, 0, 2},
               {"accuracy", right},
               {"mean", right, 0, 1},
               {"low", right, 0, 3},
               {"high", right, 0, 4}});
  for (const auto& row : r.rows)
    table.add({std::to_string(row.epoch), seconds_text(row.seconds), std::to_string(row.samples),
               fmt::format("{:.4f}", row.loss), percent(row.accuracy, 2), percent(row.mean, 2),
               percent(row.low, 2), percent(row.high, 2)});
  c.print(table);
  c.print(fmt::format("{}: {} after {} virtual seconds, {} up, {} down\n", r.rule, r.reason,
                      seconds_text(r.seconds), bytes_text(static_cast<std::uint64_t>(r.bytes_up)),
                      bytes_text(static_cast<std::uint64_t>(r.bytes_down))));
  if (r.seconds_to_target)
    c.print(fmt::format("the target was reached after {} seconds\n",
                        seconds_text(*r.seconds_to_target)));
  c.print(
      fmt::format("computed {:.0f} s, useful {}; updates: {} folded, {} lost, {} late, "
                  "{} of honest machines and {} of others rejected\n",
                  r.computed, percent(r.goodput, 2), r.accepted, r.lost, r.late, r.rejected_honest,
                  r.rejected_adversary));
  c.print(fmt::format("parameters {}\n", r.hash.substr(0, 16)));
}

void show_simulations(const Context& c, const std::vector<lab::SimResult>& results) {
  using enum Column::Align;
  Table table({{"rule"},
               {"accuracy", right},
               {"seconds", right},
               {"to target", right},
               {"up", right, 0, 2},
               {"goodput", right},
               {"folded", right, 0, 3},
               {"lost", right, 0, 4},
               {"late", right, 0, 5},
               {"rejected", right, 0, 6},
               {"parameters", left, 0, 1}});
  for (const auto& r : results)
    table.add({r.rule, percent(r.accuracy, 2), seconds_text(r.seconds),
               r.seconds_to_target ? seconds_text(*r.seconds_to_target) : "-",
               bytes_text(static_cast<std::uint64_t>(r.bytes_up)), percent(r.goodput, 2),
               std::to_string(r.accepted), std::to_string(r.lost), std::to_string(r.late),
               fmt::format("{}+{}", r.rejected_honest, r.rejected_adversary), r.hash.substr(0, 8)});
  c.print(table);
}

Result<> list_choices(const Context& c) {
  const auto choices = lab::training_choices();
  if (c.json()) return c.print_json(wire::to_json(choices));
  show_training_choices(c, choices);
  return {};
}

Result<> train_sim(Context& c, const TrainSim& o) {
  if (o.list) return list_choices(c);
  const auto names = o.compare.items.empty() ? std::vector{o.rule} : o.compare.items;
  SOUK_ASSIGN(const auto learner, TorchLearner::start(c, o.lesson));
  SOUK_ASSIGN(auto config, sim_config(o, *learner));
  std::vector<lab::SimResult> results;
  Progress bar("simulating", "parts", static_cast<std::uint64_t>(kSimParts) * names.size(),
               c.err());
  for (const auto& name : names) {
    SOUK_ASSIGN(auto rule, parse_rule(name));
    rule.workers = o.workers;
    config.rule = std::move(rule);
    SOUK_ASSIGN(auto result, lab::simulate(config, *learner, [&](double done) {
                  bar.update(static_cast<std::uint64_t>(
                      (static_cast<double>(results.size()) + done) * kSimParts));
                }));
    result.rule = name;
    results.push_back(std::move(result));
  }
  if (c.json() && o.compare.items.empty()) return c.print_json(wire::to_json(results.front()));
  if (c.json()) return c.print_json("{\"items\":" + wire::to_json(results) + "}");
  if (o.compare.items.empty())
    show_simulation(c, results.front());
  else
    show_simulations(c, results);
  return {};
}

}  // namespace

Command train_sim_command() {
  auto o = std::make_shared<TrainSim>();
  Command out{.name = "train-sim",
              .summary = "train for real under a virtual clock",
              .examples = {"train-sim --workers 8 --speeds 1,0.5,0.25 --preempt 0.2",
                           "train-sim --compare mean,vc-asgd:alpha=0.95 --kill-every 10s",
                           "train-sim --rule trimmed-mean --adversaries 0.2:sign-flip --json"},
              .common = Common::local};
  out.options = {
      flag("--rule NAME",
           fmt::format("the aggregator: vc-asgd, vc-asgd:alpha=0.95; default {}", o->rule),
           o->rule),
      flag("--compare NAMES", "several, in a table", o->compare),
      flag("--list", "the aggregators, codecs and validators, and their parameters", o->list)};
  for (auto& option : sim_options(*o)) out.options.push_back(std::move(option));
  out.details =
      "Machines, links and deaths are invented; what is learnt is not: the native trainer computes "
      "every update, which is encoded, judged and folded as the hub does it. The same seed gives "
      "the same parameters.";
  out.run = [o](Context& c) { return train_sim(c, *o); };
  return out;
}

}  // namespace souk::cli
