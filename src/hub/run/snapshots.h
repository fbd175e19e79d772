#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/fields.h"
#include "blob/manifest.h"
#include "blob/store.h"
#include "hub/run/wages.h"
#include "hub/stores/store.h"
#include "train/units/training.h"

namespace souk::hub {

// What a snapshot says beside the parameters.
struct SnapshotHead {
  train::TrainingState training;
  train::Layout layout;
  std::int64_t version = 0;
  std::int32_t planes = 0;
  std::vector<double> norms, losses;
  std::vector<std::int64_t> steps;  // That the norms came from.
  std::vector<Wage> owed;
  std::int64_t next_wage = 1;
  double averaged = 0;  // Above 0: the last plane is TailAverage's, after so much work.
  // Snapshots from before there were these do not have them.
  static constexpr auto optional_fields =
      std::array<std::string_view, 3>{"next_wage", "averaged", "steps"};
  SOUK_FIELDS(SnapshotHead, training, layout, version, planes, norms, losses, steps, owed,
              next_wage, averaged)
};

// How far a training is, as far as it matters for whether to save it.
struct SaveMark {
  bool initialised = false;
  bool finished = false;
  std::int64_t next_wage = 1;  // Rises with everything that was accepted.
  bool operator==(const SaveMark&) const = default;
};

struct SnapshotOptions {
  std::string pointer;  // The file that names the last snapshot.
  base::Duration every = base::seconds(10);
  std::int64_t accepted = 500;  // Or after so many accepted units.
};

// The snapshots of one training: a folder in the blob store each, and a file that names the last.
// They are written and read chunk by chunk, and chunks that did not change are not written again.
// Thread-safe, but recover() and save() are called in turn (turns.h). No lock is held while the
// disk is used.
class Snapshots {
 public:
  Snapshots(blob::Store& blobs, const base::Clock& clock, SnapshotOptions options);

  struct Snapshot {
    SnapshotHead head;
    SavedParameters parameters;
  };
  // Nothing: there is none yet.
  base::Result<std::optional<Snapshot>> recover();

  // The wages that the last snapshot says are owed, without reading its parameters.
  [[nodiscard]] base::Result<std::vector<Wage>> saved_wages() const;

  // The first parameters and the end are saved at once. After a save that failed it is due again a
  // moment later.
  [[nodiscard]] bool due(const SaveMark& mark) const;
  base::Result<> save(const SaveMark& mark, const SnapshotHead& head,
                      const SavedParameters& parameters);

 private:
  // The folder of the last snapshot and what it says. Nothing: there is none yet.
  struct LastSnapshot {
    blob::Digest root;
    blob::Manifest manifest;
    SnapshotHead head;
  };
  [[nodiscard]] base::Result<std::optional<LastSnapshot>> read_last() const;
  base::Result<> write(const SnapshotHead& head, const SavedParameters& parameters);

  blob::Store& blobs_;
  const base::Clock& clock_;
  const SnapshotOptions options_;

  mutable std::mutex mutex_;      // Guards what follows.
  std::optional<SaveMark> last_;  // Of the last snapshot.
  base::Time next_;               // By the clock,
  base::Time not_before_;         // but not before, after a failure;
  base::Time rested_;             // and, unless it has ended, not before: the last took long.
  blob::Store::Pin pin_;          // Keeps the last snapshot in the store.
};

}  // namespace souk::hub
