#include "lab/report/choices.h"

#include "lab/worlds/external.h"
#include "market/types.h"
#include "mechanism/mechanism.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/validators/validator.h"

namespace souk::lab {
namespace {

// The enumerator of the same name. The API has enums of its own; that both list the same names is
// checked here.
template <class To, class From>
To same(From value) {
  static_assert(names_of(To{}) == names_of(From{}));
  return static_cast<To>(value);
}

std::optional<std::string> unless_empty(std::string_view text) {
  if (text.empty()) return std::nullopt;
  return std::string(text);
}

std::vector<wire::Parameter> rows_of(const base::ParameterList& list) {
  std::vector<wire::Parameter> out;
  for (const auto& row : list) {
    const auto words = row.words();
    wire::Parameter p{.name = std::string(row.name),
                      .type = row.type,
                      .above_low = row.above_low,
                      .choices = {words.begin(), words.end()},
                      .needed = row.needed,
                      .default_ = unless_empty(row.default_value),
                      .default_words = unless_empty(row.default_words),
                      .suggested = unless_empty(row.suggested),
                      .meaning = std::string(row.meaning)};
    if (row.type != base::ParameterType::choice && row.type != base::ParameterType::text) {
      p.low = row.low;
      p.high = row.high;
    }
    out.push_back(std::move(p));
  }
  return out;
}

wire::MechanismProperties properties_of(const mechanism::Properties& p) {
  return {.individually_rational = p.individually_rational,
          .truthfulness = same<wire::Truthfulness>(p.truthfulness),
          .budget_balance = same<wire::BudgetBalance>(p.budget_balance),
          .efficiency = same<wire::Efficiency>(p.efficiency),
          .sybil_proofness = same<wire::SybilProofness>(p.sybil_proofness),
          .fairness = same<wire::Fairness>(p.fairness),
          .measurements = same<wire::Measurements>(p.measurements),
          .goods = same<wire::Goods>(p.goods),
          .sets_prices = p.sets_prices,
          .gangs = p.gangs,
          .live = p.live,
          .own_demand = same<wire::OwnDemand>(p.own_demand)};
}

template <class Table>
std::vector<wire::Choice> choices_of(const Table& table) {
  std::vector<wire::Choice> out;
  for (const auto& info : table)
    out.push_back({std::string(info.name), std::string(info.what), rows_of(info.parameters)});
  return out;
}

}  // namespace

wire::Mechanisms mechanism_choices() {
  wire::Mechanisms out;
  for (const auto& info : mechanism::all())
    out.items.push_back({.name = std::string(info.name),
                         .summary = std::string(info.summary),
                         .properties = properties_of(info.properties),
                         .note = unless_empty(info.note),
                         .parameters = rows_of(info.parameters)});
  out.external = {std::string(market::kExternal), std::string(kExternalSummary),
                  rows_of(kExternalParameters)};
  return out;
}

wire::TrainingChoices training_choices() {
  wire::TrainingChoices out;
  for (const auto& info : train::aggregators())
    out.rules.push_back({.name = std::string(info.name),
                         .summary = std::string(info.what),
                         .sends = same<wire::Sends>(info.sends),
                         .folding = same<wire::Folding>(info.folding),
                         .robust = info.robust,
                         .parameters = rows_of(info.parameters)});
  out.codecs = choices_of(train::codecs());
  out.validators = choices_of(train::validators());
  return out;
}

}  // namespace souk::lab
