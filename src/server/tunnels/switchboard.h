#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/id.h"
#include "base/result.h"
#include "base/time.h"
#include "market/state.h"
#include "wire/api/network.h"

namespace souk::server {

// Who of a gang is there, and where: what its workers tell the market, and what it tells the others
// of the same gang. And the relays at which they may meet. In memory: after a restart all say it
// again. On the core thread.
class Switchboard {
 public:
  static constexpr base::Duration kRelayLasts = base::seconds(90);
  static constexpr std::size_t kMostRelays = 256;
  static constexpr base::Duration kTicketLasts = base::minutes(10);

  struct Seat {
    base::LeaseId lease;
    std::string key;
    bool fast_aes = false;
    std::string address;  // From which it speaks to us: it can name nobody but itself.
    std::vector<std::int32_t> ports;
    std::string region;
  };

  // The worker of this lease is there, from now on until the lease is closed.
  void join(const market::Lease& lease, Seat seat);
  void left(const market::Lease& lease);
  // What it may know of the others: those with open leases of the same gang.
  [[nodiscard]] wire::NetworkView view(const market::State& s, const market::Lease& lease,
                                       base::Time now) const;
  // Are both there, so that they may meet at this server?
  [[nodiscard]] bool may_meet(const market::State& s, const market::Lease& lease,
                              std::int32_t other) const;

  [[nodiscard]] base::Result<> relay_here(const wire::RelayHere& relay, base::Time now);
  [[nodiscard]] wire::RelayList relays(base::Time now) const;

 private:
  struct Relay {
    base::Digest key;
    std::string region;
    base::Time heard;
  };
  using Seats = std::map<std::int32_t, Seat>;  // By worker.

  [[nodiscard]] static const Seat* seated(const market::State& s, const Seats& seats,
                                          std::int32_t worker);
  [[nodiscard]] std::vector<wire::MeetingPlace> places(const Seat& mine, const Seat& other,
                                                       bool first, base::Time now) const;

  std::map<base::JobId, Seats> gangs_;
  std::map<std::string, Relay> relays_;  // By URL.
};

// What two workers of a gang meet under, whoever joins them.
[[nodiscard]] std::string meeting_of(base::LeaseId a, base::LeaseId b);

}  // namespace souk::server
