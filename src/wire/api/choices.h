#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"
#include "base/parameter.h"
#include "base/vocabulary.h"
#include "wire/schema.h"

// What there is to choose from: mechanisms for a class; models, data, aggregators, codecs and
// validators for a training. Made from the tables in mechanism and train (lab/report/choices.h).

namespace souk::wire {

using base::ParameterType;
using base::Sends;

struct Parameter {
  std::string name;
  ParameterType type = ParameterType::number;
  std::optional<double> low, high;   // Of numbers: what is accepted, both included,
  bool above_low = false;            // but for `low` itself.
  std::vector<std::string> choices;  // Of a choice.
  bool needed = false;
  std::optional<std::string> default_;       // The value that counts if none is given.
  std::optional<std::string> default_words;  // What counts then, where no value says it.
  std::optional<std::string> suggested;      // For a live market, where the default is refused.
  std::string meaning;
  SOUK_FIELDS(Parameter, name, type, low, high, above_low, choices, needed, default_, default_words,
              suggested, meaning)
};

// "a whole number from 1 to 256", "dual or reserve".
[[nodiscard]] std::string accepted(const Parameter& parameter);

// Their meanings are in docs/mechanisms.md.
SOUK_ENUM(Truthfulness, none, in_units, for_buyers, in_price, in_price_and_units, for_single_minded)
SOUK_ENUM(BudgetBalance, strong, weak, deficit)
SOUK_ENUM(Efficiency, none, pareto, within_factor, within_price, in_large_markets, but_one_deal,
          if_truthful, full)
SOUK_ENUM(SybilProofness, none, for_buyers, on_one_side, within_round)
SOUK_ENUM(OwnDemand, can_raise_price, never_raises_price)
SOUK_ENUM(Fairness, none, shares, service, near_service, time_to_finish)
SOUK_ENUM(Measurements, none, rates, rates_and_work)
SOUK_ENUM(Goods, slots, bundles)

struct MechanismProperties {
  bool individually_rational = true;
  Truthfulness truthfulness = Truthfulness::none;
  BudgetBalance budget_balance = BudgetBalance::strong;
  Efficiency efficiency = Efficiency::none;
  SybilProofness sybil_proofness = SybilProofness::none;
  Fairness fairness = Fairness::none;
  Measurements measurements = Measurements::none;
  Goods goods = Goods::slots;
  bool sets_prices = true;
  bool gangs = true;
  bool live = true;
  OwnDemand own_demand = OwnDemand::can_raise_price;
  SOUK_FIELDS(MechanismProperties, individually_rational, truthfulness, budget_balance, efficiency,
              sybil_proofness, fairness, measurements, goods, sets_prices, gangs, live, own_demand)
};

// The properties as a sentence for economists: "IR; IC in price; strong budget balance; ...".
[[nodiscard]] std::string properties_text(const MechanismProperties& properties);

struct Mechanism {
  std::string name;
  std::string summary;
  MechanismProperties properties;
  std::optional<std::string> note;
  std::vector<Parameter> parameters;
  SOUK_FIELDS(Mechanism, name, summary, properties, note, parameters)
};

// Something to choose that is told from others by its summary alone.
struct Choice {
  std::string name;
  std::string summary;
  std::vector<Parameter> parameters;
  SOUK_FIELDS(Choice, name, summary, parameters)
};

struct Mechanisms {
  std::vector<Mechanism> items;
  Choice external;  // A program of the operator's. What it promises is its own affair.
  SOUK_FIELDS(Mechanisms, items, external)
};

SOUK_ENUM(Folding, each, buffer, round)

struct Aggregator {
  std::string name;
  std::string summary;
  Sends sends = Sends::delta;       // Workers send changes, or whole weights.
  Folding folding = Folding::each;  // Each update as it comes, a buffer, or a round of workers.
  bool robust = false;              // Survives a fifth of hostile workers.
  std::vector<Parameter> parameters;
  SOUK_FIELDS(Aggregator, name, summary, sends, folding, robust, parameters)
};

struct TrainingChoices {
  std::vector<Choice> models, data;
  std::vector<Aggregator> rules;
  std::vector<Choice> codecs, validators;
  SOUK_FIELDS(TrainingChoices, models, data, rules, codecs, validators)
};

SOUK_JSON_ELSEWHERE(Mechanism);
SOUK_JSON_ELSEWHERE(Mechanisms);

}  // namespace souk::wire
