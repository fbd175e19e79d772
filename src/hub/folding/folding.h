#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "hub/run/run_memory.h"
#include "hub/run/tail_average.h"
#include "hub/run/unit_book.h"
#include "hub/spill.h"
#include "hub/stores/store.h"
#include "wire/api/training.h"

namespace souk::hub {

// Folding here: accepted updates from the book of units into the parameter store. Its methods are
// called in turn (turns.h); it has no lock, and the book's is not held while the store works.
class Folding {
 public:
  // `generation` is what the store knows the parameters of this life by.
  // `averages`: what is checked is the mean of the last parameters.
  Folding(UnitBook& book, ParameterStore& store, const base::Clock& clock, std::string generation,
          RunMemory& memory, std::size_t most_floats, SpillOptions spill = {},
          bool averages = false);

  // The first parameters, by whoever came first.
  wire::UnitVerdict begin(OpenReport& report, const wire::UnitDone& done,
                          std::shared_ptr<const train::KeptBytes> body);
  // Parameters from a snapshot; gives them as they are now in the store.
  base::Result<train::ParameterSnapshot> load(SavedParameters parameters);
  // Folds for all who wait. After an error, what was accepted is folded the next time.
  base::Result<> fold_waiting();
  // The store is at `version`; a check that is due begins.
  base::Result<> advance(std::int64_t version);

  // What is checked and handed out. In turn, as the rest.
  [[nodiscard]] TailAverage& average() { return average_; }

  // Why there will never be parameters: again and again the model was too large.
  [[nodiscard]] std::optional<std::string> hopeless() const;

  // Is there something to fold, or a check to begin? Any thread.
  [[nodiscard]] bool behind() const { return check_missed_ || book_.can_fold(); }
  // Updates folded so far, and the time it took. Any thread.
  [[nodiscard]] std::int64_t folds() const { return folds_; }
  [[nodiscard]] base::Duration time() const { return base::Duration(time_us_.load()); }

 private:
  base::Result<> check_size(const train::Layout& layout);
  base::Result<> fold(std::vector<Contribution> batch);
  base::Result<> begin_check();

  UnitBook& book_;
  ParameterStore& store_;
  const base::Clock& clock_;
  const std::string generation_;
  RunMemory& memory_;
  const std::size_t most_floats_;
  const SpillOptions spill_;
  TailAverage average_;
  std::atomic<int> too_large_ = 0;  // Models that were.
  std::atomic<std::int64_t> folds_ = 0, time_us_ = 0;
  std::atomic<bool> check_missed_ = false;  // A check is due, but the store did not answer.
};

}  // namespace souk::hub
