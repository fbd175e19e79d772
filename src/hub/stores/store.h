#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hub/stores/prepared_fold.h"
#include "train/aggregators/aggregator.h"
#include "train/parameters.h"
#include "train/pull.h"
#include "train/update.h"

namespace souk::hub {

// One accepted update on its way into a store.
struct Contribution {
  std::int64_t id = 0;    // Of the attempt it came from: it is folded at most once.
  std::int64_t base = 0;  // The version that its worker began from.
  train::Update update;
  std::string generation = {};  // Unless empty: it is for parameters that were loaded under it.
};

// Everything about the parameters, to keep and to begin anew from.
struct SavedParameters {
  train::Blocks values;
  std::vector<train::Blocks> planes;
  std::int64_t version = 0;
  std::string generation = {};  // For load(): what to know these parameters by; empty: a new name.
};

// Where the parameters of one job live. Thread-safe. Several hubs may share one store, if it is one
// that can be shared; then fold() is what keeps them apart: it folds into the newest version or not
// at all, and each id once.
class ParameterStore {
 public:
  virtual ~ParameterStore() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Replaces whatever there is.
  virtual base::Result<> load(const SavedParameters& saved) = 0;
  [[nodiscard]] virtual base::Result<SavedParameters> save() const = 0;
  [[nodiscard]] virtual base::Result<train::ParameterSnapshot> take() const = 0;
  // Gives the new version. Sets each update's staleness on the way; leaves out what was folded
  // before.
  virtual base::Result<std::int64_t> fold(const train::Aggregator& rule,
                                          std::span<Contribution> contributions) = 0;
  // From now on `id` counts as folded. Gives whether it was: when not, it never will be, not even
  // by a fold that another hub has under way. For who asked for a fold and got no answer.
  virtual base::Result<bool> bar(std::int64_t id) = 0;

  // The next block of `prepared`, which has arrived as block prepared.blocks.size() of `update`. A
  // store that cannot prepare abandons it, as does one into which something else was folded.
  virtual void prepare(PreparedFold& prepared, const train::Update& /*update*/) {
    prepared.abandon();
  }
  // Makes the prepared fold that of `contribution`, if it is complete and still of use; gives the
  // new version. Nothing: it must be folded.
  virtual std::optional<std::int64_t> commit_prepared(PreparedFold& /*prepared*/,
                                                      const Contribution& /*contribution*/) {
    return std::nullopt;
  }
};

// In this process: for one hub. Folds in place.
[[nodiscard]] std::unique_ptr<ParameterStore> make_memory_store();

}  // namespace souk::hub
