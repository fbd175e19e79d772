#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/clock.h"
#include "base/id.h"
#include "blob/store.h"
#include "hub/folding/arrivals.h"
#include "hub/folding/folding.h"
#include "hub/folding/hub_folding.h"
#include "hub/folding/pulled_bases.h"
#include "hub/remote.h"
#include "hub/run/codec_book.h"
#include "hub/run/run_memory.h"
#include "hub/run/snapshots.h"
#include "hub/run/time_book.h"
#include "hub/run/turns.h"
#include "hub/run/unit_book.h"
#include "hub/run/wages.h"
#include "hub/spill.h"
#include "hub/stores/store.h"
#include "train/pull.h"
#include "wire/api/training.h"

namespace souk::hub {

struct RunOptions {
  std::string pointer;  // The file that names the last snapshot.
  base::Duration snapshot_every = base::seconds(10);
  std::int64_t snapshot_updates = 500;
  std::size_t most_floats = std::size_t{1} << 34;
  // Hubs that share the store, and what they know the job by. Without: all bytes come here.
  Remote* hubs = nullptr;
  std::string job = {};
  // The highest number of a wage that the market has paid for this job. Wages up to it are not owed
  // any more, whatever a snapshot says, and new ones are numbered from there on.
  std::int64_t paid_through = 0;
  // What the training takes of the server's memory is counted here, for the job's owner.
  base::Budget* memory = nullptr;
  std::string owner = {};
  SpillOptions spill = {};  // Where large things lie.
};

// A piece of the parameters: from this block on, so many bytes.
struct PullPiece {
  std::size_t from = 0;
  std::size_t most_bytes = train::kMostPiece;
  // The version that the pieces before were of. It is given again where it is kept; else the newest
  // is.
  std::optional<std::int64_t> at = {};
};

// Which of the parameters a worker asks for.
struct PullRequest {
  std::int64_t since = -1;  // What changed after this version.
  // All of exactly this version, which a check is looking at.
  std::optional<std::int64_t> version = {};
  std::optional<PullPiece> piece = {};  // Without, all of it.
};

// How a training ended, and the blob with what it came to.
struct TrainingResult {
  std::string result;
  std::string reason;
};

// One job's training: its parameters, its work, and what is known of its workers. Thread-safe.
//
// It is put together from pieces that each have one lock, or none: the book of units
// (unit_book.h), updates on their way in (arrivals.h), folding here (folding.h) or at hubs
// (hub_folding.h), snapshots (snapshots.h). Whoever folds or saves does so in turn (turns.h);
// progress(), gone(), owed() and acknowledge() wait for nobody who talks to a store, a disk or a
// hub, so the core thread may call them.
//
// Parameters are folded by whoever brings an update, several at once when several wait; nothing is
// ever folded twice. What was folded since the last snapshot is lost with the process, and done
// again: units that were given out before are not known afterwards.
//
// What is thrown inside, and a check (base/check.h) that fails there, ends this training and
// nothing else: failure() says why, what was accepted before stays owed, and all else is refused.
//
// Accepted work is owed a wage from the moment it is accepted until the market acknowledges that it
// has paid, whatever fails afterwards. Snapshots contain what is owed.
class Run {
 public:
  // Begins, or goes on from the last snapshot.
  static base::Result<std::unique_ptr<Run>> open(const wire::Train& spec, std::int32_t workers,
                                                 blob::Store& blobs, const base::Clock& clock,
                                                 RunOptions options,
                                                 std::unique_ptr<ParameterStore> store);

  // `spent`: where the worker's time went since it asked before. `lender`: whose machine it is; 0:
  // not known. `keeps`: the unit that it still works on; 0: none.
  base::Result<wire::Unit> next(base::LeaseId worker, const std::vector<std::string>& holds,
                                const std::optional<wire::TimeSpent>& spent = {},
                                std::uint64_t lender = 0, std::int64_t keeps = 0);
  // A piece of a unit's update; gives how much of it there is. Pieces may arrive twice.
  base::Result<std::int64_t> receive(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                     std::string_view piece);
  // The verdict about a unit. If it was accepted, its wage is in owed() before this returns. A
  // report that is sent again gets the first verdict; `unavailable` while that is being judged, or
  // when it cannot be told whether an update at a hub was folded: ask again. A fold or a save that
  // fails is no error here: see trouble().
  base::Result<wire::UnitVerdict> complete(base::LeaseId worker, std::int64_t unit,
                                           const wire::UnitDone& done);
  // Blocks of the parameters (train/pull.h). A worker whose base will be needed gets all pieces of
  // one version; to others each may be of a newer one, which the piece says.
  base::Result<train::PackedBlocks> pull(base::LeaseId worker, const PullRequest& wanted);
  void gone(base::LeaseId worker);
  // The worker's lease is about to close: nothing of it is accepted from now on, and all that was
  // accepted before is in owed().
  void seal(base::LeaseId worker) { book_.seal(worker); }

