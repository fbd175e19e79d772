#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "agent/link.h"
#include "blob/chunk.h"
#include "net/client.h"
#include "wire/api/sharing.h"

namespace souk::agent {

// Fetches chunks of a lease's files from other machines with leases of the same job, where the
// market says so. What comes is verified. A machine that is slow, gone or lying is not asked again,
// and whatever cannot be had at once is left to the market. For one thread.
class PeerFetch {
 public:
  // `lease`: "l1". The market's own address decides whether others on this computer may be peers.
  PeerFetch(const LinkOptions& market, std::string lease, std::function<bool()> give_up);

  // The encoded chunk. Nothing: ask the market.
  [[nodiscard]] std::optional<blob::Bytes> get(Link& market, const blob::Digest& name);

 private:
  [[nodiscard]] std::optional<wire::ChunkPeer> find(Link& market, const blob::Digest& name);
  [[nodiscard]] std::optional<blob::Bytes> fetch(const wire::ChunkPeer& peer,
                                                 const blob::Digest& name);
  net::Client* client_of(const std::string& place, const wire::ChunkPeer& peer);

  const std::string path_;
  const bool on_this_computer_;
  const std::function<bool()> give_up_;
  bool off_ = false;  // The market knows nothing of peers.
  std::map<std::string, net::Client> clients_;
  std::set<std::string> bad_;
};

}  // namespace souk::agent
