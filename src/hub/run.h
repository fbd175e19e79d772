#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "blob/store.h"
#include "hub/remote.h"
#include "hub/store.h"
#include "hub/time_book.h"
#include "train/session.h"
#include "wire/api/training.h"

namespace souk::hub {

struct RunOptions {
  std::string pointer;  // The file that names the last snapshot.
  base::Duration snapshot_every = base::seconds(10);
  std::int64_t snapshot_updates = 500;
  std::size_t most_floats = std::size_t{1} << 30;
  // Hubs that share the store, and what they know the job by. Without: all bytes come here.
  Remote* hubs = nullptr;
  std::string job = {};
};

// How a training ended, and the blob with what it came to.
struct Ended {
  std::string result;
  std::string reason;
};

// A job's work, for at most so many workers.
[[nodiscard]] train::Plan plan_of(const wire::Train& spec, std::int32_t workers);

// One job's training: its parameters, its work, and what is known of its workers. Thread-safe.
// Parameters are folded by whoever brings an update, several at once when several wait; nothing is
// ever folded twice. What was folded since the last snapshot is lost with the process, and done
// again: units that were given out before are not known afterwards.
//
// With hubs, workers pull from and push to these, where the rule folds updates one by one. What is
// believed, and in which order updates are folded, is still decided here: a hub measures an update
// and folds it when it is told to. An update whose hub is lost before that is nobody's fault: its
// unit is done again. One whose hub gave no answer counts if it was folded, and else never is.
class Run {
 public:
  // Begins, or goes on from the last snapshot.
  static base::Result<std::unique_ptr<Run>> open(const wire::Train& spec, std::int32_t workers,
                                                 blob::Store& blobs, const base::Clock& clock,
                                                 RunOptions options,
                                                 std::unique_ptr<ParameterStore> store);

  // `spent`: where the worker's time went since it asked before.
  base::Result<wire::Unit> next(base::LeaseId worker, const std::vector<std::string>& holds,
                                const std::optional<wire::TimeSpent>& spent = {});
  // A piece of a unit's update; gives how much of it there is. Pieces may arrive twice.
  base::Result<std::int64_t> receive(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                     std::string_view piece);
  // What is to be paid: to whom, under which epoch of the lease, for how long.
  struct Paid {
    base::LeaseId lease;
    std::int32_t epoch = 0;
    base::Duration worked;
  };
  struct Judged {
    wire::UnitVerdict verdict;
    std::vector<Paid> paid;
  };
  base::Result<Judged> complete(base::LeaseId worker, std::int64_t unit,
                                const wire::UnitDone& done);
  // The blocks that changed after `since` (train/pull.h); or all of exactly `version`, which a
  // check is looking at.
  base::Result<std::string> pull(base::LeaseId worker, std::int64_t since,
                                 std::optional<std::int64_t> version);
  void gone(base::LeaseId worker);

  [[nodiscard]] wire::Training view() const;
  [[nodiscard]] double progress() const;  // view()'s.
  // Once it is over: how. Until then nothing.
  [[nodiscard]] base::Result<std::optional<Ended>> ended();
  // Ends it now, for a reason of the market's, with what there is.
  base::Result<Ended> end(std::string reason);

 private:
  Run(wire::Train spec, train::RuleSpec rule, train::Session session, blob::Store& blobs,
      const base::Clock& clock, RunOptions options, std::unique_ptr<ParameterStore> store);

