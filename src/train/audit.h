#pragma once

#include <cstdint>
#include <map>

#include "base/random.h"

namespace souk::train {

struct AuditLimits {
  double newcomer = 0.05;  // The part of a newcomer's units that is done by another owner too,
  double trusted = 0.035;  // and of one who was right again and again.
  // All that is done again is at most this part of all units.
  double most = 0.05;
  // So often wrong, without being right in between: it gets no more units.
  std::int32_t strikes = 3;
};

// Which units of a training are done again by another owner, at random and in proportion to how far
// an owner is distrusted. Distrust falls with each answer that another owner came to as well, and
// is whole after one that others did not come to: from then on all that owner's units are done
// twice, or it gets none. Who is honest is never blamed: two that agree decide (opinions.h). Pure.
class Audit {
 public:
  using Owner = std::uint64_t;

  explicit Audit(AuditLimits limits = {}) : limits_(limits) {}

  // May `owner` have another unit now? `possible`: another owner is there to do it again.
  bool may_work(Owner owner, bool possible);
  // A unit goes to `owner`, who may work. True: another owner is to do it as well.
  bool choose(Owner owner, bool possible, base::Random& random);
  // A unit is done once more than was chosen, because two answers to it differ.
  void asked_again() { room_ -= 1; }

  void right(Owner owner);
  void wrong(Owner owner);
  // Answers differ, and nobody was there to decide.
  void doubted(Owner owner);

  [[nodiscard]] double distrust(Owner owner) const;  // 0 to 1: the chance of an audit.
  [[nodiscard]] bool shunned(Owner owner) const;

 private:
  struct Standing {
    double distrust = 0;
    std::int32_t strikes = 0;
  };
  Standing& standing(Owner owner);

  AuditLimits limits_;
  std::map<Owner, Standing> standings_;
  double room_ = 1;  // Units that may be done again by now.
};

}  // namespace souk::train
