#include <fmt/format.h>

#include <array>

#include "base/text.h"
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
#include "mechanism/bundles/greedy.h"
#include "mechanism/bundles/vcg_combinatorial.h"
#include "mechanism/mechanism.h"
#include "mechanism/schedule/scheduled.h"
#include "mechanism/sharing/fifo.h"
#include "mechanism/sharing/karma.h"
#include "mechanism/sharing/max_min.h"

namespace souk::mechanism {
namespace {

// The one list of mechanisms. To add one: a file, its test, its include above and its row here.
constexpr std::array kTable{
    Entry{"posted",
          "Everyone who accepts the suggested price trades at it, first come first served.",
          "IR; IC in prices; strong budget balance; not efficient; Sybil-proof within a round",
          make_posted},
    Entry{"k-double",
          "Highest bids meet lowest asks in one call, all at one price between the marginal two.",
          "IR; strong budget balance; efficient if truthful and without gangs; not IC; not "
          "Sybil-proof",
          make_k_double},
    Entry{
        "mcafee",
        "The next pair that cannot trade sets the price; if it does not suit, the last pair steps "
        "out.",
        "IR; IC in prices; weak budget balance; at most one deal lost with one unit each; not "
        "Sybil-proof",
        make_mcafee},
    Entry{
        "trade-reduction",
        "The last bid and ask that could trade step out and set what the others pay and get.",
        "IR; IC in prices; weak budget balance; one deal lost with one unit each; not Sybil-proof",
        make_trade_reduction},
    Entry{"sbba",
          "One price set by the last buyer or the next seller; a lottery decides who does without.",
          "IR; IC in prices; strong budget balance; at most one deal lost with one unit each; not "
          "Sybil-proof",
          make_sbba},
    Entry{"muda", "The book is split by lot in two halves, and each trades at the other's price.",
          "IR; IC in price and units; strong budget balance (with long=vickrey the platform keeps "
          "fees); efficient in large markets; not Sybil-proof",
          make_muda},
    Entry{"tpd",
          "A threshold price from outside divides the traders; the longer side competes for deals.",
          "IR; IC in price and units; weak budget balance; efficient as far as the threshold is; "
          "Sybil-proof within a round",
          make_tpd},
    Entry{"huang",
          "The last bid and ask step out with all their units; the longer side shares its excess "
          "equally.",
          "IR; IC in prices; weak budget balance; not efficient; not Sybil-proof", make_huang},
    Entry{
        "vcg",
        "The units go where they are worth most, and each pays what its presence costs the others.",
        "IR; IC in price and units; efficient; runs a deficit, so only for the lab; no gangs; "
        "Sybil-proof on one side",
        make_vcg},
    Entry{"ascending",
          "One clock for gangs and single units: prices close in on each other until both sides "
          "match.",
          "IR; IC in prices; strong budget balance; at most one deal lost with gangs of one size; "
          "not Sybil-proof",
          make_ascending},
    Entry{
        "cda",
        "Orders arrive one by one in a drawn order; one that crosses trades at the resting price.",
        "IR; strong budget balance; not IC; not efficient; not Sybil-proof", make_cda},
    Entry{"primal-dual",
          "The price rises with use, from low to high; who values a slot more takes it, in line.",
          "IR; IC and Sybil-proof for buyers without gangs; strong budget balance; efficient up to "
          "a factor ln(high / low)",
          make_primal_dual},
    Entry{
        "karma",
        "Who uses less than its fair share earns karma; who wants more borrows, the richest first.",
        "IR; strong budget balance; Pareto efficient; no gain from asking for more than one "
        "needs; no prices; not Sybil-proof",
        make_karma},
    Entry{"max-min", "Slots are shared out evenly among owners, as far as each wants them.",
          "IR; strong budget balance; fair; no gain from asking for more than one needs; no "
          "prices; not Sybil-proof",
          make_max_min},
    Entry{"fifo",
          "First come, first served: bids in line take the cheapest slots at their reserves.",
          "IR; IC for buyers without gangs; strong budget balance; no prices; not efficient",
          make_fifo},
    Entry{"las",
          "Each job where it is fastest, so that the one that is served least is served best.",
          "IR; strong budget balance; fair in what slots do for each job; rates are measured, not "
          "declared; not IC in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::las>},
    Entry{"ftf",
          "Each job where it is fastest, so that nobody takes much longer than with an equal part "
          "for itself.",
          "IR; strong budget balance; fair in time to finish; rates and work are measured, not "
          "declared; not IC in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::ftf>},
    Entry{"makespan", "Each job where it is fastest, so that all are done as early as possible.",
          "IR; strong budget balance; not fair; rates and work are measured, not declared; not IC "
          "in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::makespan>},
    Entry{"cost-slo",
          "The most work for the money, with every job done in its time where that can be.",
          "IR; strong budget balance; not fair; rates and work are measured, not declared; not IC "
          "in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::cost_slo>},
    Entry{"hadar",
          "Slots are dearer the more are in use; who makes more of them than they cost gets them.",
          "IR; strong budget balance; not fair; rates and work are measured, not declared; not IC "
          "in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::hadar>},
    Entry{"price-discovery",
          "As las, found by posted prices that rise and fall with demand; for very many jobs.",
          "IR; strong budget balance; nearly as fair as las; rates are measured, not declared; not "
          "IC in prices and units; not efficient; not Sybil-proof",
          make_scheduled<Objective::price_discovery>},
    Entry{"vcg-combinatorial",
          "Bundles of goods go where they are worth most; each pays what it costs the others.",
          "IR; IC; never a deficit; efficient; not Sybil-proof; small books, only for the lab",
          make_vcg_combinatorial},
    Entry{
        "greedy",
        "Bundles of goods go to the best bids for their size; each pays the least that would win.",
        "IR; IC for who wants one bundle; never a deficit; not efficient; not Sybil-proof; only "
        "for the lab",
        make_greedy},
};

}  // namespace

std::span<const Entry> all() { return kTable; }

base::Result<std::unique_ptr<Mechanism>> make(std::string_view name, const Params& params) {
  std::vector<std::string_view> names;
  for (const auto& entry : kTable) {
    if (entry.name == name) return entry.make(params);
    names.push_back(entry.name);
  }
  return base::fail(base::Code::invalid, fmt::format("there is no mechanism '{}'", name),
                    base::suggest(name, names), "mechanism");
}

}  // namespace souk::mechanism
