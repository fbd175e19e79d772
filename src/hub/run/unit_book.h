#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "base/random.h"
#include "hub/run/snapshots.h"
#include "hub/run/time_book.h"
#include "hub/run/verdicts.h"
#include "hub/run/wages.h"
#include "hub/stores/store.h"
#include "train/audit.h"
#include "train/opinions.h"
#include "train/session.h"
#include "train/statistics.h"
#include "wire/api/training.h"

namespace souk::hub {

class UnitBook;

// A worker as the training knows it.
inline std::int64_t as_worker(base::LeaseId lease) {
  return static_cast<std::int64_t>(lease.value);
}

// Why a unit was not accepted that others did as well.
inline constexpr std::string_view kOthersDiffer = "another worker came to another result";

// A report that is being judged. While it is open the unit stays its worker's: it does not expire,
// a worker that asks for another unit waits, and one that leaves does so afterwards; the same
// report sent again is told to ask later. Without a verdict (an error, an exception) the unit is as
// before.
class OpenReport {
 public:
  OpenReport(OpenReport&& other) noexcept;
  OpenReport& operator=(OpenReport&&) = delete;
  ~OpenReport();

  [[nodiscard]] base::LeaseId worker() const { return worker_; }
  [[nodiscard]] const train::Unit& unit() const { return unit_; }
  // The hub that was to carry the update, if one was.
  [[nodiscard]] std::optional<std::size_t> hub() const { return hub_; }
  // What is owed if the unit is accepted, for the epoch of the lease that the report names.
  [[nodiscard]] Wage wage(std::int32_t epoch) const {
    return {0, worker_, epoch, worked_, unit_.id};
  }

 private:
  friend class UnitBook;
  OpenReport(UnitBook& book, base::LeaseId worker, train::Unit unit);
  UnitBook* book_;  // nullptr once there is a verdict.
  base::LeaseId worker_;
  train::Unit unit_;
  std::optional<std::size_t> hub_;
  base::Time opened_;
  base::Duration worked_;
};

// An update that is believed, on its way into the parameters or to a comparison with another.
struct PendingUpdate {
  Contribution contribution;
  train::Session::Claim claim;
  Wage wage;          // Without a number until it is owed.
  bool owed = false;  // Its wage is owed already, whatever a comparison says.
};

// A unit that several owners do from the same parameters, and what they came to; or an update whose
// effect on the loss others measure.
struct Comparison {
  std::vector<PendingUpdate> answers;  // The first is whose unit it was.
  train::Opinions opinions;
  bool comparing = false;    // The contributions are elsewhere, being compared.
  std::int32_t against = 0;  // Owners who measured that it raises the loss.
};

// The parameters without an update and with it, for others to measure the loss of.
struct TrialVersions {
  train::ParameterSnapshot before, after;
};

// The book of a training's units: what was given out, which reports are being judged, which updates
// wait for a comparison or for a fold, what was judged, and what is owed for it. Thread-safe. Its
// lock is never held while a store, a disk or a hub is talked to, nor while updates are compared,
// so the core thread may call it.
//
// A unit is accepted, its wage owed and its verdict remembered under one lock. From then on nothing
// that fails takes the wage away.
class UnitBook {
 public:
  UnitBook(wire::Train spec, train::Session session, const base::Clock& clock);

  // --- Giving out -----------------------------------------------------------------------------

  // Something to do for `worker`, who holds these shards, whose machine is `owner`'s (0: not
  // known), and who still works on the unit `keeps` (train/units/training.h). Some units are done
  // again by other owners: which ones is drawn here (train/audit.h).
  train::Unit assign(base::LeaseId worker, const std::set<std::int32_t>& shards,
                     std::uint64_t owner = 0, std::int64_t keeps = 0);
  // Where the worker's time went since it asked before: how long its units are follows from that.
  void time_spent(base::LeaseId worker, const wire::TimeSpent& spent);
  // Is another owner to do this unit as well, or, without one, any that the worker has?
  [[nodiscard]] bool is_audited(base::LeaseId worker, std::int64_t unit = 0) const;
  // May what comes of this unit be compared with what another owner comes to?
  [[nodiscard]] bool may_be_compared(base::LeaseId worker, std::int64_t unit) const;
  // Its update goes to this hub.
  void use_hub(std::int64_t unit, std::size_t hub);
  // May the worker send pieces of this unit's update?
  [[nodiscard]] base::Result<> check_sender(base::LeaseId worker, std::int64_t unit) const;
  // So many bytes of a large model have gone to the worker, or come from it: its units do not
  // expire while they move, unless that is slower than any line is (train/update.h says what is
  // large).
  void moved(base::LeaseId worker, std::size_t bytes);
  void gone(base::LeaseId worker);
  // The worker's lease is about to close. From now on nothing of it is accepted, not even a report
  // that is being judged; what it was told is accepted is owed.
  void seal(base::LeaseId worker);

