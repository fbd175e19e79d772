#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "base/id.h"
#include "base/time.h"

// How the workers of a gang find each other, and who helps those that cannot.

namespace souk::wire {

// A worker of a gang is there. Said again every few seconds.
struct NetworkJoin {
  std::int32_t epoch = 0;
  std::string key;  // Public, of this lease alone: 64 hex digits.
  bool fast_aes = false;
  std::int32_t port = 0;  // Where the machine may be reached by the others; 0: nowhere.
  static constexpr auto optional_fields = std::array<std::string_view, 2>{"fast_aes", "port"};
  SOUK_FIELDS(NetworkJoin, epoch, key, fast_aes, port)
};

// Where two workers meet who cannot reach each other.
struct MeetingPlace {
  std::string url;     // Of a relay; empty: this server, GET /v1/leases/{id}/tunnel?to=WORKER.
  std::string ticket;  // Of the relay.
  SOUK_FIELDS(MeetingPlace, url, ticket)
};

struct NetworkPeer {
  std::int32_t worker = 0;
  std::string key;
  bool fast_aes = false;
  std::optional<std::string> address;  // As the market sees it; absent: it cannot be reached.
  std::vector<std::int32_t> ports;     // To be tried there.
  std::vector<MeetingPlace> places;    // In this order.
  SOUK_FIELDS(NetworkPeer, worker, key, fast_aes, address, ports, places)
};

struct NetworkView {
  std::int32_t world = 1;          // Workers that the gang has now, the asking one included.
  std::vector<NetworkPeer> peers;  // Those that are there.
  SOUK_FIELDS(NetworkView, world, peers)
};

// A relay at which machines of gangs may meet (`souk relay --gangs`). Said again every few seconds.
struct RelayHere {
  std::string url;  // As machines reach it.
  std::string key;  // Its secret and the market's, 64 hex digits: tickets are signed.
  std::string region;
  static constexpr auto optional_fields = std::array<std::string_view, 1>{"region"};
  SOUK_FIELDS(RelayHere, url, key, region)
};

struct RelayRow {
  std::string url;
  std::string region;
  base::Time heard;
  SOUK_FIELDS(RelayRow, url, region, heard)
};

struct RelayList {
  std::vector<RelayRow> items;
  SOUK_FIELDS(RelayList, items)
};

}  // namespace souk::wire
