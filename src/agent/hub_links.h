#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "agent/link.h"
#include "base/clock.h"
#include "base/id.h"
#include "net/client.h"
#include "train/update.h"
#include "wire/api/training.h"

namespace souk::agent {

// The hubs that carry the bytes of one training job's units, each over a connection of its own. The
// market does all that a hub does, so a hub that fails is left alone for a while and nobody waits
// for it. For one thread (cancel_pulls() from any).
class HubLinks {
 public:
  // `market` has the timeout and the certificate authority, for hubs too. `say` writes to the job's
  // log. `clock` outlives this.
  HubLinks(base::JobId job, LinkOptions market, const base::Clock& clock,
           std::function<void(std::string_view)> say);

  // The body of what the hub has below the job's path, with the unit's ticket. Nothing: the hub
  // does not work now.
  std::optional<std::string> pull(const wire::UnitHub& hub, const std::string& path);
  // Sends an update in pieces; `sent` is told the size of each. False: it did not arrive whole.
  bool push(const wire::UnitHub& hub, train::Packing update,
            const std::function<void(std::size_t bytes)>& sent);
  // Makes the pull under way, and all later ones, fail soon.
  void cancel_pulls();

 private:
  struct HubLink {
    net::Client pulls, pushes;
    base::Time not_before = {};  // Since it failed.
  };
  HubLink* find(const wire::UnitHub& hub);
  std::optional<std::string> call(HubLink& link, net::Client& client, const wire::UnitHub& hub,
                                  std::string_view method, const std::string& path,
                                  std::string_view body);

  const base::JobId job_;
  const LinkOptions market_;
  const base::Clock& clock_;
  const std::function<void(std::string_view)> say_;
  std::mutex mutex_;                     // For the list, and:
  bool cancelled_ = false;               // No more pulls.
  std::map<std::string, HubLink> hubs_;  // By URL.
};

}  // namespace souk::agent
