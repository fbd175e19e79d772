#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "base/id.h"
#include "wire/api/training.h"

namespace souk::hub {

// The first verdict about each of the latest units, so that a report that is sent again gets the
// same answer. In memory only: of an earlier life of the process those are known whose wages its
// snapshot says are owed. Not thread-safe: part of the book of units.
class Verdicts {
 public:
  static constexpr std::size_t kMost = 10'000;

  explicit Verdicts(std::size_t most = kMost) : most_(most) {}

  // Requires a unit that has no verdict yet. Forgets the oldest unit when there are too many.
  void add(base::LeaseId worker, std::int64_t unit, wire::UnitVerdict verdict);
  // nullptr: none is known. Nobody learns the verdict about another worker's unit.
  [[nodiscard]] const wire::UnitVerdict* find(base::LeaseId worker, std::int64_t unit) const;

 private:
  struct FirstVerdict {
    base::LeaseId worker;
    wire::UnitVerdict verdict;
  };
  std::size_t most_;
  std::map<std::int64_t, FirstVerdict> by_unit_;  // Ids of units grow: the first is the oldest.
};

}  // namespace souk::hub
