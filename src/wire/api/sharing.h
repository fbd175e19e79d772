#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.h"

// How machines with leases of one job give each other its files.

namespace souk::wire {

// A machine gives chunks to others, at the address from which it speaks to the market.
struct ChunkSharing {
  std::int32_t port = 0;
  std::string key;  // A secret of the machine and the market, 64 hex digits: tickets are signed.
  std::string pin;  // SHA-256 of its certificate.
  SOUK_FIELDS(ChunkSharing, port, key, pin)
};

// Where to fetch one chunk, until the ticket expires.
struct ChunkPeer {
  std::string name;
  std::string address;
  std::int32_t port = 0;
  std::string pin;
  std::string ticket;
  SOUK_FIELDS(ChunkPeer, name, address, port, pin, ticket)
};

// Names that are missing here are to be fetched from the market.
struct ChunkPeers {
  std::vector<ChunkPeer> peers;
  SOUK_FIELDS(ChunkPeers, peers)
};

}  // namespace souk::wire
