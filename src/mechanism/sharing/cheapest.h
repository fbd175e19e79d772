#pragma once

#include <cstdint>
#include <vector>

#include "mechanism/auction/sides.h"

namespace souk::mechanism {

// Slots handed out strictly cheapest first, for mechanisms that serve one bid after the other.
class Cheapest {
 public:
  // `asks`: cheapest first.
  explicit Cheapest(Lots asks);

  // How many of the slots left have a reserve of at most `price`. Constant time when none has,
  // logarithmic otherwise.
  [[nodiscard]] std::int64_t left_up_to(Credits price) const;
  [[nodiscard]] std::int64_t total() const { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] std::int64_t taken() const { return taken_; }
  // Requires that so many are left.
  void take(std::int64_t units);
  [[nodiscard]] const Lots& asks() const { return asks_; }

 private:
  Lots asks_;
  std::vector<std::int64_t> ends_;  // Units of asks_[0..i].
  std::int64_t taken_ = 0;
  std::size_t at_ = 0;  // The first ask with anything left.
};

}  // namespace souk::mechanism
