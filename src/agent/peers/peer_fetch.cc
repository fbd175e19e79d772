#include "agent/peers/peer_fetch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/peers/direct_fetch.h"
#include "net/local_address.h"
#include "wire/api/blob.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMostPeers = 64;
constexpr auto kPeerConnect = base::seconds(2);
constexpr auto kOneChunk = base::seconds(6);  // Slower than 700 kB/s: the market is no worse.
// A machine that is sent the chunk just now has it in a moment.
constexpr auto kNotYet = std::chrono::seconds(6);
constexpr auto kAgain = std::chrono::milliseconds(50);

}  // namespace

PeerFetch::PeerFetch(const LinkOptions& market, std::string lease, std::function<bool()> give_up)
    : path_(fmt::format("/v1/leases/{}/peers", lease)),
      on_this_computer_(std::ranges::all_of(market.servers, to_this_computer)),
      give_up_(std::move(give_up)) {}

std::optional<blob::Bytes> PeerFetch::get(Link& market, const blob::Digest& name) {
  const auto peer = find(market, name);
  if (!peer) return std::nullopt;
  return fetch(*peer, name);
}

std::optional<wire::ChunkPeer> PeerFetch::find(Link& market, const blob::Digest& name) {
  if (off_) return std::nullopt;
  const auto answer = market.post(path_, wire::to_json(wire::BlobNames{{to_string(name)}}));
  if (!answer) {
    off_ = answer.error().code != base::Code::unavailable;  // An older market, or no lease of ours.
    return std::nullopt;
  }
  auto found = wire::from_json<wire::ChunkPeers>(*answer);
  if (!found || found->peers.empty()) return std::nullopt;
  return std::move(found->peers.front());
}

net::Client* PeerFetch::client_of(const std::string& place, const wire::ChunkPeer& peer) {
  if (const auto it = clients_.find(place); it != clients_.end()) return &it->second;
  // Never to this computer or its own wire because somebody says so, unless the market is here.
  if (net::is_local(peer.address) && !on_this_computer_) return nullptr;
  if (clients_.size() >= kMostPeers) return nullptr;
  const bool v6 = peer.address.contains(':');
  auto client = net::Client::make({.base_url = fmt::format("https://{}{}{}:{}", v6 ? "[" : "",
                                                           peer.address, v6 ? "]" : "", peer.port),
                                   .connect_timeout = kPeerConnect,
                                   .total_timeout = kOneChunk,
                                   .max_response_bytes = blob::kMostEncodedBytes,
                                   .pinned_sha256 = peer.pin,
                                   .user_agent = "souk-agent"});
  if (!client) return nullptr;
  return &clients_.emplace(place, std::move(*client)).first->second;
}

std::optional<blob::Bytes> PeerFetch::fetch(const wire::ChunkPeer& peer, const blob::Digest& name) {
  const auto place = fmt::format("{} {} {}", peer.address, peer.port, peer.pin);
  if (bad_.contains(place)) return std::nullopt;
  auto* client = client_of(place, peer);
  if (client == nullptr) return std::nullopt;
  const auto until = Clock::now() + kNotYet;
  while (!(give_up_ && give_up_())) {
    auto answer = client->send("GET", "/chunks/" + to_string(name),
                               {{"Authorization", "Bearer " + peer.ticket}});
    if (answer && answer->status == 404) {
      if (Clock::now() >= until) return std::nullopt;
      std::this_thread::sleep_for(kAgain);
      continue;
    }
    if (answer && answer->status == 200 && blob::verify(answer->body, name))
      return std::move(answer->body);
    bad_.insert(place);
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace souk::agent
