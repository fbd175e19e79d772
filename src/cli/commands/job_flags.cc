#include "cli/commands/job_flags.h"

#include <fmt/format.h>

#include "base/text.h"
#include "cli/shell/session.h"

namespace souk::cli {

bool JobFlags::constrains() const {
  return packages || regions || lenders || refuse_lenders || providers || refuse_providers ||
         max_rtt || min_reliability;
}

void JobFlags::overlay(wire::Constraints& out) const {
  if (packages) out.packages = packages->items;
  if (regions) out.regions = regions->items;
  if (lenders) out.lenders_allowed = lenders->items;
  if (refuse_lenders) out.lenders_refused = refuse_lenders->items;
  if (providers) out.providers_allowed = providers->items;
  if (refuse_providers) out.providers_refused = refuse_providers->items;
  // `souk why` says "--lenders any" when either list is in the way.
  if (lenders && lenders->items.empty() && !refuse_lenders) out.lenders_refused.clear();
  if (providers && providers->items.empty() && !refuse_providers) out.providers_refused.clear();
  if (max_rtt) out.max_rtt_ms = max_rtt->value;
  if (min_reliability) out.min_reliability = min_reliability->value;
}

std::vector<Option> job_flags(JobFlags& f) {
  return {
      flag("--workers N", "2, or a range: 1..4", f.workers),
      flag("--price PRICE", "the most to pay per slot-hour; default: twice the suggested", f.limit),
      another_spelling("--limit PRICE", "--price", f.limit,
                       "--limit is --price now; in lists --limit is a number of rows"),
      flag("--budget CREDITS", "the most to pay in all; reserved at once", f.budget),
      flag("--deadline TIME", "3h from now, or 2027-03-01T22:00:00Z", f.deadline),
      flag("--priority N", "-100 to 100: which of your jobs goes first at equal prices",
           f.priority),
      flag("--packages A,B", "software the machines must have, or any", f.packages),
      flag("--regions A,B", "where the machines may be, or any", f.regions),
      flag("--max-rtt MS", "longest round-trip time, or any", f.max_rtt),
      flag("--min-reliability SHARE", "for example 0.9, or any", f.min_reliability),
      flag("--lenders A,B", "only these lenders, or any", f.lenders),
      flag("--refuse-lenders A,B", "never these lenders", f.refuse_lenders),
      flag("--providers A,B", "only these providers, or any", f.providers),
      flag("--refuse-providers A,B", "never these providers", f.refuse_providers)};
}

Option job_argument(OneJob& job, std::string help) {
  return argument("JOB", std::move(help), job.named);
}

Result<> OneJob::find(Context& c) {
  if (const auto given = base::IdTraits<base::JobId>::parse(named)) {
    id = *given;
    return {};
  }
  SOUK_ASSIGN(auto* api, c.api());
  std::vector<std::string> names;
  bool found = false;
  SOUK_TRY(visit_all<wire::Job>(*api, "/v1/jobs", [&](const wire::Job& job) {
    found = job.name == named;
    if (found) id = job.id;
    names.push_back(job.name);
    return !found;
  }));
  if (found) return {};
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto near = base::nearest(named, known);
  return failed(fmt::format("you have no job '{}'", named),
                near.empty() ? "souk jobs" : fmt::format("did you mean '{}'?", near));
}

}  // namespace souk::cli
