#include <fmt/format.h>

#include "market/decide/decider.h"

// Sweeps: jobs whose work is done by other jobs, their trials. The budget of a sweep is in its own
// escrow or in that of a live trial, and what is left of a trial's returns: so the one budget is
// the most that all of them cost, at every moment.

namespace souk::market {

using base::Code;
using base::fail;

Result<> Decider::check_sweep(const SubmitJob& c) const {
  if (c.most_trials < 0 || c.most_trials > kTrialsAtATime)
    return fail(Code::invalid, fmt::format("{} trials at a time", c.most_trials),
                fmt::format("use 1 to {}", kTrialsAtATime), "most_trials");
  if (c.most_trials > 0 && (c.work.empty() || c.pay != Pay::time || c.replicate != 1 ||
                            !c.expect.empty() || !c.also.empty() || c.sweep))
    return fail(Code::invalid, "a sweep has trials, and nothing else",
                "say in its work what a trial does", "most_trials");
  if (c.note.size() > kTextMax)
    return fail(Code::too_large, fmt::format("the note has {} bytes", c.note.size()),
                fmt::format("{} at most", kTextMax), "note");
  return c.sweep ? need_room_for_trial(c) : Result<>();
}

Result<> Decider::need_room_for_trial(const SubmitJob& c) const {
  if (!is_system())
    return fail(Code::forbidden, "only the market itself starts trials", "submit a sweep");
  SOUK_ASSIGN(const auto* sweep, find(s.jobs, c.sweep));
  if (!is_sweep(*sweep) || sweep->owner != actor_.account)
    return fail(Code::forbidden,
                fmt::format("job {} is no sweep of its owner", to_string(c.sweep)));
  if (is_final(sweep->state) || sweep->state == JobState::paused)
    return fail(Code::conflict,
                fmt::format("sweep {} is {}", to_string(c.sweep), to_string(sweep->state)));
  const auto known = s.index.trials_of.find(c.sweep);
  if (std::ssize(sweep->trials) >= sweep->most_trials ||
      (known != s.index.trials_of.end() && known->second.size() >= kTrialsPerSweep))
    return fail(Code::exhausted,
                fmt::format("sweep {} has all the trials it may have", to_string(c.sweep)));
  return need_credits_of(*sweep, c.terms.budget);
}

// The escrow of a sweep has no leases: all that is left in it is free.
Result<> Decider::need_credits_of(const Job& sweep, Credits more) const {
  const auto left = s.free_budget(sweep);
  if (more <= left) return {};
  return fail(Code::conflict,
              fmt::format("sweep {} has {} credits left, and this needs {}", to_string(sweep.id),
                          to_string(left), to_string(more)),
              fmt::format("souk job edit {} --budget", to_string(sweep.id)), "budget");
}

Result<> Decider::operator()(const NoteTrial& c) {
  SOUK_TRY(need_operator("keep notes of trials"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  if (!job->sweep) return fail(Code::conflict, fmt::format("job {} is no trial", to_string(c.job)));
  if (c.note.size() > kTextMax)
    return fail(Code::too_large, fmt::format("the note has {} bytes", c.note.size()),
                fmt::format("{} at most", kTextMax), "note");
  if (job->note != c.note) out.push_back(TrialNoted{c.job, c.note});
  return {};
}

Result<> Decider::operator()(const EndSweep& c) {
  SOUK_TRY(need_operator("end sweeps"));
  SOUK_ASSIGN(const auto* job, find(s.jobs, c.job));
  if (!is_sweep(*job))
    return fail(Code::conflict, fmt::format("job {} is no sweep", to_string(c.job)));
  if (c.reason.size() > kTextMax) return fail(Code::too_large, "the reason is too long");
  if (!is_final(job->state))
    end_job(*job, c.failed ? JobState::failed : JobState::succeeded, c.reason);
  return {};
}

}  // namespace souk::market
