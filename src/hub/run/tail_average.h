#pragma once

#include "base/result.h"
#include "hub/run/snapshots.h"
#include "hub/stores/store.h"
#include "train/average.h"

namespace souk::hub {

// What a training checks, ends with and hands out: the mean of its last parameters
// (train/average.h) where the job wants that and the model is not large, else the parameters as
// they are. Workers go on from the parameters. Snapshots have the mean as one more plane. No lock:
// called in turn (turns.h).
class TailAverage {
 public:
  // Bytes of a model; of a larger one no second copy is kept.
  static constexpr std::size_t kMost = std::size_t{128} << 20;

  TailAverage(const ParameterStore& store, bool wanted) : store_(store), wanted_(wanted) {}

  // After a fold; `work` samples were learnt from so far.
  base::Result<> folded(double work);
  base::Result<train::ParameterSnapshot> take(double work);

  void save(SnapshotHead& head, SavedParameters& parameters) const;
  // Takes out of what was saved what save() had put in.
  void restore(SnapshotHead& head, SavedParameters& parameters);

 private:
  const ParameterStore& store_;
  const bool wanted_;
  train::RunningAverage average_;
};

}  // namespace souk::hub
