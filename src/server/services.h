#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "blob/store.h"
#include "server/challenges.h"
#include "server/holdings.h"
#include "server/logs.h"
#include "server/pins.h"
#include "server/telemetry.h"

namespace souk::server {

// What a market serves beside its journal: files, logs and what leases use. Nothing here decides
// about credits. `blobs`, `logs` and `pins` may be
// used from any thread, the rest on the core thread only.
class Services {
 public:
  Services(std::unique_ptr<blob::Store> store, std::string logs_folder,
           base::Duration challenge_every = {}, std::uint64_t seed = 0)
      : blobs(std::move(store)),
        logs(std::move(logs_folder)),
        pins(*blobs),
        challenges(challenge_every, seed) {}

  [[nodiscard]] bool has_blob(std::string_view name) const {
    const auto digest = blob::parse_digest(name);
    return digest && blobs->has(*digest);
  }
  const std::unique_ptr<blob::Store> blobs;
  const Logs logs;
  Pins pins;
  Telemetry telemetry;
  Challenges challenges;
  Holdings holdings;
};

}  // namespace souk::server
