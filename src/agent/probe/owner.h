#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace souk::agent {

struct OwnerOptions {
  std::string root = {};                        // In front of /proc and /dev. For tests.
  double busy_cores = 0.5;                      // Others use at least this much of the processors,
  base::Duration busy_for = base::seconds(3);   // for this long: the owner is here.
  base::Duration quiet_for = base::minutes(1);  // Gone when nothing was seen for this long.
};

// Does anybody but the borrowed programs use this machine? Looks at the processors' time, at the
// terminals that were typed on, and at keyboards and mice: whether the kernel has heard of them
// since the last look (interrupts of PS/2, transfers of USB input devices), never what they said.
// Reads files only. One thread.
class OwnerWatch {
 public:
  explicit OwnerWatch(OwnerOptions options = {}) : options_(std::move(options)) {}

  // `programs_cpu_seconds`: what the borrowed programs have used in all. Call about once a second.
  bool here(double programs_cpu_seconds, base::Time now);

 private:
  [[nodiscard]] base::Time last_typed() const;
  [[nodiscard]] std::uint64_t input_events() const;

  const OwnerOptions options_;
  std::optional<double> last_busy_, last_programs_;
  std::optional<std::uint64_t> last_input_;
  base::Time last_look_, busy_since_ = base::kNever, seen_;
};

}  // namespace souk::agent
