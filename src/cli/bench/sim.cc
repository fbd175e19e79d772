#include "cli/bench/sim.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "train/codecs/codec.h"
#include "train/validators/validator.h"

namespace souk::cli {
namespace {

using base::Code;
using base::fail;

base::Result<> read_speeds(const Names& names, lab::Fleet& fleet) {
  if (names.items.empty()) return {};
  fleet.speeds.clear();
  for (const auto& name : names.items) SOUK_TRY(read_value(name, fleet.speeds.emplace_back()));
  return {};
}

base::Result<> read_adversaries(std::string_view text, lab::Fleet& fleet) {
  if (text.empty()) return {};
  const auto colon = text.find(':');
  SOUK_TRY(read_value(text.substr(0, colon), fleet.adversaries));
  if (colon == std::string_view::npos) return {};
  std::string kind(text.substr(colon + 1));
  std::ranges::replace(kind, '-', '_');
  const auto attack = base::from_string<lab::Attack>(kind);
  if (!attack)
    return fail(Code::invalid, fmt::format("there is no attack '{}'", text.substr(colon + 1)),
                "one of: sign-flip, nan, free-rider, random", "adversaries");
  fleet.attack = *attack;
  return {};
}

// "fp32, top-k:0.01": the names there are, with the usual value behind the colon.
template <class Info>
std::string listed(std::span<const Info> table) {
  std::string out;
  for (const auto& info : table) {
    out.append(out.empty() ? "" : ", ").append(info.name);
    for (const auto& p : info.parameters) out.append(":").append(p.default_value);
  }
  return out;
}

}  // namespace

base::Result<train::AggregatorSpec> parse_rule(std::string_view text) {
  const auto pieces = base::split(text, ':');
  train::AggregatorSpec out{.name = std::string(pieces.front())};
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    SOUK_ASSIGN(const auto pair, split_pair(pieces[i]));
    SOUK_TRY(read_value(pair.second, out.params[pair.first]));
  }
  return out;
}

std::vector<Option> sim_options(SimFlags& f) {
  return {
      flag("--workers N", "machines, default 8", f.workers),
      flag("--speeds LIST", "of the machines in turn, for example 1,0.5,0.25; default 1", f.speeds),
      flag("--preempt P", "the chance that a machine vanishes during a unit", f.preempt),
      flag("--kill-every TIME", "some machine dies every so often", f.kill_every),
      flag("--away TIME", "until a machine that vanished is back, default 10s", f.away),
      flag("--step TIME", "what a step takes at speed 1, default 200ms", f.step),
      flag("--up MBIT", "each machine's link to the hub; default no limit", f.up),
      flag("--down MBIT", "and from the hub", f.down),
      flag("--in-turn", "machines send and fetch nothing while they compute", f.in_turn),
      flag("--adversaries SHARE:KIND", "sign-flip, nan, free-rider or random", f.adversaries),
      flag("--model NAME", "of souk-torch, default lenet", f.lesson.model),
      flag("--data NAME", "mnist, fashion-mnist or a folder of CIFAR-10 files; default mnist",
           f.lesson.data),
      flag("--samples N", "of the training data, default 6000", f.lesson.samples),
      flag("--checked N", "of the test data, default 1000", f.lesson.checked),
      flag("--shards N", "that the data is split into, default 24", f.lesson.shards),
      flag("--epochs N", "default 3", f.epochs),
      flag("--batch N", "default 32", f.lesson.batch),
      flag("--lr RATE", "default 0.05", f.lr),
      flag("--lr-end RATE", "reached along a cosine", f.lr_end),
      flag("--local-steps N", "of a unit on the fastest machine; default chosen", f.local_steps),
      flag("--local-batch N", "the least that a machine's own step has, default 8", f.local_batch),
      flag("--local-state STATE",
           "what machines keep of their momentum: keep or fresh; default keep", f.local_state),
      flag("--average WHAT",
           "what is checked: tail, the mean of the last parameters, or none; default tail",
           f.average),
      flag("--validations N", "checks in an epoch, default 4", f.validations),
      flag("--codec NAME", listed(train::codecs()) + "; default fp32", f.codec),
      flag("--validators LIST", listed(train::validators()) + "; default all but score",
           f.validators),
      flag("--target ACCURACY", "note when it is reached", f.target),
      flag("--seed N", "default 1", f.seed),
  };
}

base::Result<lab::SimConfig> sim_config(const SimFlags& f, const TorchLearner& learner) {
  lab::SimConfig out{.codec = f.codec, .validators = f.validators.items, .target = f.target};
  out.rule.workers = f.workers;
  out.keep = f.local_state == wire::LocalState::keep;
  out.average = f.average == wire::Average::tail;
  out.in_turn = f.in_turn;
  out.plan.shards = learner.shards();
  out.plan.validation = learner.validation();
  out.plan.epochs = f.epochs;
  out.plan.batch = f.lesson.batch;
  out.plan.local_steps = f.local_steps;
  out.plan.local_batch = f.local_batch;
  out.plan.validations = f.validations;
  out.plan.lr = f.lr;
  out.plan.lr_end = f.lr_end.value_or(f.lr);
  out.plan.seed = f.seed;
  out.fleet.step = f.step;
  out.fleet.up_mbit = f.up;
  out.fleet.down_mbit = f.down;
  out.fleet.preempt = f.preempt;
  out.fleet.kill_every = f.kill_every;
  out.fleet.away = f.away;
  SOUK_TRY(read_speeds(f.speeds, out.fleet));
  SOUK_TRY(read_adversaries(f.adversaries, out.fleet));
  return out;
}

}  // namespace souk::cli
