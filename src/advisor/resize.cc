#include "advisor/resize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace souk::advisor {
namespace {

// Whole workers of a need that may be beyond all numbers.
std::int32_t workers_for(double need, std::int32_t most) {
  return need >= most ? most : static_cast<std::int32_t>(std::ceil(need));
}

}  // namespace

std::string workers_text(std::int32_t n) {
  return fmt::format("{} worker{}", n, n == 1 ? "" : "s");
}

std::optional<Resize> resize(const Running& r) {
  CHECK(r.pace > 0 && r.least >= 1 && r.most >= r.least);
  if (r.left <= 0) return std::nullopt;
  const auto need = r.seconds > 0 ? r.left / (r.pace * r.seconds) : HUGE_VAL;
  if (need > r.aim * kShort) {
    const auto workers = std::max(r.least, workers_for(need * kSpare, r.most));
    if (workers <= r.aim) return std::nullopt;
    // What it costs does not depend on how many share it.
    if (r.price * r.left / r.pace > r.credits) return std::nullopt;
    return Resize{
        workers,
        fmt::format("{:.0f}% of the work is left for {:.0f} s and {} would take {:.0f} s",
                    100 * r.left, r.seconds, workers_text(r.aim), r.left / (r.pace * r.aim))};
  }
  const auto enough = std::max(r.least, workers_for(need * kExcess, r.most));
  if (enough >= r.aim) return std::nullopt;
  return Resize{enough, fmt::format("{} workers would be done {:.0f} s before the deadline", r.aim,
                                    r.seconds - r.left / (r.pace * r.aim))};
}

}  // namespace souk::advisor
