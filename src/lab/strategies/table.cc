#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "lab/strategies/strategy.h"

namespace souk::lab {

using base::Code;
using base::fail;

std::span<const StrategyEntry> strategies() {
  // The one list. To add one: a file, its test, its declaration in strategy.h and its row here.
  static const std::vector<StrategyEntry> table{
      {"truthful", "Says what it is worth.", {}, make_truthful},
      {"zero-intelligence",
       "Any price between its own value and the bound, so it never loses.",
       {},
       make_zero_intelligence},
      {"shading",
       "Asks for a share more, or offers a share less.",
       {{"by", .1, 0, .99}},
       make_shading},
      {"linear",
       "intercept + slope x value.",
       {{"intercept", 0, -1e9, 1e9}, {"slope", 1, 0, 100}},
       make_linear},
      {"adaptive",
       "Wants more after a trade and less after none, towards the market's price.",
       {{"margin", .1, 0, .99}, {"rate", .3, .01, 1}, {"step", .05, 0, 1}, {"greed", 0, 0, 1}},
       make_adaptive},
      {"best-response",
       "Meets the last price, as long as that is no loss.",
       {{"step", .02, 0, 1}},
       make_best_response},
      {"false-names",
       "Appears as several traders that ask for less and less.",
       {{"names", 2, 1, 64}, {"spread", .1, 0, .99}},
       make_false_names},
      {"spot-bidder",
       "Bids what prices seen so far make best for a job that is lost or waits when outbid.",
       {{"recovery", 0, 0, 1e6}, {"slot", 300, 1, 1e6}, {"run_time", 3600, 1, 1e9}},
       make_spot_bidder},
  };
  return table;
}

namespace {

const StrategyEntry* find(std::string_view name) {
  const auto all = strategies();
  const auto it = std::ranges::find(all, name, &StrategyEntry::name);
  return it == all.end() ? nullptr : &*it;
}

}  // namespace

base::Result<StrategyChoice> check_strategy(StrategyChoice choice) {
  const auto* entry = find(choice.name);
  if (entry == nullptr) {
    std::vector<std::string_view> names;
    for (const auto& e : strategies()) names.push_back(e.name);
    return fail(Code::invalid, fmt::format("there is no strategy '{}'", choice.name),
                base::suggest(choice.name, names));
  }
  std::vector<std::string_view> known;
  for (const auto& p : entry->params) known.push_back(p.name);
  for (const auto& [name, value] : choice.params) {
    const auto p = std::ranges::find(entry->params, name, &StrategyParam::name);
    if (p == entry->params.end())
      return fail(Code::invalid,
                  fmt::format("the strategy {} has no parameter '{}'", choice.name, name),
                  known.empty() ? "it has none" : base::suggest(name, known), name);
    if (!(value >= p->least && value <= p->most))
      return fail(Code::invalid, fmt::format("{} is {}", name, value),
                  fmt::format("use {} to {}", p->least, p->most), name);
  }
  for (const auto& p : entry->params) choice.params.try_emplace(std::string(p.name), p.otherwise);
  return choice;
}

std::unique_ptr<Strategy> make_strategy(const StrategyChoice& choice) {
  const auto* entry = find(choice.name);
  CHECK(entry != nullptr);
  return entry->make(choice.params);
}

}  // namespace souk::lab
