#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

// What goes over the wire about experiments that the server computes: what is asked for, and within
// which limits. What comes of them is src/lab's to say (server/lab/lab_runs.h puts both together).

namespace souk::wire {

using base::Duration;

struct LabRunTag {
  static constexpr char prefix = 'r';
  static constexpr std::string_view noun = "run";
};
using LabRunId = base::Id<LabRunTag>;

SOUK_ENUM(LabKind, scenario, replay)
// interrupted: the server was restarted before it was finished.
SOUK_ENUM(LabState, queued, running, done, failed, cancelled, interrupted)

// A scenario, as its YAML file has it, and what is changed in it.
struct NewLabRun {
  std::string scenario;
  std::vector<std::string> mechanisms;  // Instead of its own: "k-double:kappa=0.25".
  std::optional<std::uint64_t> seeds;   // 1 to this many, instead of its own.
  SOUK_FIELDS(NewLabRun, scenario, mechanisms, seeds)
};

// This market's own rounds under these mechanisms.
struct NewLabReplay {
  std::vector<std::string> mechanisms;
  std::optional<std::string> class_;  // All, unless given.
  std::optional<std::int64_t> days;   // Back from now; all, unless given.
  double shading = 0.1;               // The share of its value that a trader may have hidden.
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"shading"};
  SOUK_FIELDS(NewLabReplay, mechanisms, class_, days, shading)
};

// A scenario to begin with.
struct LabScenario {
  std::string name;
  std::string summary;
  std::string scenario;  // YAML.
  SOUK_FIELDS(LabScenario, name, summary, scenario)
};

// What one run may ask for.
struct LabLimits {
  Duration time;  // Of computing; 0: this server has no lab.
  std::int64_t mechanisms = 0;
  std::int64_t seeds = 0;
  std::int64_t agents = 0;  // In all populations together.
  std::int64_t prices =
      0;                  // Of a book: named by all agents, in all rounds of all periods and runs.
  std::int64_t jobs = 0;  // Of a market: in one run.
  std::int64_t trades = 0;   // In all runs.
  std::int64_t waiting = 0;  // Runs of one account that wait or compute at a time.
  std::int64_t kept = 0;     // Of one account, when they are finished.
  SOUK_FIELDS(LabLimits, time, mechanisms, seeds, agents, prices, jobs, trades, waiting, kept)
};

struct LabScenarios {
  std::vector<LabScenario> items;
  LabLimits limits;
  SOUK_FIELDS(LabScenarios, items, limits)
};

}  // namespace souk::wire