  // --- Reports --------------------------------------------------------------------------------

  struct Opening {
    std::optional<OpenReport> report;
    // Without a report: the verdict, which is the first one if the report was sent before,
    wire::UnitVerdict verdict;
    // and the hub at which an update may lie that came too late.
    std::optional<std::size_t> hub;
  };
  // `unavailable`: the report is being judged already, or too much is waiting to be paid or folded.
  base::Result<Opening> open(base::LeaseId worker, std::int64_t unit);

  // `steps` of the unit were done: its wage is at most what so many are worth at the pace of this
  // worker and of others. Before wage() is asked.
  void limit_wage(OpenReport& report, std::int64_t steps) const;

  // Each of these gives the unit's verdict, once: it closes the report. A unit that does not count
  // any more, because the training ended meanwhile, is not accepted.
  wire::UnitVerdict refuse(OpenReport& report, std::string why, bool blame = true);
  // Nothing was done of it: it goes to another, and is nobody's fault.
  wire::UnitVerdict give_back(OpenReport& report);
  wire::UnitVerdict evaluated(OpenReport& report, const wire::UnitDone& done);
  wire::UnitVerdict initialised(OpenReport& report, const wire::UnitDone& done,
                                train::Layout layout);
  // The model's state as a unit measured it, in a change made from the version under check.
  wire::UnitVerdict state_measured(OpenReport& report, const wire::UnitDone& done,
                                   const train::Update& change);
  // Is what this update does to the loss to be measured by another owner (train/scores.h)?
  [[nodiscard]] bool wants_trial(const OpenReport& report);
  // An update that is here. `base`: what it was made from, if that is known. `trial`: it is
  // believed when others have measured these.
  wire::UnitVerdict judge(OpenReport& report, PendingUpdate update,
                          std::optional<train::Blocks> base,
                          std::optional<TrialVersions> trial = {});
  // An update that lies at a hub: it is believed (nothing), or refused. If it is believed, the hub
  // folds it, and then it is accepted.
  std::optional<wire::UnitVerdict> judge_there(OpenReport& report,
                                               const train::Session::Claim& claim);
  wire::UnitVerdict accept_folded(OpenReport& report, const train::Session::Claim& claim,
                                  const Wage& wage);
  // Accepts updates that nobody has compared with another for too long.
  void accept_uncompared();

  // --- Wages ----------------------------------------------------------------------------------

  [[nodiscard]] std::vector<Wage> owed() const;
  void acknowledge(std::int64_t number);

  // --- Folds. These are called in turn (turns.h). -----------------------------------------------

  [[nodiscard]] bool can_fold() const;
  // So many updates wait that no more should be accepted before some were folded.
  [[nodiscard]] bool crowded() const;
  // Accepted updates for one fold; empty: there are not enough.
  std::vector<Contribution> take_batch();
  // The fold failed: they come first in the next.
  void give_back(std::vector<Contribution> batch);
  // `version` is the newest. Gives whether begin_check() should follow.
  bool folded(std::int64_t version);
  // Units that check `parameters` may be given out from now on.
  void begin_check(train::ParameterSnapshot parameters);

  // --- The training as a whole ------------------------------------------------------------------

  // A version that is under check, or that updates are compared from.
  [[nodiscard]] std::optional<train::ParameterSnapshot> kept(std::int64_t version) const;
  [[nodiscard]] std::size_t floats() const;  // 0 until there are parameters.
  // Forgets versions that nobody needs any more.
  void forget_versions();
  [[nodiscard]] wire::Training view(const TimeBook& times) const;
  [[nodiscard]] double progress() const;
  [[nodiscard]] double work() const;  // Samples that were learnt from.

  // Begins without a snapshot.
  void begin(std::int64_t paid_through);
  [[nodiscard]] SaveMark mark() const;
  // What a snapshot says, together with `parameters`. What the training ended with replaces their
  // values.
  [[nodiscard]] SnapshotHead head(SavedParameters& parameters) const;
  void restore(SnapshotHead head, const train::ParameterSnapshot& parameters,
               std::int64_t paid_through);

  // Ends it now. conflict: there is nothing yet.
  base::Result<> finish(std::string reason, train::ParameterSnapshot parameters);
  struct FinalParameters {
    train::Blocks blocks;
    train::Layout layout;
    std::string reason;
  };
  // Once it is over. No wage is added after that.
  [[nodiscard]] std::optional<FinalParameters> final_parameters() const;

