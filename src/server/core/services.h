#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "blob/store.h"
#include "hub/hub.h"
#include "journal/records/records.h"
#include "server/advice/forecast_errors.h"
#include "server/core/budgets.h"
#include "server/core/holdings.h"
#include "server/core/parsed_works.h"
#include "server/core/payroll.h"
#include "server/core/telemetry.h"
#include "server/files/blob_claims.h"
#include "server/files/chunk_shares.h"
#include "server/files/logs.h"
#include "server/files/pins.h"
#include "server/lab/lab_runs.h"
#include "server/proof/busy_machines.h"
#include "server/proof/challenges.h"
#include "server/proof/probes.h"
#include "server/record/usage_log.h"
#include "server/tunnels/switchboard.h"
#include "server/tunnels/tunnels.h"

namespace souk::server {

class LineDesk;     // server/tunnels/line_desk.h
class ServiceDesk;  // server/tunnels/service_desk.h

// What a market serves beside its journal: files, logs, trainings, experiments and what leases use.
// `records`, `usage_log`, `blobs`, `claims`, `budgets`, `logs`, `pins`, `shares`, `hub`, `lab` and
// `tunnels` may be used from any thread, the rest on the core thread only.
class Services {
 public:
  // Keeps logs and the names of snapshots below `folder`.
  Services(std::unique_ptr<blob::Store> store, const std::string& folder, const base::Clock& clock,
           ChallengeRule challenge = {}, std::uint64_t seed = 0,
           hub::Hub::MakeStore parameters = {}, std::unique_ptr<hub::Remote> hubs = {},
           LabOptions lab_options = {}, std::unique_ptr<journal::Records> kept = {},
           const UsageLog::Options& usage = {})
      : records(std::move(kept)),
        usage_log(records ? std::make_unique<UsageLog>(*records, clock, usage) : nullptr),
        blobs(std::move(store)),
        claims(folder + "/blobs.claims", *blobs, budgets, clock),
        logs(folder + "/logs", budgets.log_bytes),
        pins(*blobs, claims, budgets.pins),
        hub(*blobs, clock, folder + "/hub", std::move(parameters), std::move(hubs),
            &budgets.training_bytes, &budgets.training_disk),
        lab(clock, std::move(lab_options), records.get()),
        challenges(challenge, seed),
        probes(seed) {}

  // Has `account` brought it, and is it there? For the core thread: asks no disk.
  [[nodiscard]] bool has_blob(base::AccountId account, std::string_view name) const {
    const auto digest = blob::parse_digest(name);
    return digest && claims.claimed(account, {&*digest, 1}) && blobs->knows(*digest);
  }
  // What is remembered beside the journal; null: nothing is.
  const std::unique_ptr<journal::Records> records;
  const std::unique_ptr<UsageLog> usage_log;
  Budgets budgets;
  const std::unique_ptr<blob::Store> blobs;
  BlobClaims claims;
  Logs logs;
  Pins pins;
  ChunkShares shares;
  hub::Hub hub;
  LabRuns lab;
  ParsedWorks works;
  Payroll payroll{hub};
  Telemetry telemetry{usage_log.get()};
  Challenges challenges;
  BusyMachines busy;
  Probes probes;
  Holdings holdings;
  ForecastErrors forecast_errors;
  Switchboard switchboard;
  Tunnels tunnels;                  // Any thread.
  std::shared_ptr<LineDesk> lines;  // Likewise. Of a server that listens, as is the next.
  std::shared_ptr<ServiceDesk> desk;
};

}  // namespace souk::server
