#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "train/aggregators/aggregator.h"
#include "train/parameters.h"

namespace souk::hub {

// A fold that is computed block by block while its update arrives, beside the parameters: nobody
// sees it before ParameterStore::commit_prepared(). It is of no use, and its blocks go, once
// anything else was folded. One thread at a time.
struct PreparedFold {
  std::shared_ptr<const train::Aggregator> rule;
  std::int64_t base = 0;  // The version that the update's worker began from.
  double weight = 1;      // Of the update, as are these.
  std::int32_t epoch = 1, at_work = 1;

  std::int64_t version = -1;              // Into which it is folded, from the first block on.
  std::int64_t generation = -1;           // Of the parameters, as their store counts them.
  std::vector<train::Parameters> blocks;  // After the fold, of one block each.
  bool useless = false;

  void abandon() {
    useless = true;
    blocks = {};
  }
};

// Can it be computed so? Not where a block depends on other blocks of the update.
[[nodiscard]] inline bool can_prepare(const train::Aggregator& rule) {
  const auto needs = rule.needs();
  return needs.arity == 1 && !needs.base && !needs.whole;
}

}  // namespace souk::hub
