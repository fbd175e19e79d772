#include "server/tunnels/switchboard.h"

#include <fmt/format.h>

#include <algorithm>

#include "blob/chunk.h"
#include "net/local_address.h"
#include "relay/joiner.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::size_t kMostPlaces = 2;  // Beside this server.

bool is_url(std::string_view url) {
  return (url.starts_with("http://") || url.starts_with("https://")) && url.size() <= 200 &&
         std::ranges::none_of(url, [](unsigned char c) { return c <= ' ' || c >= 127; });
}

}  // namespace

std::string meeting_of(base::LeaseId a, base::LeaseId b) {
  return fmt::format("{}-{}", to_string(std::min(a, b)), to_string(std::max(a, b)));
}

void Switchboard::join(const market::Lease& lease, Seat seat) {
  seat.lease = lease.id;
  gangs_[lease.job][lease.part] = std::move(seat);
}

void Switchboard::left(const market::Lease& lease) {
  const auto gang = gangs_.find(lease.job);
  if (gang == gangs_.end()) return;
  const auto seat = gang->second.find(lease.part);
  if (seat == gang->second.end() || seat->second.lease != lease.id) return;
  gang->second.erase(seat);
  if (gang->second.empty()) gangs_.erase(gang);
}

const Switchboard::Seat* Switchboard::seated(const market::State& s, const Seats& seats,
                                             std::int32_t worker) {
  const auto it = seats.find(worker);
  if (it == seats.end()) return nullptr;
  const auto* lease = s.leases.find(it->second.lease);
  return lease != nullptr && lease->state != market::LeaseState::closed ? &it->second : nullptr;
}

std::vector<wire::MeetingPlace> Switchboard::places(const Seat& mine, const Seat& other, bool first,
                                                    base::Time now) const {
  std::vector<wire::MeetingPlace> out;
  const relay::MeetingTicket ticket{.meeting = meeting_of(mine.lease, other.lease),
                                    .side = first ? 0 : 1,
                                    .until = now + kTicketLasts};
  const auto add = [&](bool near) {
    for (const auto& [url, relay] : relays_) {
      const bool in_region =
          !relay.region.empty() && relay.region == mine.region && relay.region == other.region;
      if (in_region != near || out.size() == kMostPlaces || now - relay.heard > kRelayLasts)
        continue;
      out.push_back({url, sign(ticket, relay.key)});
    }
  };
  add(true);
  add(false);
  out.push_back({});
  return out;
}

wire::NetworkView Switchboard::view(const market::State& s, const market::Lease& lease,
                                    base::Time now) const {
  wire::NetworkView out{.world = s.jobs.at(lease.job).held};
  const auto gang = gangs_.find(lease.job);
  if (gang == gangs_.end()) return out;
  const auto* mine = seated(s, gang->second, lease.part);
  if (mine == nullptr || mine->lease != lease.id) return out;
  for (const auto& [worker, seat] : gang->second) {
    if (worker == lease.part || seated(s, gang->second, worker) == nullptr) continue;
    wire::NetworkPeer peer{.worker = worker, .key = seat.key, .fast_aes = seat.fast_aes};
    if (!seat.ports.empty() && net::is_reachable(mine->address, seat.address)) {
      peer.address = seat.address;
      peer.ports = seat.ports;
    }
    peer.places = places(*mine, seat, mine->lease < seat.lease, now);
    out.peers.push_back(std::move(peer));
  }
  return out;
}

bool Switchboard::may_meet(const market::State& s, const market::Lease& lease,
                           std::int32_t other) const {
  const auto gang = gangs_.find(lease.job);
  if (gang == gangs_.end() || other == lease.part) return false;
  const auto* mine = seated(s, gang->second, lease.part);
  return mine != nullptr && mine->lease == lease.id && seated(s, gang->second, other) != nullptr;
}

base::Result<> Switchboard::relay_here(const wire::RelayHere& relay, base::Time now) {
  if (!is_url(relay.url))
    return fail(Code::invalid, fmt::format("'{}' is not a relay's URL", relay.url.substr(0, 80)),
                "http://HOST:PORT, as machines reach it", "url");
  const auto key = blob::parse_digest(relay.key);
  if (!key) return fail(Code::invalid, "'key' is no key", "64 lower-case hex digits", "key");
  std::erase_if(relays_, [&](const auto& r) { return now - r.second.heard > kRelayLasts; });
  if (relays_.size() >= kMostRelays && !relays_.contains(relay.url))
    return fail(Code::exhausted, fmt::format("there are {} relays", kMostRelays),
                "stop one of them");
  relays_[relay.url] = {*key, relay.region.substr(0, 100), now};
  return {};
}

wire::RelayList Switchboard::relays(base::Time now) const {
  wire::RelayList out;
  for (const auto& [url, relay] : relays_)
    if (now - relay.heard <= kRelayLasts) out.items.push_back({url, relay.region, relay.heard});
  return out;
}

}  // namespace souk::server
