#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "advisor/churn.h"
#include "advisor/machine_type.h"
#include "advisor/spread.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/vocabulary.h"

// How long a training takes on a mix of machines, and what it costs. Pure.
//
// Machines work on their own (asynchronously): machine i makes a step every T_i seconds, all of
// them together one every T = 1 / sum 1/T_i, so j iterations take j T. The model is spotDNN's
// (Shang et al. 2023), in full:
//
//   T_i     compute + 2 S / B + 2 g_i S / B_pcie; S the model, g_i the machine's GPUs
//   B       what a worker gets of the hub's network: what it asks for alone (B_req), or, where n
//           workers ask for more than the hub has (B_hub), P B_hub / n + (1 - P) B_req with
//           P = min(a sqrt(n) + b, 1): they rarely all ask at once
//   b_w     the batch, weighted by speed: sum b_i/T_i / sum 1/T_i
//   R       how unequal the machines are: || w - (1, 0, ..., 0) || with w_i the share of machine i
//           in the samples per second, the fastest first
//   loss    (g2 b_w + g3) sqrt((R + g4) n) / (j + g1) + g5 after j iterations, solved for j
//
// and three additions of ours. Without g4 the factor R + g4 is 1: the published code has no such
// term. A hub folds at most so many updates a second. And machines that leave stretch their steps
// (churn.h).
//
// Settled here: P is at least 0, as a fit over many workers may go below it for few. Iterations to
// a loss are whole: the nearest number, halves down, and at least 1.

namespace souk::advisor {

using base::Result;

// What a step exchanges. MB and MB/s.
struct Traffic {
  double model_mb = 0;      // S.
  double request_mb_s = 0;  // B_req: what one worker alone reaches. 0: exchange takes no time.
  double pcie_mb_s = 0;     // 0: takes no time.
};

// The parameter service, as far as it can be the limit.
struct Hub {
  double bandwidth_mb_s = 0;    // B_hub; 0: never the limit.
  double contention_slope = 0;  // a.
  double contention_base = 1;   // b. With a = 0 this is fair sharing from the first on.
  double folds_per_s = 0;       // 0: never the limit.
  Credits price;                // Per hour, if the job pays for it.
};

// How loss falls. g2 < 0 < g3.
struct Convergence {
  double g1 = 0, g2 = 0, g3 = 0;
  std::optional<double> g4;
  double g5 = 0;
};

struct Iterations {
  double count = 0;
};
struct Samples {
  double count = 0;
};
struct TargetLoss {
  double loss = 0;
  Convergence curve;
};
using Goal = std::variant<Iterations, Samples, TargetLoss>;

inline constexpr double kLevel = 0.8;

struct Problem {
  std::vector<MachineType> types;
  Traffic traffic;
  Hub hub;
  Goal work;
  Recovery recovery;
  double level = kLevel;  // Of the intervals: the share of runs that end inside.
};

// Whole iterations until the loss is down to `loss`, which is above g5; `unequal` is R. Infinite
// where the curve says nothing about such batches.
[[nodiscard]] double iterations_until(double loss, const Convergence& curve, std::int32_t machines,
                                      double batch, double unequal);

// The compute part of a step that took `step_s` with one worker: exchange taken out.
[[nodiscard]] double compute_seconds(double step_s, const Traffic& traffic, std::int32_t gpus);

using base::Bottleneck;

struct Interval {
  double low = 0, expected = 0, high = 0;
};

// The forecast's numbers without its uncertainty: what searches compare.
struct Estimate {
  double iterations = 0;  // Infinite where the loss curve says nothing about such batches.
  double step_s = 0;      // T, after the hub's limit on folds.
  double time_s = 0;
  double cost = 0;  // Credits for the machines, not for the hub.
};

struct Forecast {
  Mix mix;
  Estimate estimate;
  double batch = 0;  // b_w.
  double heterogeneity = 0;
  Bottleneck limit = Bottleneck::compute;
  double revocations = 0;  // Expected until the end.
  Interval time_s, cost;   // Credits for the machines.
  Interval cost_with_hub;
  std::optional<double> chance;  // Of an end by the deadline, if there is one.
  bool guessed = false;          // Intervals rest on Spread's guess for some type of the mix.
};

// Answers for any mix of a problem's types. Immutable, so any thread may ask.
class Forecaster {
 public:
  static constexpr std::int32_t kMostMachines = 10'000;
  static constexpr std::size_t kMostTypes = 1'000;

  // Errors name the type or the number that cannot be, and what could.
  [[nodiscard]] static Result<Forecaster> make(Problem problem);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  // No mix is larger: the quotas together, or floor(((1 - b)/a)^2), where workers would fill the
  // hub's network at every moment and the model ends.
  [[nodiscard]] std::int32_t most_machines() const { return most_; }

  // Seconds of a step of one machine among `machines`, revocations included.
  [[nodiscard]] double step_seconds(std::size_t type, std::int32_t machines) const {
    return step_seconds(type, machines, own_[type].stretch);
  }

  // Each of these requires one count per type, each between 0 and its quota, and between 1 and
  // most_machines() in all.
  [[nodiscard]] Estimate estimate(const Mix& mix) const;
  [[nodiscard]] Forecast forecast(const Mix& mix, std::optional<double> deadline_s = {}) const;
  // The chance that all is done `deadline_s` from the start. Machines leave independently of each
  // other, each time costing the whole as much as an average loss; errors of the types in the mix
  // go together, which is the cautious view.
  [[nodiscard]] double chance(const Mix& mix, double deadline_s) const;

  // Iterations needed if the batch is at most `batch` and machines are as equal as n can be of
  // these types: a bound for searches.
  [[nodiscard]] double least_iterations(std::int32_t machines, double batch) const;

 private:
  explicit Forecaster(Problem problem);

  // Of a type, whatever the mix.
  struct Own {
    double seconds = 0;  // Of a step, but for the network.
    double stretch = 1;  // By checkpoints and revocations.
    double steady = 1;   // By checkpoints alone.
    double delay_s = 0;  // That one revocation costs the machine.
    Spread spread;
  };
  struct Totals;

  [[nodiscard]] double step_seconds(std::size_t type, std::int32_t machines, double stretch) const {
    return (own_[type].seconds + network_s_[static_cast<std::size_t>(machines - 1)]) * stretch;
  }
  [[nodiscard]] Own own(const MachineType& type) const;
  [[nodiscard]] double share_of_network(std::int32_t machines) const;
  [[nodiscard]] double iterations_for(std::int32_t machines, double batch, double unequal) const;
  [[nodiscard]] Totals totals(const Mix& mix) const;
  [[nodiscard]] double capped(double rate) const;
  // When each type is off by what `error` says of its spread.
  template <class Error>
  [[nodiscard]] double steps_per_second(const Mix& mix, const Error& error, bool steady) const;
  [[nodiscard]] double least_heterogeneity(std::int32_t machines) const;

  Problem problem_;
  std::int32_t most_ = 0;
  std::vector<Own> own_;  // By type.
  // By number of machines less one: the network's part of a step, and least_heterogeneity().
  std::vector<double> network_s_, least_unequal_;
};

}  // namespace souk::advisor
