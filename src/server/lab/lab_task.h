#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "lab/report/summary.h"
#include "lab/worlds/book_world.h"
#include "lab/worlds/replay.h"
#include "wire/api/lab.h"

// What the server's lab computes for people, and what it refuses to. A scenario from a stranger may
// be large, but neither endless nor hungry, and it never reaches the server's disk or starts a
// program: what would is refused before anything is computed.

namespace souk::server {

using base::Result;

// What came of it.
struct LabResult {
  std::optional<lab::Summary> summary = {};       // Of a scenario,
  std::vector<lab::Comparison> comparisons = {};  // its first mechanism with each other,
  std::string report = {};                        // a page about it, HTML,
  std::string trades = {};                        // and every trade of it, CSV.
  std::optional<lab::Replayed> replay = {};       // Of a replay.
};

// Something to compute, checked.
struct LabTask {
  wire::LabKind kind = wire::LabKind::scenario;
  std::string title;
  std::vector<std::string> mechanisms;
  std::int64_t seeds = 0;               // 0: chance has no part in it.
  std::optional<std::string> scenario;  // Its text, before anything was changed in it.
  // On one thread. Ends soon after `watch` tells it to.
  std::function<Result<LabResult>(const lab::Watch& watch)> compute;
};

// The limits that lab_task.cc keeps; `time`, `waiting` and `kept` are LabRuns'.
inline constexpr wire::LabLimits kLabTaskLimits{.mechanisms = 20,
                                                .seeds = 200,
                                                .agents = 2'000,
                                                .prices = 5'000'000,
                                                .jobs = 50'000,
                                                .trades = 1'000'000};

[[nodiscard]] Result<LabTask> scenario_task(const wire::NewLabRun& body);

// `journal`: the file; empty: there is none. It is read beside its writer, up to where it ends when
// the task begins.
[[nodiscard]] Result<LabTask> replay_task(const wire::NewLabReplay& body,
                                          std::optional<market::ClassId> slot_class, base::Time now,
                                          const std::string& journal);

// The example scenarios that scenario_task() takes.
[[nodiscard]] const std::vector<wire::LabScenario>& lab_scenarios();

}  // namespace souk::server
