#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "market/commands.h"
#include "market/state.h"
#include "wire/api/batch.h"
#include "wire/api/plan.h"

namespace souk::server {

// What rules that tell machines apart (mechanism::Mechanism::wants_rates) are told before a round:
// how fast each waiting training runs on each machine, as far as runs of its kind showed
// (profiles.h), and how much of it is left. Core thread only.
class Speeds {
 public:
  // How much of a job is done, 0 to 1.
  explicit Speeds(std::function<double(base::JobId)> progress) : progress_(std::move(progress)) {}

  // Fills in paces and works, if the class's rule wants them.
  void tell(const market::State& s, base::Time now, market::Clear& round);

 private:
  struct Work {
    wire::Batch batch;  // Read from the job once, not in every round.
    std::string key;    // Of its profile.
    std::optional<wire::Profile> profile;
    base::Time learnt;  // When, in the profile's case.
  };
  using Works = std::map<base::JobId, Work>;
  static Work* work_of(const market::State& s, const market::Job& job, Works& works);

  const std::function<double(base::JobId)> progress_;
  std::map<market::ClassId, Works> works_;  // Of those that waited in the class's last round.
};

}  // namespace souk::server
