#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "mechanism/schedule/cost_slo.h"
#include "mechanism/schedule/fifo_greedy.h"
#include "mechanism/schedule/finish_time.h"
#include "mechanism/schedule/hadar.h"
#include "mechanism/schedule/makespan.h"
#include "mechanism/schedule/max_min_las.h"
#include "mechanism/schedule/price_discovery.h"
#include "mechanism/schedule/schedule.h"

namespace souk::mechanism {
namespace {

const MaxMinLas kMaxMin;
const FinishTime kFinishTime;
const Makespan kMakespan;
const CostSlo kCost;
const FifoGreedy kFifo(FifoGreedy::Choice::fastest);
const FifoGreedy kFifoAny(FifoGreedy::Choice::any);
const Hadar kHadar;
const PriceDiscovery kPriceDiscovery;

// The one list of scheduling policies. To add one: a file, its test, its include and object above,
// and its row here.
const std::array kPolicies{
    ScheduleEntry{"max-min", "The job that is served least, in its own measure, is served best.",
                  "the least level of service; more is better", false, kMaxMin},
    ScheduleEntry{"ftf", "Nobody takes much longer than with an equal part for itself.",
                  "the worst time over the time alone (rho); less is better", false, kFinishTime},
    ScheduleEntry{"makespan", "All jobs together are done as early as possible.",
                  "seconds until the last job ends; less is better", false, kMakespan},
    ScheduleEntry{"cost", "The most steps for the money, with every SLO met.",
                  "steps a second per unit of cost; more is better", false, kCost},
    ScheduleEntry{"fifo", "First come, first served, on the fastest machines with room.",
                  "jobs that run; more is better", true, kFifo},
    ScheduleEntry{"fifo-any", "First come, first served, as if all machines were alike.",
                  "jobs that run; more is better", true, kFifoAny},
    ScheduleEntry{
        "hadar",
        "Machines cost more the more are in use; who is worth more than its machines cost "
        "runs (hadar-style).",
        "worth less cost, summed; more is better", true, kHadar},
    ScheduleEntry{"price-discovery",
                  "max-min by posted prices that rise and fall with demand; nearly exact, for very "
                  "many jobs.",
                  "the least level of service; more is better", false, kPriceDiscovery},
};

}  // namespace

std::span<const ScheduleEntry> schedule_policies() { return kPolicies; }

Result<const ScheduleEntry*> find_schedule_policy(std::string_view name) {
  std::vector<std::string_view> names;
  for (const auto& entry : kPolicies) {
    if (entry.name == name) return &entry;
    names.push_back(entry.name);
  }
  return base::fail(base::Code::invalid, fmt::format("there is no scheduling policy '{}'", name),
                    base::suggest(name, names), "policy");
}

}  // namespace souk::mechanism
