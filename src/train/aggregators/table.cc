#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "train/aggregators/rules.h"

namespace souk::train {
namespace {

using base::Code;
using base::fail;
using base::Result;

// The one list of rules. To add one: a file, its test, its maker in rules.h, a row in each of
// these.
const std::array kTable{
    AggregatorInfo{"vc-asgd",
                   "Moves the parameters towards each worker's, less from epoch to epoch.",
                   {"alpha"}},
    AggregatorInfo{"fedasync",
                   "Moves the parameters towards each worker's, less the staler they are.",
                   {"a0", "b"}},
    AggregatorInfo{"fedbuff",
                   "Adds the mean change of a buffer of updates, stale ones discounted.",
                   {"buffer", "eta"}},
    AggregatorInfo{"downpour", "Adds each change as it comes.", {"eta"}},
    AggregatorInfo{"easgd",
                   "Moves the parameters a little towards each worker's (elastic averaging).",
                   {"alpha"}},
    AggregatorInfo{"dc-asgd",
                   "Adds each change, corrected for what others did since its base.",
                   {"adaptive", "lambda", "lr"}},
    AggregatorInfo{"fedavg",
                   "Averages a round of workers by their samples; workers wait for each other.",
                   {"quorum"}},
    AggregatorInfo{"fedadam",
                   "Takes the mean change of a buffer as the gradient of Adam.",
                   {"beta1", "beta2", "buffer", "eps", "eta"}},
    AggregatorInfo{"fedyogi",
                   "As fedadam, with the second moment of Yogi, which forgets more slowly.",
                   {"beta1", "beta2", "buffer", "eps", "eta"}},
    AggregatorInfo{"diloco",
                   "Nesterov momentum on the mean change of a round; workers wait for each other.",
                   {"eta", "momentum", "quorum"}},
    AggregatorInfo{"delayed-nesterov",
                   "Adds each change as it comes; momentum once in as many as workers.",
                   {"eta", "momentum", "period"}},
    AggregatorInfo{"norm-clip",
                   "Adds each change, shortened where it is longer than those before.",
                   {"clip", "eta", "memory"}},
    AggregatorInfo{"centered-clip",
                   "Adds the mean of a buffer, far ones pulled towards the last mean.",
                   {"buffer", "clip", "eta"}},
    AggregatorInfo{"trimmed-mean",
                   "Adds the mean of a buffer without each number's largest and smallest.",
                   {"buffer", "eta", "trim"}},
    AggregatorInfo{"krum",
                   "Adds the mean of those updates of a buffer that lie closest together.",
                   {"buffer", "eta", "faulty", "keep"}},
};

constexpr std::array<MakeAggregator*, kTable.size()> kMakers{
    make_vc_asgd,          make_fedasync,  make_fedbuff,       make_downpour,     make_easgd,
    make_dc_asgd,          make_fedavg,    make_fedadam,       make_fedyogi,      make_diloco,
    make_delayed_nesterov, make_norm_clip, make_centered_clip, make_trimmed_mean, make_krum,
};

constexpr std::int32_t kMostWorkers = 10'000;
constexpr std::size_t kMostBuffered = 256;

Result<> check_names(const AggregatorSpec& spec, const AggregatorInfo& info) {
  for (const auto& [name, value] : spec.params)
    if (std::ranges::find(info.params, std::string_view(name)) == info.params.end())
      return fail(Code::invalid,
                  fmt::format("the rule {} has no param '{}' (given as {})", info.name,
                              name.substr(0, 80), value),
                  base::suggest(name, info.params), name);
  return {};
}

}  // namespace

std::span<const AggregatorInfo> aggregators() { return kTable; }

Result<std::unique_ptr<Aggregator>> make_aggregator(const AggregatorSpec& spec) {
  if (spec.workers < 1 || spec.workers > kMostWorkers)
    return fail(Code::invalid, fmt::format("workers is {}", spec.workers),
                fmt::format("write a whole number from 1 to {}", kMostWorkers), "workers");
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    names.push_back(kTable[i].name);
    if (kTable[i].name != spec.name) continue;
    SOUK_TRY(check_names(spec, kTable[i]));
    return kMakers[i](spec);
  }
  return fail(Code::invalid, fmt::format("there is no rule '{}'", spec.name.substr(0, 80)),
              base::suggest(spec.name, names), "rule");
}

Result<double> number_param(const AggregatorSpec& spec, std::string_view name, double otherwise,
                            double low, double high) {
  const auto at = spec.params.find(name);
  if (at == spec.params.end()) return otherwise;
  if (!(at->second >= low && at->second <= high))
    return fail(Code::invalid, fmt::format("{} is {}", name, at->second),
                fmt::format("write a number from {} to {}", low, high), std::string(name));
  return at->second;
}

Result<std::size_t> whole_param(const AggregatorSpec& spec, std::string_view name,
                                std::size_t otherwise, std::size_t low, std::size_t high) {
  const auto at = spec.params.find(name);
  if (at == spec.params.end()) return otherwise;
  if (!(at->second >= static_cast<double>(low) && at->second <= static_cast<double>(high)) ||
      at->second != std::floor(at->second))
    return fail(Code::invalid, fmt::format("{} is {}", name, at->second),
                fmt::format("write a whole number from {} to {}", low, high), std::string(name));
  return static_cast<std::size_t>(at->second);
}

Result<std::size_t> buffer_param(const AggregatorSpec& spec) {
  return whole_param(spec, "buffer", static_cast<std::size_t>(std::min(spec.workers, 10)), 1,
                     kMostBuffered);
}

Result<std::size_t> robust_buffer_param(const AggregatorSpec& spec) {
  return whole_param(spec, "buffer", static_cast<std::size_t>(std::clamp(spec.workers, 5, 10)), 1,
                     kMostBuffered);
}

Result<std::size_t> quorum_param(const AggregatorSpec& spec) {
  return whole_param(spec, "quorum", static_cast<std::size_t>(spec.workers), 1, kMostWorkers);
}

Result<double> eta_param(const AggregatorSpec& spec, double otherwise) {
  return number_param(spec, "eta", otherwise, 0, 10);
}

}  // namespace souk::train
