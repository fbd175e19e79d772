#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "train/aggregators/aggregator.h"

// The makers of the rules, one in each rule_*.cc, where the rule is described: what it computes,
// its params and their defaults. And the readers of params: an error names the param, its value and
// what would be accepted; Error::field is the param's name. make_aggregator has refused unknown
// names.

namespace souk::train {

using MakeAggregator = base::Result<std::unique_ptr<Aggregator>>(const AggregatorSpec& spec);

MakeAggregator make_vc_asgd, make_fedasync, make_fedbuff, make_downpour, make_easgd, make_dc_asgd,
    make_fedavg, make_fedadam, make_fedyogi, make_diloco, make_delayed_nesterov, make_norm_clip,
    make_centered_clip, make_trimmed_mean, make_krum;

// From `low` to `high`, both included.
[[nodiscard]] base::Result<double> number_param(const AggregatorSpec& spec, std::string_view name,
                                                double otherwise, double low, double high);
[[nodiscard]] base::Result<std::size_t> whole_param(const AggregatorSpec& spec,
                                                    std::string_view name, std::size_t otherwise,
                                                    std::size_t low, std::size_t high);
// `buffer`, the updates that a fold waits for: min(10, workers) unless given, up to 256.
[[nodiscard]] base::Result<std::size_t> buffer_param(const AggregatorSpec& spec);
// The same for robust rules, which need a majority to believe: at least 5 unless given.
[[nodiscard]] base::Result<std::size_t> robust_buffer_param(const AggregatorSpec& spec);
// `quorum`, the updates that a round waits for: all workers unless given, up to 10,000.
[[nodiscard]] base::Result<std::size_t> quorum_param(const AggregatorSpec& spec);
// `eta`, by which a change is multiplied before it is added: from 0 to 10.
[[nodiscard]] base::Result<double> eta_param(const AggregatorSpec& spec, double otherwise);

}  // namespace souk::train
