#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "wire/api/sweep.h"

// Successive halving without waiting (ASHA). Trials come to rungs, after min_epochs, eta times as
// many, eta times that... A trial goes on from a rung if it is among the best 1/eta of those that
// have come there so far, itself included, or the best of all; else it is stopped. Nobody waits for
// others to arrive, so a trial that comes early may go on where a later one with the same value is
// stopped (Li et al., A System for Massively Parallel Hyperparameter Tuning, in its form without
// pauses). Pure.

namespace souk::job {

// The epochs of a rung, counted from 0.
[[nodiscard]] std::int64_t rung_epochs(const wire::Sweep& sweep, std::size_t rung);

// Is `a` better than `b`? What is no number is worse than anything.
[[nodiscard]] bool is_better(const wire::Sweep& sweep, std::optional<double> a,
                             std::optional<double> b);

// Does a trial go on that comes to a rung with `value`, after `others`?
[[nodiscard]] bool goes_on(const wire::Sweep& sweep, std::optional<double> value,
                           std::span<const std::optional<double>> others);

}  // namespace souk::job
