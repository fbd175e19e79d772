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
#include "hub/store.h"
#include "train/session.h"
#include "wire/training.h"

namespace souk::hub {

struct RunOptions {
  std::string pointer;  // The file that names the last snapshot.
  base::Duration snapshot_every = base::seconds(10);
  std::int64_t snapshot_updates = 500;
  std::size_t most_floats = std::size_t{1} << 30;
};

// How a training ended, and the blob with what it came to.
struct Ended {
  std::string result;
  std::string reason;
};

// One job's training: its parameters, its work, and what is known of its workers. Thread-safe.
// Parameters are folded by whoever brings an update, several at once when several wait; nothing is
// ever folded twice. What was folded since the last snapshot is lost with the process, and done
// again: units that were given out before are not known afterwards.
class Run {
 public:
  // Begins, or goes on from the last snapshot.
  static base::Result<std::unique_ptr<Run>> open(const wire::Train& spec, std::int32_t workers,
                                                 blob::Store& blobs, const base::Clock& clock,
                                                 RunOptions options,
                                                 std::unique_ptr<ParameterStore> store);

  base::Result<wire::Unit> next(base::LeaseId worker, const std::vector<std::string>& holds);
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
  // Once it is over: how. Until then nothing.
  [[nodiscard]] base::Result<std::optional<Ended>> ended();
  // Ends it now, for a reason of the market's, with what there is.
  base::Result<Ended> end(std::string reason);

 private:
  Run(wire::Train spec, train::Session session, blob::Store& blobs, const base::Clock& clock,
      RunOptions options, std::unique_ptr<ParameterStore> store);

  struct Snapshot;
  base::Result<> recover();
  base::Result<> save_if_due(bool force);
  base::Result<> save();
  base::Result<> fold_waiting();
  base::Result<wire::UnitVerdict> begin(base::LeaseId worker, std::int64_t unit,
                                        const wire::UnitDone& done, std::string body);
  base::Result<Judged> contribute(base::LeaseId worker, const train::Unit& unit,
                                  const wire::UnitDone& done, std::string body,
                                  base::Duration worked);
  // An update that is believed, on its way into the parameters. Requires mutex_.
  struct Believed {
    Contribution contribution;
    train::Session::Claim claim;
    Paid paid;
  };
  void accept(Believed update);
  void compare(std::int64_t original, std::int64_t replica, Believed second, Judged& out);
  base::Result<std::string> write_results();
  [[nodiscard]] wire::UnitVerdict rejected(std::int64_t unit, std::string why);
  [[nodiscard]] const wire::TrainShard& shard_of(const train::Unit& unit) const;

  const wire::Train spec_;
  blob::Store& blobs_;
  const base::Clock& clock_;
  const RunOptions options_;
  const std::unique_ptr<ParameterStore> store_;
  const train::Replication replication_;

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
  std::map<std::int64_t, base::Time> given_;     // When units were given out.
  std::map<std::int64_t, Believed> held_;        // Until another worker comes to the same.
  std::int64_t bytes_in_ = 0, bytes_out_ = 0;
  base::Time next_snapshot_;
  std::int64_t since_snapshot_ = 0;
  std::optional<Ended> ended_;
  blob::Store::Pin pin_;  // The last snapshot, or the result.
};

}  // namespace souk::hub
