#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "market/commands.h"
#include "market/state.h"
#include "server/core/parsed_works.h"
#include "wire/api/batch.h"
#include "wire/api/plan.h"

namespace souk::server {

// What mechanisms that tell machines apart (mechanism::Mechanism::wants_rates) are told before a
// round: how fast each waiting training runs on each machine, as far as runs of its kind showed
// (profiles.h), and how much of it is left. Core thread only.
class Speeds {
 public:
  // `progress`: how much of a job is done, 0 to 1.
  Speeds(std::function<double(base::JobId)> progress, ParsedWorks& works)
      : progress_(std::move(progress)), parsed_(works) {}

  // Fills in paces and works, if the class's mechanism wants them.
  void tell(const market::State& s, base::Time now, market::Clear& round);

 private:
  struct KnownTraining {
    std::shared_ptr<const wire::Batch> batch;
    std::string key;  // Of its profile.
    std::optional<wire::Profile> profile;
    base::Time learnt;  // When, in the profile's case.
  };
  using Trainings = std::map<base::JobId, KnownTraining>;
  KnownTraining* training_of(const market::State& s, const market::Job& job, Trainings& known);

  const std::function<double(base::JobId)> progress_;
  ParsedWorks& parsed_;
  std::map<market::ClassId, Trainings>
      trainings_;  // Of those that waited in the class's last round.
};

}  // namespace souk::server
