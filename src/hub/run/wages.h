#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

namespace souk::hub {

// A wage for accepted work. Numbers of one job rise by one, and are never used twice, also not
// after a crash.
struct Wage {
  std::int64_t number = 0;
  base::LeaseId lease;
  std::int32_t epoch = 0;  // Of the lease.
  base::Duration worked;
  std::int64_t unit = 0;  // That was accepted; 0 in snapshots from before it was kept.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"unit"};
  SOUK_FIELDS(Wage, number, lease, epoch, worked, unit)
  bool operator==(const Wage&) const = default;
};

// The wages of one training that the market has not acknowledged yet. Not thread-safe: it is part
// of the book of units, so that a unit is accepted and its wage owed at the same moment.
class Wages {
 public:
  // When so many are owed, no more work should be accepted until the market has paid.
  static constexpr std::size_t kMost = 100'000;

  // Goes on from a snapshot, which may be older than what the market has paid since.
  void restore(std::vector<Wage> owed, std::int64_t next, std::int64_t paid_through);
  // Gives `wage` the next number.
  void add(Wage wage);
  // The market has durably paid everything up to and including `number`.
  void acknowledge(std::int64_t number);

  // In order of their numbers.
  [[nodiscard]] const std::vector<Wage>& owed() const { return owed_; }
  [[nodiscard]] std::int64_t next() const { return next_; }  // The number of the next wage.

 private:
  std::vector<Wage> owed_;
  std::int64_t next_ = 1;
};

}  // namespace souk::hub
