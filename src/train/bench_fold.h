#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "base/time.h"

namespace souk::train {

// How fast aggregators fold, against the least that any aggregator must do: reading and writing all
// parameters in place and reading one fp32 update, w += a (u - w). The two take turns in one run on
// the same parameters, so that whatever else the machine does meets both.
struct FoldBench {
  std::size_t floats = 4'972'746;
  base::Duration budget = base::seconds(60);  // For all rows together, preparing them aside.
  std::vector<std::string> rules = {};        // All of them unless given.
  std::vector<std::string> codecs = {};       // All of them unless given.
  std::size_t workers = 10;
  // Of the updates of a row. Where it is too little for an aggregator's arity, fewer are folded at
  // once.
  std::size_t most_bytes = std::size_t{3} << 30;
};

struct FoldRow {
  std::string rule, codec;
  std::size_t at_once = 1;  // Updates in each fold.
  std::size_t samples = 0;
  double baseline_us = 0, fold_us = 0;  // Medians; of a fold, per update.
  // Baseline time / fold time per update: median and quartiles over the turns. 1 is as fast.
  double ratio = 0, low = 0, high = 0;
};

// A row for each aggregator and codec; aggregators that fold each update as it comes have two, with
// one update at a time and with eight. Codecs that carry changes only are left out for aggregators
// that need weights. Time is read from `clock` alone. Unknown names are errors.
[[nodiscard]] base::Result<std::vector<FoldRow>> bench_fold(const FoldBench& bench,
                                                            const base::Clock& clock);

}  // namespace souk::train
