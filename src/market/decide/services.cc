#include <fmt/format.h>

#include <algorithm>

#include "market/decide/decider.h"
#include "market/decide/words.h"

// Services, which are also paid by the request, and volumes, which outlive the jobs that use them.

namespace souk::market {

using base::Code;
using base::fail;

namespace {

// A folder's name in a path: letters, digits, '-', '_' and '.'.
Result<> check_volume_name(std::string_view name) {
  const auto fits = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  if (!name.empty() && name.size() <= kNameMax && name.front() != '.' &&
      std::ranges::all_of(name, fits))
    return {};
  return fail(Code::invalid, fmt::format("'{}' is not a name of a volume", name.substr(0, 80)),
              fmt::format("use 1 to {} letters, digits, '-', '_' and '.'", kNameMax), "volumes");
}

}  // namespace

Result<> Decider::check_service(const SubmitJob& c) const {
  if (c.per_request == Credits()) return {};
  if (c.per_request < Credits() || c.per_request > kMostPrice)
    return fail(Code::invalid, fmt::format("a request cannot cost {}", to_string(c.per_request)),
                fmt::format("use 0 to {} credits", to_string(kMostPrice)), "per_request");
  if (c.work.empty() || c.pay != Pay::time || c.replicate != 1 || c.most_trials != 0 || c.gang)
    return fail(Code::invalid, "this job answers no requests", "only a service is paid by them",
                "per_request");
  return {};
}

Result<> Decider::check_volumes(const SubmitJob& c) const {
  if (c.volumes.empty()) return {};
  if (c.volumes.size() > kVolumesPerJob)
    return fail(Code::invalid, fmt::format("{} volumes", c.volumes.size()),
                fmt::format("{} at most", kVolumesPerJob), "volumes");
  std::size_t fresh = 0;
  for (std::size_t i = 0; i < c.volumes.size(); ++i) {
    const auto& name = c.volumes[i];
    SOUK_TRY(check_volume_name(name));
    if (std::ranges::find(c.volumes.begin(), c.volumes.begin() + static_cast<std::ptrdiff_t>(i),
                          name) != c.volumes.begin() + static_cast<std::ptrdiff_t>(i))
      return fail(Code::invalid, fmt::format("volume '{}' is there twice", name), "name it once",
                  "volumes");
    fresh += !s.volumes.contains(volume_key(actor_.account, name));
  }
  // Two who change one folder would undo each other's work.
  if (c.work.empty() || c.terms.workers.max != 1)
    return fail(Code::invalid,
                fmt::format("volumes for a job with {} workers", c.terms.workers.max),
                "only a job with one worker has volumes", "volumes");
  const auto from = s.volumes.lower_bound(volume_key(actor_.account, ""));
  const auto to = s.volumes.lower_bound(to_string(actor_.account) + "0");  // '0' follows '/'.
  if (static_cast<std::size_t>(std::distance(from, to)) + fresh > kVolumesPerAccount)
    return fail(Code::exhausted, fmt::format("you have {} volumes", kVolumesPerAccount),
                "remove one: souk volume remove NAME", "volumes");
  for (const auto id : s.index.jobs_of[actor_.account.value]) {
    const auto& other = s.jobs.at(id);
    if (is_final(other.state)) continue;
    for (const auto& name : c.volumes)
      if (std::ranges::find(other.volumes, name) != other.volumes.end())
        return fail(Code::conflict,
                    fmt::format("volume '{}' is in use by job {}", name, to_string(id)),
                    "wait until it has ended, or name another", "volumes");
  }
  return {};
}

// What the job has not promised to its leases pays for requests. When that is used up the lender
// serves for the price of its time, until the term ends.
Result<> Decider::operator()(const ServeRequests& c) {
  SOUK_TRY(need_operator("count requests"));
  SOUK_ASSIGN(const auto* lease, reported(c.lease, c.epoch));
  const auto& job = s.jobs.at(lease->job);
  if (lease->state == LeaseState::granted)
    return fail(Code::conflict, fmt::format("lease {} has not started", to_string(c.lease)));
  if (c.requests <= 0 || c.requests > 1'000'000'000)
    return fail(Code::invalid, fmt::format("{} requests", c.requests), "1 to 1000000000",
                "requests");
  const auto owed = static_cast<__int128>(job.per_request.micro) * c.requests;
  const auto free = s.free_budget(job);
  const auto amount = owed > free.micro ? free : Credits(static_cast<std::int64_t>(owed));
  out.push_back(LeaseServed{c.lease, c.requests, amount, base::share(amount, lease->term.fee_ppm)});
  warn_if_low(job, amount);
  return {};
}

Result<> Decider::operator()(const SaveVolume& c) {
  SOUK_ASSIGN(const auto* lease, find(s.leases, c.lease));
  const auto* machine = s.machines.find(lease->machine);
  const auto* job = s.jobs.find(lease->job);
  if (machine == nullptr || job == nullptr)
    return fail(Code::not_found, "its machine or its job is gone");
  SOUK_TRY(need_agent(*machine));
  if (lease->epoch != c.epoch || lease->started == Time())
    return fail(Code::conflict, fmt::format("lease {} may not save volumes", to_string(c.lease)),
                "stop this work: it was given to somebody else", "epoch");
  if (std::ranges::find(job->volumes, c.name) == job->volumes.end())
    return fail(Code::forbidden,
                fmt::format("job {} has no volume '{}'", to_string(job->id), c.name.substr(0, 80)),
                "it may change those that it names", "name");
  if (c.blob.empty() || c.blob.size() > kNameOfBlobMax)
    return fail(Code::invalid, "the name of the blob is not one",
                fmt::format("1 to {} characters", kNameOfBlobMax), "blob");
  const auto known = s.volumes.find(volume_key(job->owner, c.name));
  if (lease->state == LeaseState::closed) {
    // Whoever works on it now has begun with something else, or will.
    const bool newer = job->epoch != lease->epoch ||
                       (known != s.volumes.end() && known->second.saved > lease->ended &&
                        known->second.job != job->id);
    if (newer || now > lease->ended + s.settings.drain)
      return fail(Code::conflict, fmt::format("lease {} has ended", to_string(c.lease)),
                  "what it left is not kept any more");
  }
  if (known != s.volumes.end() && known->second.blob == c.blob) return {};
  out.push_back(VolumeSaved{
      {.owner = job->owner, .name = c.name, .blob = c.blob, .saved = now, .job = job->id}});
  return {};
}

Result<> Decider::operator()(const RemoveVolume& c) {
  SOUK_TRY(need_owner(c.owner, fmt::format("volume {}", c.name.substr(0, 80))));
  if (!s.volumes.contains(volume_key(c.owner, c.name)))
    return fail(Code::not_found, fmt::format("there is no volume '{}'", c.name.substr(0, 80)));
  for (const auto id : s.index.jobs_of[c.owner.value])
    if (const auto& job = s.jobs.at(id);
        !is_final(job.state) && std::ranges::find(job.volumes, c.name) != job.volumes.end())
      return fail(Code::conflict,
                  fmt::format("volume '{}' is in use by job {}", c.name, to_string(id)),
                  "cancel that first");
  out.push_back(VolumeRemoved{c.owner, c.name});
  audit_other(c.owner, "remove volume", c.name);
  return {};
}

}  // namespace souk::market
