#pragma once

#include <map>
#include <optional>

#include "base/challenge.h"
#include "base/random.h"
#include "market/types.h"

namespace souk::server {

// When to ask idle machines to prove what they claim, and what was asked. At random times, so that
// nobody can be fast for the occasion; on the average every `every`. In memory only: a restart asks
// anew. Core thread only.
//
// The floor is low on purpose: kFloor products of 32-bit numbers a second and claimed core is a
// tenth of what a core of the last ten years does, so nobody honest fails for a busy moment; a
// machine that claims ten times its cores does.
class Challenges {
 public:
  static constexpr double kFloor = 0.5e9;
  static constexpr auto kTime = base::seconds(2);   // At the floor,
  static constexpr auto kSlack = base::seconds(3);  // and for the network.
  static constexpr std::int32_t kMostCores = 8;     // Asked of; the market has to check it all.

  // Zero: never.
  explicit Challenges(base::Duration every, std::uint64_t seed) : every_(every), random_(seed) {}

  struct OpenChallenge {
    base::Challenge challenge;
    base::Time at;
  };
  // Once for each heartbeat of a machine without leases. A machine that is doubted is asked again
  // every minute.
  std::optional<base::Challenge> ask(const market::Machine& machine, base::Time now);
  // What was asked under this seed: once.
  std::optional<OpenChallenge> take(base::MachineId machine, std::uint64_t seed);
  // Was something asked and not answered in time? Forgets it.
  bool overdue(base::MachineId machine, base::Time now);

 private:
  struct Entry {
    base::Time next;
    std::optional<OpenChallenge> asked;
  };
  [[nodiscard]] base::Duration pause();

  const base::Duration every_;
  base::Random random_;
  std::map<base::MachineId, Entry> machines_;
};

}  // namespace souk::server
