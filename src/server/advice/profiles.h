#pragma once

#include <optional>
#include <string>
#include <vector>

#include "market/commands.h"
#include "market/state.h"
#include "wire/api/batch.h"
#include "wire/api/plan.h"
#include "wire/api/training.h"

// What was measured of a kind of training. The market keeps it, as text; trainings that end teach
// it. Pure functions of the state.
//
// A kind of training is what decides the pace: the trainer, its configuration and program, the
// aggregator, the codec. Not how long it trains or on which data, and of the batch it is known how
// time depends on it.

namespace souk::server {

[[nodiscard]] std::string profile_key(const wire::Batch& batch, const std::string& slot_class);

// What is known of this kind of training on machines of that class, if anything.
[[nodiscard]] std::optional<wire::Profile> known_profile(const market::State& s,
                                                         const wire::Batch& batch,
                                                         market::ClassId slot_class);

// What a training that was never measured on this class may be like: the same kind on another
// class, else the middle one of the kinds that were measured last, here or anywhere, else a guess.
struct RoughProfile {
  wire::Profile profile;
  wire::QuoteMethod method = wire::QuoteMethod::guess;
};
[[nodiscard]] RoughProfile rough_profile(const market::State& s, const wire::Batch& batch,
                                         market::ClassId slot_class);

// Where a unit's seconds go.
struct Pace {
  double computing = 0;  // Each of its steps;
  double preparing = 0;  // what else it does for a unit, without the network,
  double network = 0;    // and on it.
  double steps = 0;      // Of a unit.
  double startup_s = 0;  // Before the first, and after the last.

  [[nodiscard]] double unit_s() const { return computing * steps + preparing + network; }
  [[nodiscard]] double step_s() const { return unit_s() / steps; }
  [[nodiscard]] Pace in_units_of(double other_steps) const {
    auto out = *this;
    out.steps = other_steps;
    return out;
  }
};

// How fast machines of one class are at a kind of training with one batch.
class Paces {
 public:
  // Both are looked at later. Requires a profile with machines.
  Paces(const market::State& s, market::ClassId slot_class, const wire::Profile& profile,
        std::int32_t batch);

  // A machine that was never seen at it is as much faster or slower than those that were, as it was
  // at other kinds of training; without any, it is as they are on average.
  [[nodiscard]] Pace on(base::MachineId machine) const;
  [[nodiscard]] const Pace& usual() const { return usual_; }

 private:
  [[nodiscard]] std::optional<double> compared(base::MachineId machine) const;
  [[nodiscard]] std::vector<wire::Profile> other_profiles() const;

  const market::State& s_;
  const market::ClassId slot_class_;
  const wire::Profile& profile_;
  const std::int32_t batch_;
  Pace usual_;
  mutable std::optional<std::vector<wire::Profile>> others_;  // Of the class, once needed.
};

// Seconds that a step of batch `to` takes for each that one of batch `from` does. In proportion
// where no run had more than one batch.
[[nodiscard]] double batch_factor(const wire::Profile& profile, std::int32_t from, std::int32_t to);

// The samples of all epochs, and the part of them after which the target is expected; nothing
// without a target, without a run on the same data and with the same rate, and where all epochs
// will be needed.
[[nodiscard]] double samples_of(const wire::Train& train);
[[nodiscard]] std::optional<double> target_after(const wire::Profile& profile,
                                                 const wire::Train& train);

[[nodiscard]] wire::PlanMeasures measures_of(const wire::Profile& profile);

// What the market should know of this kind of training now that the job is over.
struct Lesson {
  market::LearnProfile profile;
  // By how much the job took longer than forecast for the work it did, as a share; nothing where
  // there was no forecast, or one of machines that had never been seen at it.
  std::optional<double> error;
};
// `memory`: the most bytes that a worker of it used.
[[nodiscard]] std::optional<Lesson> learnt(const market::State& s, const market::Job& job,
                                           const wire::Batch& batch, const wire::Training& training,
                                           std::int64_t memory);

}  // namespace souk::server
