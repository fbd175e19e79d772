#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/fetch/web.h"
#include "agent/image/images.h"
#include "agent/trees.h"
#include "base/result.h"
#include "wire/api/batch.h"

namespace souk::agent {

// Inputs that this machine fetches itself from the hosts that its owner names (`fetch: lender` in a
// job file), known by their SHA-256. Kept in the trees for all leases that name the same address
// and hash: whoever knows the hash of somebody's file alone does not get it. Thread-safe.
class WebInputs {
 public:
  // `trees` outlives it.
  WebInputs(std::vector<WebHost> hosts, Trees& trees) : hosts_(std::move(hosts)), trees_(trees) {}

  // A folder with the one file. Requires input.url.
  //   forbidden    it is elsewhere, or leads elsewhere
  //   damaged      it is another file
  //   too_large    it would never fit
  //   unavailable  not now
  base::Result<Trees::Use> use(const wire::BatchInput& input, const Images::Watch& watch);

 private:
  const std::vector<WebHost> hosts_;
  Trees& trees_;
};

}  // namespace souk::agent
