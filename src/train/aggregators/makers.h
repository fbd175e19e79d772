#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

#include "train/aggregators/aggregator.h"

// The makers of the aggregators, one beside each of them. Their arguments were checked against the
// rows of table.cc; `workers` is at least 1.

namespace souk::train {

MakeAggregator make_mean, make_vc_asgd, make_fedasync, make_fedbuff, make_downpour, make_easgd,
    make_dc_asgd, make_fedavg, make_fedadam, make_fedyogi, make_diloco, make_delayed_nesterov,
    make_rounds, make_norm_clip, make_centered_clip, make_trimmed_mean, make_krum;

// The updates that a fold waits for.
inline std::size_t buffer(const base::Arguments& given, std::int32_t workers) {
  return given.whole_or("buffer", static_cast<std::size_t>(std::min(workers, 10)));
}
// For robust aggregators, which need a majority to believe.
inline std::size_t robust_buffer(const base::Arguments& given, std::int32_t workers) {
  return given.whole_or("buffer", static_cast<std::size_t>(std::clamp(workers, 5, 10)));
}
// The updates that a round waits for.
inline std::size_t quorum(const base::Arguments& given, std::int32_t workers) {
  return given.whole_or("quorum", static_cast<std::size_t>(workers));
}

}  // namespace souk::train