  // Wages that are not acknowledged yet, in order of their numbers.
  [[nodiscard]] std::vector<Wage> owed() const { return book_.owed(); }
  // The market has durably paid everything up to and including `number`.
  void acknowledge(std::int64_t number) { book_.acknowledge(number); }

  [[nodiscard]] wire::Training view() const;
  [[nodiscard]] double progress() const { return book_.progress(); }  // view()'s.
  // Why the last fold or snapshot failed, until one succeeds. It is tried again by itself, when a
  // worker next asks for something or brings something.
  [[nodiscard]] std::optional<base::Error> trouble() const;
  // Why it can never go on: the job should end.
  [[nodiscard]] std::optional<std::string> failure() const;
  // Once it is over: how. Until then nothing. After it gave a result no wage is added: owed() is
  // all there is to pay before the job ends.
  [[nodiscard]] base::Result<std::optional<TrainingResult>> ended();
  // Ends it now, for a reason of the market's, with what there is.
  base::Result<TrainingResult> end(std::string reason);

 private:
  Run(const wire::Train& spec, train::AggregatorSpec aggregator, train::Session session,
      blob::Store& blobs, const base::Clock& clock, RunOptions options,
      std::unique_ptr<ParameterStore> store);

  // Runs work(), which gives a Result. What it throws becomes the failure of this training.
  template <class Work>
  auto contained(const Work& work) const -> std::invoke_result_t<Work>;
  void fail_with(std::string why) const;
  base::Result<> recover();
  [[nodiscard]] std::set<std::int32_t> shards_of(const std::vector<std::string>& holds) const;
  [[nodiscard]] wire::Unit described(base::LeaseId worker, const train::Unit& unit);
  base::Result<wire::UnitVerdict> judge_report(base::LeaseId worker, std::int64_t unit,
                                               const wire::UnitDone& done);
  using Body = std::shared_ptr<const train::KeptBytes>;
  base::Result<wire::UnitVerdict> judge(OpenReport& report, const wire::UnitDone& done, Body body);
  base::Result<train::PackedBlocks> pack_parameters(base::LeaseId worker,
                                                    const PullRequest& wanted);
  base::Result<train::ParameterSnapshot> parameters_for(base::LeaseId worker,
                                                        const PullRequest& wanted);
  base::Result<std::optional<TrainingResult>> write_result();
  // The parameters as they are, and with this update: nothing, if the store does not answer.
  std::optional<TrialVersions> try_out(const train::Update& update, std::int64_t unit) const;
  wire::UnitVerdict judge_state(OpenReport& report, const wire::UnitDone& done, Body body);
  wire::UnitVerdict judge_here(OpenReport& report, const wire::UnitDone& done, Body body);
  // Is what every worker began from needed, not only where a unit is done twice?
  [[nodiscard]] bool keeps_bases() const;
  // Folds and saves what is due. `wait`: for a turn, if others have it; else they will do it.
  void catch_up(bool wait);
  base::Result<> fold_and_save();
  void forget_departed();

  const wire::Train spec_;
  blob::Store& blobs_;
  const base::Clock& clock_;
  const RunOptions options_;
  const std::string generation_;  // Of the parameters in this life: what came before is not folded.
  CodecBook codecs_;              // Updates read through its codecs.
  const std::unique_ptr<ParameterStore> store_;

  Turns turns_;
  UnitBook book_;
  RunMemory memory_;
  Arrivals arrivals_;
  PulledBases bases_;
  TimeBook times_;
  Snapshots snapshots_;
  Folding folding_;
  std::optional<HubFolding> hub_folding_;  // Where the aggregator folds updates one by one.
  std::atomic<std::int64_t> bytes_out_ = 0;

  mutable std::mutex mutex_;             // Guards what follows.
  std::vector<base::LeaseId> departed_;  // To be forgotten by whoever may take the time.
  struct Outcome {
    std::optional<std::string> failure;
    std::optional<base::Error> trouble;
    std::optional<TrainingResult> ended;
    blob::Store::Pin pin;  // Keeps the result in the store.
  };
  mutable Outcome outcome_;
};

}  // namespace souk::hub
