#include "market/eligible.h"

#include <algorithm>
#include <cmath>

#include "base/packages.h"

namespace souk::market {
namespace {

template <class T>
bool contains(const std::vector<T>& list, const T& item) {
  return std::ranges::find(list, item) != list.end();
}

// Calls found(obstacle) for each demand that is not met, until it returns false.
template <class Found>
void for_each_unmet(const Demands& d, const Machine& m, Found&& found) {
  const auto& c = d.constraints;
  const auto refused = [](const auto& allowed, const auto& refused_list, const auto& item) {
    return (!allowed.empty() && !contains(allowed, item)) || contains(refused_list, item);
  };
  if (!has_all(m.spec, c.packages) && !found(Obstacle::packages)) return;
  if (!c.regions.empty() && !contains(c.regions, m.spec.region) && !found(Obstacle::region)) return;
  if (c.max_rtt_ms > 0 && m.spec.rtt_ms > c.max_rtt_ms && !found(Obstacle::rtt)) return;
  if (m.reliability_ppm < c.min_reliability_ppm && !found(Obstacle::reliability)) return;
  if (refused(c.lenders_allowed, c.lenders_refused, m.owner) && !found(Obstacle::lender)) return;
  if (refused(c.providers_allowed, c.providers_refused, m.spec.provider) &&
      !found(Obstacle::provider))
    return;
  if (contains(d.avoided, m.id) || (d.only && d.only != m.id)) found(Obstacle::avoided);
}

// Whoever has answered all that is left: it takes another owner.
void refuse_who_answered(const Job& job, std::vector<AccountId>& refused) {
  const auto open = [](const JobPart& part) { return !part.done; };
  const auto known = std::ranges::count_if(job.parts, open);
  if (known == 0 || known + job.done < job.terms.workers.max) return;  // There are untouched ones.
  for (const auto& answer : std::ranges::find_if(job.parts, open)->answers)
    if (std::ranges::all_of(job.parts, [&](const JobPart& part) {
          return part.done || part.answered_by(answer.lender);
        }))
      refused.push_back(answer.lender);
}

}  // namespace

bool has_all(const MachineSpec& spec, const std::vector<std::string>& demands) {
  const auto lacks = [&](const std::string& demand) {
    return base::is_feature(demand) && !base::has_feature(spec.packages, demand);
  };
  if (demands.empty()) return true;
  if (std::ranges::any_of(demands, lacks)) return false;
  return base::has_packages(spec.packages, demands) ||
         std::ranges::any_of(spec.environments, [&](const MachineEnvironment& e) {
           return base::has_packages(e.packages, demands);
         });
}

Demands demands_of(const Job& job, Time now) {
  Demands d{.constraints = job.terms.constraints,
            .avoided = {},
            .only = job.aimed,
            .guest = is_guest(job)};
  for (const auto& a : job.avoided)
    if (a.until > now) d.avoided.push_back(a.machine);
  std::ranges::sort(d.avoided);
  if (is_replicated(job)) refuse_who_answered(job, d.constraints.lenders_refused);
  return d;
}

std::vector<Obstacle> unmet(const Demands& d, const Machine& m) {
  std::vector<Obstacle> out;
  for_each_unmet(d, m, [&](Obstacle o) {
    out.push_back(o);
    return true;
  });
  return out;
}

bool meets(const Demands& d, const Machine& m) {
  bool ok = true;
  for_each_unmet(d, m, [&](Obstacle) { return ok = false; });
  return ok;
}

std::optional<double> core_speed(const Machine& m) {
  constexpr auto usual = base::milliseconds(333);  // base::kLaneSteps says why.
  if (m.lane <= Duration()) return std::nullopt;
  return std::round(100.0 * static_cast<double>(usual.us) / static_cast<double>(m.lane.us)) / 100;
}

}  // namespace souk::market
