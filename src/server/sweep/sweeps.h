#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "job/sweep/search.h"
#include "market/commands.h"
#include "market/state.h"
#include "server/core/parsed_works.h"
#include "server/sweep/trial_reader.h"
#include "wire/api/job.h"
#include "wire/api/plan.h"
#include "wire/api/sweep.h"

namespace souk::server {

// Leads the sweeps of a market: begins their trials, as many at a time as they may have, gives each
// a share of the credits that are free, listens to what they report, stops those that do badly
// (job/sweep/halving.h), and ends the sweep when all have ended. The trials are jobs like any
// other; what one costs comes from the sweep's escrow (market/decide/sweeps.cc).
//
// What it knows it keeps in the notes of trials, so a server that was killed goes on where it was.
// On the core thread.
class Sweeps {
 public:
  static constexpr std::size_t kMostPerTick = 32;         // Sweeps that are looked at.
  static constexpr auto kNoteEvery = base::seconds(5);    // Of reports that change nothing.
  static constexpr auto kResultWait = base::seconds(15);  // For the result of a training.
  static constexpr auto kRetry = base::seconds(10);       // After a trial was refused.
  static constexpr auto kAnswerWait = base::seconds(30);
  static constexpr std::int32_t kFailures = 3;  // Without a success: the sweep fails.

  using Execute = std::function<base::Result<>(const market::Actor&, market::Command)>;
  // Has a trial's reports read; they come by heard(). False: not now.
  using Ask = std::function<bool(TrialQuestion)>;
  // May its owner have one more live job?
  using MayStart = std::function<base::Result<>(base::AccountId)>;

  Sweeps(ParsedWorks& works, Ask ask, MayStart may_start)
      : works_(works), ask_(std::move(ask)), may_start_(std::move(may_start)) {}

  // The trials of a market that was there before.
  void recall(const market::State& s);
  void on_applied(const market::State& s, const market::Event& event);
  void on_tick(const market::State& s, base::Time now, const Execute& execute);
  void heard(TrialAnswer answer);

 private:
  // A trial, as far as this process knows.
  struct Trial {
    wire::TrialNote note;
    base::Time noted;
    std::vector<LogPlace> logs;
    bool changed = false;               // Since it was noted.
    base::Time asked_until;             // An answer is under way; then it is asked again.
    std::optional<TrialAnswer> answer;  // Not looked at yet.
  };
  struct Led {
    std::shared_ptr<const wire::Batch> work;
    std::vector<job::Point> points;
    std::map<base::JobId, Trial> trials;
    base::Time again;  // Before then none is begun.
  };
  // One sweep, at one moment.
  struct Look {
    const market::State& s;
    const market::Job& job;
    base::Time now;
    const Execute& execute;
    Led& led;

    [[nodiscard]] const wire::Sweep& sweep() const { return *led.work->sweep; }
    void run(market::Command command) const;
    // Ends it. The reason may hold what a trial's program said: it is cut to what fits.
    void end_sweep(bool failed, std::string reason) const;
  };
  Led* led(const market::State& s, const market::Job& job);
  void look(const Look& at);
  void listen(const Look& at, const market::Job& job, Trial& trial);
  static void take_in(const Look& at, const market::Job& job, Trial& trial);
  // At a rung: does it go on?
  static void judge(const Look& at, bool ended, Trial& trial);
  void ask(const Look& at, const market::Job& job, Trial& trial);
  static void fund(const Look& at, const market::Job& job);
  static bool may_have_failed(const Look& at);
  void begin(const Look& at);
  static base::Result<> begin_one(const Look& at, base::Credits budget);
  static void end(const Look& at);

  ParsedWorks& works_;
  const Ask ask_;
  const MayStart may_start_;
  std::map<base::JobId, Led> led_;
  base::JobId next_;  // Where the next tick begins.
};

// What all trials come to, where one is to take what `plan` says.
[[nodiscard]] wire::PlanSweep sweep_plan(const wire::NewJob& job, const wire::JobPlan& plan);

// The sweep as its owner sees it. Requires a job with work.sweep.
[[nodiscard]] wire::SweepStatus sweep_view(const market::State& s, const market::Job& job,
                                           const wire::Sweep& sweep);

}  // namespace souk::server
