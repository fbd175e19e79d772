#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "net/server.h"
#include "server/core/core.h"
#include "server/core/feed.h"
#include "server/core/pool.h"
#include "server/core/services.h"
#include "server/files/agent_bundle.h"
#include "server/files/prepare.h"
#include "server/files/trainer_file.h"
#include "server/http/authentication.h"
#include "server/http/throttle.h"
#include "server/record/snapshots.h"

namespace souk::server {

struct HttpOptions {
  std::string bootstrap;  // Makes the first account from elsewhere; empty: there is one already.
  bool metrics_public = false;
  bool tls = false;  // Does this server itself speak TLS?
  int requests_per_second = 1'000;
  net::AddressRanges trusted_proxies = {};  // Whose X-Forwarded-For is believed.
  PrepareOptions prepare = {};
  std::function<net::ServerCounters()> net_counters = {};  // For metrics; absent: without.
  std::function<JournalFigures()> journal_figures = {};    // Likewise.
  // Connections that an address has; absent: nobody is told.
  std::function<std::size_t(std::string_view address)> connections_from = {};
  std::string bundle = {};      // A file for lenders; empty: there is none.
  std::string trainer = {};     // Likewise.
  std::string public_url = {};  // Empty: where each request went.
};

// What the handlers of routes work with. Made once, outlives every call; its parts say themselves
// which threads may use them.
struct ServerContext {
  ServerContext(Core& core, Feed& feed, Services& services, Pool& hashers, Pool& files,
                const base::Clock& clock, HttpOptions options);

  Core& core;
  Feed& feed;
  Services& services;
  Pool& hashers;  // Passwords.
  Pool& files;    // Blobs, logs, the hub.
  const base::Clock& clock;
  const HttpOptions options;
  Authentication authentication;
  SessionThrottles session_throttles;
  Prepare prepare;
  // Fetching and cutting data takes so long that no worker's update may wait for it on `files`.
  Pool preparers{2, 64};
  Pool provers{1, 256};  // Compute what machines must answer.
  BundleFile bundle{options.bundle};
  TrainerFile trainer{options.trainer};
  OpenDownloads bundle_downloads{clock};
};

}  // namespace souk::server
