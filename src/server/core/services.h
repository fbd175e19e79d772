#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "blob/store.h"
#include "hub/hub.h"
#include "server/advice/forecast_errors.h"
#include "server/core/challenges.h"
#include "server/core/holdings.h"
#include "server/core/parsed_works.h"
#include "server/core/payroll.h"
#include "server/core/pins.h"
#include "server/core/telemetry.h"
#include "server/files/logs.h"
#include "server/lab/lab_runs.h"

namespace souk::server {

// What a market serves beside its journal: files, logs, trainings, experiments and what leases use.
// `blobs`, `logs`, `pins`, `hub` and `lab` may be used from any thread, the rest on the core thread
// only.
class Services {
 public:
  // Keeps logs and the names of snapshots below `folder`.
  Services(std::unique_ptr<blob::Store> store, const std::string& folder, const base::Clock& clock,
           base::Duration challenge_every = {}, std::uint64_t seed = 0,
           hub::Hub::MakeStore parameters = {}, std::unique_ptr<hub::Remote> hubs = {},
           LabOptions lab_options = {})
      : blobs(std::move(store)),
        logs(folder + "/logs"),
        pins(*blobs),
        hub(*blobs, clock, folder + "/hub", std::move(parameters), std::move(hubs)),
        lab(clock, std::move(lab_options)),
        challenges(challenge_every, seed) {}

  // For the core thread: asks no disk.
  [[nodiscard]] bool has_blob(std::string_view name) const {
    const auto digest = blob::parse_digest(name);
    return digest && blobs->knows(*digest);
  }
  const std::unique_ptr<blob::Store> blobs;
  const Logs logs;
  Pins pins;
  hub::Hub hub;
  LabRuns lab;
  ParsedWorks works;
  Payroll payroll{hub};
  Telemetry telemetry;
  Challenges challenges;
  Holdings holdings;
  ForecastErrors forecast_errors;
};

}  // namespace souk::server
