#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "server/lab/lab_task.h"
#include "wire/api/lab.h"

namespace souk::server {

// An experiment as the API shows it. Lists leave out what came of it.
struct LabRun {
  wire::LabRunId id;
  wire::LabKind kind = wire::LabKind::scenario;
  wire::LabState state = wire::LabState::queued;
  double progress = 0;  // From 0 to 1.
  std::string title;
  std::vector<std::string> mechanisms;
  std::int64_t seeds = 0;
  base::Time created;
  std::optional<base::Time> finished = {};
  std::optional<std::string> error = {};  // Of one that failed or was interrupted.
  std::optional<lab::Summary> summary = {};
  std::vector<lab::Comparison> comparisons = {};
  std::optional<lab::Replayed> replay = {};
  std::optional<std::string> scenario = {};  // Its text, as it was sent; a replay has none.

  SOUK_FIELDS(LabRun, id, kind, state, progress, title, mechanisms, seeds, created, finished, error,
              summary, comparisons, replay, scenario)
};

[[nodiscard]] inline bool is_over(wire::LabState state) {
  return state != wire::LabState::queued && state != wire::LabState::running;
}

}  // namespace souk::server
