#pragma once

#include <functional>
#include <thread>
#include <utility>

#include "server/lab/lab_runs.h"

namespace souk::server::testing {

inline LabTask task(std::function<Result<LabResult>(const lab::Watch&)> compute) {
  return {.title = "a task", .compute = std::move(compute)};
}

// Ends at once.
inline LabTask quick() {
  return task([](const lab::Watch&) { return LabResult{.report = "page"}; });
}

// Computes until it is told to stop.
inline LabTask endless() {
  return task([](const lab::Watch& watch) -> Result<LabResult> {
    while (true) {
      SOUK_TRY(watch.go_on(0));
      std::this_thread::yield();
    }
  });
}

}  // namespace souk::server::testing
