#include <fmt/format.h>

#include <array>

#include "mechanism/auction/ascending.h"
#include "mechanism/auction/cda.h"
#include "mechanism/auction/huang.h"
#include "mechanism/auction/k_double.h"
#include "mechanism/auction/mcafee.h"
#include "mechanism/auction/muda.h"
#include "mechanism/auction/posted.h"
#include "mechanism/auction/primal_dual.h"
#include "mechanism/auction/sbba.h"
#include "mechanism/auction/tpd.h"
#include "mechanism/auction/trade_reduction.h"
#include "mechanism/auction/vcg.h"
#include "mechanism/auction/vickrey.h"
#include "mechanism/bundles/greedy.h"
#include "mechanism/bundles/vcg_combinatorial.h"
#include "mechanism/mechanism.h"
#include "mechanism/schedule/scheduled.h"
#include "mechanism/sharing/fifo.h"
#include "mechanism/sharing/karma.h"
#include "mechanism/sharing/max_min.h"

namespace souk::mechanism {
namespace {

using base::Parameter;
using base::ParameterType;
using enum Truthfulness;
using enum BudgetBalance;
using enum OwnDemand;

constexpr double kMostPrice = static_cast<double>(base::kMostCredits.micro) / 1e6;

constexpr Parameter price(std::string_view name, std::string_view unless_given,
                          std::string_view meaning) {
  return {.name = name,
          .type = ParameterType::price,
          .high = kMostPrice,
          .default_words = unless_given,
          .meaning = meaning};
}

constexpr Parameter above_zero(Parameter parameter) {
  parameter.above_low = true;
  return parameter;
}

constexpr Parameter fraction(std::string_view name, std::string_view otherwise,
                             std::string_view meaning) {
  return {.name = name,
          .type = ParameterType::decimal,
          .high = 1,
          .default_value = otherwise,
          .meaning = meaning};
}

// The first choice is the default.
constexpr Parameter choice(std::string_view name, std::string_view first, std::string_view second,
                           std::string_view meaning) {
  return {.name = name,
          .type = ParameterType::choice,
          .choices = {first, second},
          .default_value = first,
          .meaning = meaning};
}

// Of mechanisms without parameters.
template <class M>
base::Result<std::unique_ptr<Mechanism>> make_plain(const base::Arguments& /*given*/) {
  return std::make_unique<M>();
}

constexpr std::string_view kSuggestedPrice = "the suggested price";
constexpr std::string_view kMeasured =
    "Rates and work are measured by the market, so nobody can misstate them.";

constexpr Parameter kSlotPrices = choice(
    "prices", "dual", "reserve",
    "With dual, a slot costs the suggested price times what its type is worth over the mean of all "
    "slots, within reserve and limit. With reserve, it costs what its lender asks.");

// The mechanisms that follow a scheduling policy differ in what they make best.
constexpr Properties scheduled(Fairness fairness, Measurements measurements) {
  return {.fairness = fairness, .measurements = measurements};
}

// The one list of mechanisms. To add one: its files, its include above and its row here.
constexpr std::array kMechanisms{
    MechanismInfo{
        .name = "posted",
        .summary =
            "Everyone who accepts the suggested price trades at it, first come, first served.",
        .properties = {.truthfulness = in_price,
                       .sybil_proofness = SybilProofness::within_round,
                       .own_demand = never_raises_price},
        .parameters = {price("price", kSuggestedPrice, "The price to post.")},
        .make = make_posted},
    MechanismInfo{
        .name = "vickrey",
        .summary =
            "The highest bids meet the lowest asks; each borrower pays what its slots would have "
            "brought otherwise: the asks it uses, or the bids it displaces.",
        .properties = {.truthfulness = for_buyers,
                       .efficiency = Efficiency::if_truthful,
                       .sybil_proofness = SybilProofness::for_buyers,
                       .own_demand = never_raises_price},
        .parameters = {fraction("floor", "1",
                                "What an offer at market asks for, as a share of the suggested "
                                "price.")},
        .make = make_vickrey},
    MechanismInfo{
        .name = "k-double",
        .summary = "The highest bids meet the lowest asks, all at one price between the marginal "
                   "bid and the marginal ask.",
        .properties = {.efficiency = Efficiency::if_truthful},
        .parameters = {fraction("kappa", "0.5",
                                "Where the price lies between the lowest (0) and the highest (1) "
                                "that suits all who trade.")},
        .make = make_k_double},
    MechanismInfo{
        .name = "mcafee",
        .summary = "The best pair that cannot trade sets the price; where the marginal pair does "
                   "not accept it, that pair does not trade and sets the prices of the others.",
        .properties = {.truthfulness = in_price,
                       .budget_balance = weak,
                       .efficiency = Efficiency::but_one_deal},
        .least = {2, 2, 4},
        .make = make_plain<McAfee>},
    MechanismInfo{
        .name = "trade-reduction",
        .summary = "The marginal bid and ask do not trade; they set what the others pay and get.",
        .properties = {.truthfulness = in_price,
                       .budget_balance = weak,
                       .efficiency = Efficiency::but_one_deal},
        .least = {2, 2, 4},
        .make = make_plain<TradeReduction>},
    MechanismInfo{
        .name = "sbba",
        .summary = "One price, set by the marginal buyer or the next seller; a lottery decides who "
                   "of the longer side does not trade.",
        .properties = {.truthfulness = in_price, .efficiency = Efficiency::but_one_deal},
        .least = {1, 1, 3},
        .parameters = {choice("first", "buyers", "sellers",
                              "Whose marginal order sets the price; sellers is the mirror image.")},
        .make = make_sbba},
    MechanismInfo{
        .name = "muda",
        .summary =
            "The book is split in two halves by lot, and each trades at the price of the other.",
        .properties = {.truthfulness = in_price_and_units,
                       .budget_balance = weak,
                       .efficiency = Efficiency::in_large_markets},
        .least = {2, 2, 4},
        .note = "With long=lottery the budget balance is strong.",
        .parameters = {{.name = "long",
                        .type = ParameterType::choice,
                        .choices = {"vickrey", "lottery"},
                        .default_value = "vickrey",
                        .suggested = "lottery",
                        .meaning = "How the units of the longer side are chosen: by price, with "
                                   "Vickrey fees that only the lab can settle, or by lottery."}},
        .make = make_muda},
    MechanismInfo{
        .name = "tpd",
        .summary = "A threshold price from outside divides the traders; the longer side competes "
                   "for the deals.",
        .properties = {.truthfulness = in_price_and_units,
                       .budget_balance = weak,
                       .efficiency = Efficiency::within_price,
                       .sybil_proofness = SybilProofness::within_round},
        .parameters = {price("r", kSuggestedPrice, "The threshold.")},
        .make = make_tpd},
    MechanismInfo{.name = "huang",
                  .summary =
                      "The marginal bid and ask do not trade any of their units; the longer side "
                      "shares its excess equally.",
                  .properties = {.truthfulness = in_price, .budget_balance = weak},
                  .least = {2, 2, 4},
                  .make = make_plain<Huang>},
    MechanismInfo{
        .name = "vcg",
        .summary = "The units go where they are worth most, and each trader pays what its presence "
                   "costs the others.",
        .properties = {.truthfulness = in_price_and_units,
                       .budget_balance = deficit,
                       .efficiency = Efficiency::full,
                       .sybil_proofness = SybilProofness::on_one_side,
                       .gangs = false,
                       .live = false},
        .make = make_plain<Vcg>},
    MechanismInfo{.name = "ascending",
                  .summary =
                      "One clock for gangs and single units: the price of buyers rises and that of "
                      "sellers falls until both sides match.",
                  .properties = {.truthfulness = in_price, .efficiency = Efficiency::but_one_deal},
                  .least = {1, 1, 3},
                  .make = make_plain<Ascending>},
    MechanismInfo{.name = "cda",
                  .summary =
                      "Orders arrive one by one in a drawn order; one that crosses trades at the "
                      "price of the resting order.",
                  .properties = {},
                  .make = make_plain<Cda>},
    MechanismInfo{
        .name = "primal-dual",
        .summary = "The price rises with use, from low to high; bids are served in line while "
                   "their limit is above it.",
        .properties = {.truthfulness = for_buyers,
                       .efficiency = Efficiency::within_factor,
                       .sybil_proofness = SybilProofness::for_buyers},
        .note = "The factor is ln(high / low).",
        .parameters = {above_zero(price("low", "a quarter of the suggested price",
                                        "The price when nothing is in use.")),
                       above_zero(price("high", "four times the suggested price",
                                        "The price when everything is in use; at least low."))},
        .make = make_primal_dual},
    MechanismInfo{
        .name = "karma",
        .summary = "An owner who uses less than its fair share earns karma; one who wants more "
                   "borrows slots for karma, the richest first.",
        .properties = {.truthfulness = in_units,
                       .efficiency = Efficiency::pareto,
                       .sets_prices = false},
        .parameters = {fraction("alpha", "0.5", "The part of a fair share that is guaranteed."),
                       {.name = "credits",
                        .type = ParameterType::decimal,
                        .high = kMostPrice,
                        .default_value = "1000000",
                        .meaning = "The karma that the first owners begin with, in slots."}},
        .make = make_karma},
    MechanismInfo{.name = "max-min",
                  .summary = "Slots are shared out evenly among owners, as far as each wants them.",
                  .properties = {.truthfulness = in_units,
                                 .fairness = Fairness::shares,
                                 .sets_prices = false},
                  .make = make_plain<MaxMin>},
    MechanismInfo{.name = "fifo",
                  .summary =
                      "First come, first served: bids in line take the cheapest slots at their "
                      "reserves.",
                  .properties = {.truthfulness = for_buyers,
                                 .sybil_proofness = SybilProofness::for_buyers,
                                 .sets_prices = false,
                                 .own_demand = never_raises_price},
                  .make = make_plain<Fifo>},
    MechanismInfo{.name = "las",
                  .summary =
                      "Jobs run where they are fastest, so that the job that is served least is "
                      "served as well as possible.",
                  .properties = scheduled(Fairness::service, Measurements::rates),
                  .note = kMeasured,
                  .parameters = {kSlotPrices},
                  .make = make_scheduled<Objective::las>},
    MechanismInfo{
        .name = "ftf",
        .summary = "Jobs run where they are fastest, so that no job takes much longer than with an "
                   "equal part of all slots for itself.",
        .properties = scheduled(Fairness::time_to_finish, Measurements::rates_and_work),
        .note = kMeasured,
        .parameters = {kSlotPrices},
        .make = make_scheduled<Objective::ftf>},
    MechanismInfo{
        .name = "makespan",
        .summary = "Jobs run where they are fastest, so that all are done as early as possible.",
        .properties = scheduled(Fairness::none, Measurements::rates_and_work),
        .note = kMeasured,
        .parameters = {kSlotPrices},
        .make = make_scheduled<Objective::makespan>},
    MechanismInfo{
        .name = "cost-slo",
        .summary = "The most work for the money, with every job done by its deadline where that is "
                   "possible.",
        .properties = scheduled(Fairness::none, Measurements::rates_and_work),
        .note = kMeasured,
        .parameters = {kSlotPrices},
        .make = make_scheduled<Objective::cost_slo>},
    MechanismInfo{.name = "hadar",
                  .summary =
                      "Slots cost more the more of them are in use; a job is placed if its value "
                      "exceeds the price of the slots it would use.",
                  .properties = scheduled(Fairness::none, Measurements::rates_and_work),
                  .note = kMeasured,
                  .parameters = {kSlotPrices},
                  .make = make_scheduled<Objective::hadar>},
    MechanismInfo{
        .name = "price-discovery",
        .summary = "As las, found by posted prices that rise and fall with demand; for very many "
                   "jobs.",
        .properties = scheduled(Fairness::near_service, Measurements::rates),
        .note = kMeasured,
        .parameters = {kSlotPrices},
        .make = make_scheduled<Objective::price_discovery>},
    MechanismInfo{
        .name = "vcg-combinatorial",
        .summary = "Bundles of goods go where they are worth most; each winner pays what it costs "
                   "the others.",
        .properties = {.truthfulness = in_price_and_units,
                       .budget_balance = weak,
                       .efficiency = Efficiency::full,
                       .goods = Goods::bundles,
                       .gangs = false,
                       .live = false},
        .note = "For small books.",
        .make = make_plain<VcgCombinatorial>},
    MechanismInfo{.name = "greedy",
                  .summary =
                      "Bundles of goods go to the best bids for their size; each winner pays the "
                      "least bid that would have won.",
                  .properties = {.truthfulness = for_single_minded,
                                 .budget_balance = weak,
                                 .goods = Goods::bundles,
                                 .gangs = false,
                                 .live = false},
                  .parameters = {fraction(
                      "l", "0.5", "How much size counts: bids are ranked by limit / size^l.")},
                  .make = make_greedy},
};

}  // namespace

std::span<const MechanismInfo> all() { return kMechanisms; }

base::Result<const MechanismInfo*> find(std::string_view name) {
  return base::find_named(all(), name, "mechanism", "mechanism");
}

base::Result<std::unique_ptr<Mechanism>> make(std::string_view name, const Params& params) {
  SOUK_ASSIGN(const auto* info, find(name));
  SOUK_ASSIGN(const auto given, base::Arguments::read(fmt::format("the mechanism {}", name),
                                                      info->parameters, params));
  return info->make(given);
}

}  // namespace souk::mechanism
