#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "blob/store.h"
#include "hub/hub.h"
#include "server/advice/forecast_errors.h"
#include "server/core/budgets.h"
#include "server/core/holdings.h"
#include "server/core/parsed_works.h"
#include "server/core/payroll.h"
#include "server/core/telemetry.h"
#include "server/files/blob_claims.h"
#include "server/files/logs.h"
#include "server/files/pins.h"
#include "server/lab/lab_runs.h"
#include "server/proof/challenges.h"
#include "server/proof/probes.h"

namespace souk::server {

// What a market serves beside its journal: files, logs, trainings, experiments and what leases use.
// `blobs`, `claims`, `budgets`, `logs`, `pins`, `hub` and `lab` may be used from any thread, the
// rest on the core thread only.
class Services {
 public:
  // Keeps logs and the names of snapshots below `folder`.
  Services(std::unique_ptr<blob::Store> store, const std::string& folder, const base::Clock& clock,
           base::Duration challenge_every = {}, std::uint64_t seed = 0,
           hub::Hub::MakeStore parameters = {}, std::unique_ptr<hub::Remote> hubs = {},
           LabOptions lab_options = {})
      : blobs(std::move(store)),
        claims(folder + "/blobs.claims", *blobs, budgets, clock),
        logs(folder + "/logs", budgets.log_bytes),
        pins(*blobs, claims, budgets.pins),
        hub(*blobs, clock, folder + "/hub", std::move(parameters), std::move(hubs),
            &budgets.training_bytes, &budgets.training_disk),
        lab(clock, std::move(lab_options)),
        challenges(challenge_every, seed),
        probes(seed) {}

  // Has `account` brought it, and is it there? For the core thread: asks no disk.
  [[nodiscard]] bool has_blob(base::AccountId account, std::string_view name) const {
    const auto digest = blob::parse_digest(name);
    return digest && claims.claimed(account, {&*digest, 1}) && blobs->knows(*digest);
  }
  Budgets budgets;
  const std::unique_ptr<blob::Store> blobs;
  BlobClaims claims;
  Logs logs;
  Pins pins;
  hub::Hub hub;
  LabRuns lab;
  ParsedWorks works;
  Payroll payroll{hub};
  Telemetry telemetry;
  Challenges challenges;
  Probes probes;
  Holdings holdings;
  ForecastErrors forecast_errors;
};

}  // namespace souk::server