  // These never change: read without the lock.
  [[nodiscard]] const train::Aggregator& aggregator() const { return session_.rule(); }
  [[nodiscard]] const train::Codec& codec() const { return session_.codec(); }
  [[nodiscard]] double state_scale() const { return state_scale_; }
  [[nodiscard]] bool has_trials() const { return has_trials_; }

 private:
  friend class OpenReport;
  // A unit that was given out.
  struct Assignment {
    base::LeaseId worker;
    base::Time since;
    std::optional<std::size_t> hub = {};
    std::size_t moved = 0;  // Bytes, while it was given out.
  };
  // A unit whose report is being judged.
  struct ReportState {
    std::int64_t unit = 0;
    base::Time deadline;  // As it was.
    bool worker_left = false;
    bool sealed = false;
  };

  struct WorkerPay {
    bool sealed = false;  // Its lease is about to close.
    // Until then its time belongs to units that it has reported: with two units it is not paid
    // twice for it.
    base::Time counted_until;
  };

  // These require mutex_.
  void choose_audit(base::LeaseId worker, const train::Unit& unit, std::uint64_t owner, bool can);
  [[nodiscard]] bool counts(const OpenReport& report) const;
  [[nodiscard]] bool wants_comparison(const PendingUpdate& update, base::Time now);
  [[nodiscard]] bool crowded_locked() const;
  [[nodiscard]] wire::UnitVerdict not_counted(const OpenReport& report) const;
  wire::UnitVerdict close(OpenReport& report, wire::UnitVerdict verdict);
  wire::UnitVerdict refuse_locked(OpenReport& report, std::string why, bool blame);
  void end_judging(base::LeaseId worker);
  void accept(PendingUpdate update);
  void pay_pending_at_the_end();
  std::optional<wire::UnitVerdict> begin_judging(OpenReport& report, PendingUpdate& update,
                                                 std::optional<train::Blocks> base,
                                                 std::optional<TrialVersions> trial,
                                                 std::vector<Contribution>& others);
  void begin_trial(PendingUpdate update, TrialVersions trial, base::Time now);
  wire::UnitVerdict measured_trial(OpenReport& report, const wire::UnitDone& done);
  void decide_trial(std::int64_t unit, const train::Training::TrialLosses& losses);
  wire::UnitVerdict compared(OpenReport& report, PendingUpdate answer,
                             std::vector<Contribution> others, const std::vector<bool>& agrees);
  wire::UnitVerdict decided(OpenReport& report, std::int64_t unit, Comparison comparison);
  void undecided(std::int64_t unit, const Comparison& comparison);
  void use_measured_states();
  void use_layout(train::Layout layout);
  // Gives the units that were not paid, as others came to something else.
  std::set<std::int64_t> pay_settled_checks();
  [[nodiscard]] train::Audit::Owner owner_of(base::LeaseId worker) const;
  [[nodiscard]] bool can_audit(std::uint64_t owner) const;

  void reopen(const OpenReport& report) noexcept;

  const wire::Train spec_;
  const base::Clock& clock_;
  const train::Replication replication_;
  const double state_scale_;
  const bool has_trials_;

  mutable std::mutex mutex_;  // Guards what follows.
  train::Session session_;    // Its aggregator and codec never change.
  // Which units are done twice.
  struct Audits {
    base::Random random;
    train::Audit policy = train::Audit();
    std::set<std::pair<base::LeaseId, std::int64_t>> units =
        {};  // That another owner does as well.
  };
  Audits audits_;
  struct Model {
    std::shared_ptr<const train::Layout> layout = std::make_shared<train::Layout>();
    std::int64_t version = 0;          // The newest.
    train::StateRuns state_runs = {};  // Set once, before any unit that needs them.
    std::map<std::int64_t, std::vector<float>> states =
        {};  // Measured, by unit, until one is chosen.
  };
  Model model_;
  std::map<std::int64_t, train::ParameterSnapshot> kept_;  // Versions under check or comparison.
  std::map<std::int64_t, Assignment> assignments_;         // By unit.
  std::map<base::LeaseId, ReportState> judging_;
  std::map<base::LeaseId, WorkerPay> pay_;
  std::map<std::int64_t, Comparison> pending_;  // By unit, until two owners came to the same.
  std::map<std::int64_t, Wage> check_wages_;    // By unit, until others have confirmed the check.
  std::vector<Contribution> waiting_;           // Accepted, not yet folded.
  Verdicts verdicts_;
  Wages wages_;
};

}  // namespace souk::hub
