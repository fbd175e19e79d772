#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/parameter.h"
#include "base/result.h"
#include "base/vocabulary.h"
#include "train/parameters.h"
#include "train/update.h"

namespace souk::train {

using base::Sends;

struct Needs {
  Sends sends = Sends::delta;
  std::size_t planes = 0;  // Kept beside the parameters.
  std::size_t arity = 1;   // Updates that a fold waits for; 1: each as it comes.
  bool base = false;       // Updates must bring Update::base.
  // All updates of a fold must come from the version before it, so workers wait for each other.
  bool synchronous = false;
  // What becomes of a block depends on other blocks of the update too.
  bool whole = false;
  // How far one update moves the parameters in the end, in its own lengths; 0: by its share of the
  // mean, 1 / arity.
  double gain = 0;
  // Rounds end by the clock, after so many seconds, and not when `arity` updates are there; 0: as
  // many as suits the machines.
  double round_s = 0;
  bool by_clock = false;
  // How much of its last change, which is on its way here, a worker adds to the parameters that it
  // has fetched meanwhile. 0: it begins from what it fetched.
  double own = 0;
};

// How updates change the parameters. One file each, listed in table.cc. Pure and thread-safe: all
// that it remembers lies in the parameters' planes and version. Planes belong to the aggregator
// that wrote them: parameters that come from elsewhere begin at version 0, with planes of zeros.
class Aggregator {
 public:
  virtual ~Aggregator() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual Needs needs() const = 0;
  // Folds `updates` into `p` and advances its version once for each fold that it defines: with
  // arity 1, once per update, in their order, reading each block of the parameters once; else once
  // in all. `updates` are at least one and, with a greater arity, at least one and at most arity
  // (fewer only when no more will come).
  virtual void fold(Parameters& p, std::span<const Update> updates) const = 0;
};

using AggregatorParams = base::Arguments::Numbers;

// An aggregator as a job names it. `workers` is how many are expected (the N of delayed Nesterov,
// the quorum of synchronous ones), unless the params say otherwise.
struct AggregatorSpec {
  std::string name;
  AggregatorParams params;
  std::int32_t workers = 1;
};

// When updates are folded. each: as they come. buffer: as soon as there are some. round: when the
// round is complete, whose workers all began from the same version and wait for each other.
SOUK_ENUM(Folding, each, buffer, round)

using MakeAggregator = std::unique_ptr<Aggregator>(const base::Arguments& given,
                                                   std::int32_t workers);

// One row of the table of aggregators.
struct AggregatorInfo {
  std::string_view name;
  std::string_view what;  // One sentence.
  Sends sends = Sends::delta;
  Folding folding = Folding::each;
  bool robust = false;  // Survives a fifth of hostile workers.
  base::ParameterList parameters = {};
  MakeAggregator* make;
};

// Of jobs that name none: docs/decisions/0038-a-batch-is-everybodys.md.
inline constexpr std::string_view kDefaultAggregator = "mean";

[[nodiscard]] std::span<const AggregatorInfo> aggregators();
// Unknown names and params, and values outside their range, are errors that name what is accepted.
[[nodiscard]] base::Result<std::unique_ptr<Aggregator>> make_aggregator(const AggregatorSpec& spec);

}  // namespace souk::train
