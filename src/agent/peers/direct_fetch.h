#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "agent/link.h"
#include "blob/chunk.h"
#include "net/client.h"

namespace souk::agent {

// Fetches chunks from the store where the market keeps its files, at addresses that the market
// signs, so that their bytes do not pass the market. What comes is verified. A store that cannot be
// reached from here, or lies, is left alone for ten minutes by this process; the market sends the
// chunk itself then. The token of the market is never sent there. For one thread.
class DirectFetch {
 public:
  // Requires market.stores.
  explicit DirectFetch(const LinkOptions& market);

  // The encoded chunk at `path` of the market ("/v1/blobs/..."). Errors are the market's.
  [[nodiscard]] base::Result<blob::Bytes> get(Link& market, const std::string& path,
                                              const blob::Digest& name);

 private:
  [[nodiscard]] std::optional<blob::Bytes> fetch(const std::string& url, const blob::Digest& name);
  [[nodiscard]] net::Client* client_of(const std::string& origin);

  const std::shared_ptr<DirectStores> stores_;
  const std::string ca_file_;
  const bool on_this_computer_;  // The market is here: then its store may be as well.
  const bool plain_;             // It is reached without TLS: then its store may be as well.
  std::map<std::string, net::Client> clients_;
};

// Does this URL lead to this computer? By its text alone.
[[nodiscard]] bool to_this_computer(std::string_view url);

}  // namespace souk::agent