  struct Snapshot;
  [[nodiscard]] std::int32_t batch_of(std::int64_t unit) const;
  base::Result<> recover();
  base::Result<> save_if_due(bool force);
  base::Result<> save();
  base::Result<> fold_waiting();                // Requires folding_.
  base::Result<> folded(std::int64_t version);  // Requires mutex_.
  base::Result<wire::UnitVerdict> begin(base::LeaseId worker, std::int64_t unit,
                                        const wire::UnitDone& done, std::string body);
  base::Result<Judged> contribute(base::LeaseId worker, const train::Unit& unit,
                                  const wire::UnitDone& done, std::string body,
                                  base::Duration worked);
  // The same for an update that lies at a hub.
  base::Result<Judged> contribute_there(base::LeaseId worker, const train::Unit& unit,
                                        const wire::UnitDone& done, std::size_t hub,
                                        base::Duration worked);
  base::Result<std::optional<std::int64_t>> fold_there(const Remote::Name& name,
                                                       const train::Session::Claim& claim);
  // What becomes of it then. Requires mutex_.
  base::Result<Judged> folded_there(train::Session::Claim claim,
                                    const base::Result<std::optional<std::int64_t>>& version,
                                    Paid paid);
  // The claim of a unit about which more was to be learnt.
  [[nodiscard]] std::optional<train::Session::Claim> unsettled(std::int64_t unit) const;
  // The verdict about a unit that is not this worker's, or not any more.
  std::optional<Judged> too_late(base::LeaseId worker, std::int64_t unit);
  void bypassed(base::LeaseId worker, std::int64_t unit, std::size_t hub);
  [[nodiscard]] Remote::Name name_of(std::int64_t unit, std::size_t hub) const;
  // Both require mutex_.
  [[nodiscard]] std::optional<std::size_t> hub_for(base::LeaseId worker,
                                                   const train::Unit& unit) const;
  void missed(base::LeaseId worker);
  // An update that is believed, on its way into the parameters. Requires mutex_.
  struct Believed {
    Contribution contribution;
    train::Session::Claim claim;
    Paid paid;
  };
  void accept(Believed update);
  void compare(std::int64_t original, std::int64_t replica, Believed second, Judged& out);
  base::Result<std::string> write_results();
  // The unit is taken back. Requires mutex_, as those that follow.
  Judged refuse(std::int64_t unit, std::string why, bool blame = true);
  void leave(base::LeaseId worker);
  [[nodiscard]] const wire::TrainShard& shard_of(const train::Unit& unit) const;

  const wire::Train spec_;
  blob::Store& blobs_;
  const base::Clock& clock_;
  const RunOptions options_;
  const std::unique_ptr<ParameterStore> store_;
  const train::Replication replication_;
  const train::RuleSpec rule_;
  const bool uses_hubs_;
  const std::string generation_;  // Of the parameters in this life: what came before is not folded.

  base::Random random_;  // Which units are done twice. Guarded by mutex_.
  std::mutex folding_;   // Taken before mutex_. Held by whoever folds.

  mutable std::mutex mutex_;  // Guards what follows.
  train::Session session_;    // Its rule and codec never change: they are read without the mutex.
  train::Layout layout_;
  std::vector<Contribution> waiting_;  // Accepted, not yet folded.
  std::int64_t version_ = 0;
  std::map<std::int64_t, train::Taken> kept_;  // Versions under check.
  struct Pulled {
    std::int64_t version = 0;
    train::Blocks blocks;
  };
  std::map<base::LeaseId, Pulled> pulled_;       // Where the rule needs the base of updates.
  std::map<std::int64_t, std::string> arrived_;  // Updates that are coming in.
  struct Given {
    base::LeaseId worker;
    base::Time at;
    std::optional<std::size_t> hub = {};
  };
  std::map<std::int64_t, Given> given_;  // Units that were given out.
  // A unit whose update is being folded at a hub stays its worker's until that is over: it does not
  // expire, and if the worker leaves, it leaves afterwards.
  struct FoldingThere {
    base::LeaseId worker;
    base::Time deadline;
    bool gone = false;
  };
  std::optional<FoldingThere> folding_there_;
  // Believed, but neither the hub nor the store could say whether they were folded.
  std::map<std::int64_t, train::Session::Claim> unsettled_;
  // Workers whose updates did not reach the hubs they were to use.
  struct Missed {
    int times = 0;
    base::Time until;  // Until then it uses none.
  };
  std::map<base::LeaseId, Missed> missed_;
  std::map<std::int64_t, Believed> held_;  // Until another worker comes to the same.
  std::int64_t bytes_in_ = 0, bytes_out_ = 0;
  TimeBook spent_;
  std::int64_t folds_ = 0;       // Here, not at hubs,
  base::Duration folding_time_;  // and the time they took.
  base::Time next_snapshot_;
  std::int64_t since_snapshot_ = 0;
  std::optional<Ended> ended_;
  blob::Store::Pin pin_;  // The last snapshot, or the result.
};

}  // namespace souk::hub
