#pragma once

#include <fmt/format.h>

#include <exception>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "base/result.h"

namespace souk::base {

// A check (check.h) that failed inside a Containment.
class ImpossibleState : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// While one of these lives, a check that fails on its thread throws ImpossibleState instead of
// ending the process. For work whose state is its own: one training, one experiment. Whoever makes
// one catches what is thrown, and uses that state no more. Not for what all share: the core, the
// market, the ledger.
class Containment {
 public:
  Containment() : outer_(std::exchange(active_, true)) {}
  ~Containment() { active_ = outer_; }
  Containment(const Containment&) = delete;
  Containment& operator=(const Containment&) = delete;
  [[nodiscard]] static bool active() { return active_; }

 private:
  static thread_local bool active_;
  const bool outer_;
};

// What work() gives, a Result. What it throws becomes an error: the thing that a thread was busy
// with ends with a message, and not the process with all that its other threads do.
template <class Work>
[[nodiscard]] std::invoke_result_t<Work> contained(Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const std::bad_alloc&) {
    return fail(Code::exhausted, "there is not enough memory");
  } catch (const std::exception& e) {
    return fail(Code::internal, fmt::format("an error in souk: {}", e.what()), "report it");
  }
}

}  // namespace souk::base
