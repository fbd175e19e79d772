#include "wire/api/choices.h"

#include <array>

namespace souk::wire {
namespace {

// Words by enumerator, in their order. An empty one is not worth a word.
constexpr std::array<std::string_view, 6> kTruthfulness{
    "not IC",
    "no gain from asking for more units than one needs",
    "IC for buyers without gangs",
    "IC in price",
    "IC in price and units",
    "IC for single-minded bidders"};
constexpr std::array<std::string_view, 3> kBalance{"strong budget balance", "weak budget balance",
                                                   "runs a deficit"};
constexpr std::array<std::string_view, 8> kEfficiency{
    "not efficient",
    "Pareto efficient",
    "efficient up to a constant factor",
    "efficient as far as the price from outside is",
    "efficient in large markets",
    "at most one deal lost with one unit each",
    "efficient if truthful and without gangs",
    "efficient"};
constexpr std::array<std::string_view, 4> kSybil{
    "not Sybil-proof", "Sybil-proof for buyers without gangs", "Sybil-proof on one side",
    "Sybil-proof within a round"};
constexpr std::array<std::string_view, 2> kOwnDemand{"", "own demand never raises own price"};
constexpr std::array<std::string_view, 5> kFairness{
    "", "fair in shares", "fair in what slots do for each job",
    "nearly fair in what slots do for each job", "fair in time to finish"};
constexpr std::array<std::string_view, 3> kMeasurements{"", "needs measured rates",
                                                        "needs measured rates and work"};

// Does not compile where an enumerator has no words.
template <class Enum, std::size_t n>
std::string_view words(const std::array<std::string_view, n>& all, Enum value) {
  static_assert(n == std::tuple_size_v<std::remove_cvref_t<decltype(names_of(Enum{}))>>);
  return all[static_cast<std::size_t>(value)];
}

}  // namespace

std::string accepted(const Parameter& p) {
  if (p.type != ParameterType::choice)
    return base::accepted({.type = p.type,
                           .low = p.low.value_or(0),
                           .high = p.high.value_or(0),
                           .above_low = p.above_low});
  return base::join(p.choices, " or ");
}

std::string properties_text(const MechanismProperties& p) {
  std::string out;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) out.append(out.empty() ? "" : "; ").append(text);
  };
  add(p.individually_rational ? "IR" : "not IR");
  add(words(kTruthfulness, p.truthfulness));
  add(words(kBalance, p.budget_balance));
  add(words(kEfficiency, p.efficiency));
  add(words(kSybil, p.sybil_proofness));
  add(words(kOwnDemand, p.own_demand));
  add(words(kFairness, p.fairness));
  add(words(kMeasurements, p.measurements));
  if (p.goods == Goods::bundles) add("for bundles of goods");
  if (!p.sets_prices) add("no prices");
  if (!p.gangs && p.goods == Goods::slots) add("no gangs");
  if (!p.live) add("only for the lab");
  return out;
}

}  // namespace souk::wire
