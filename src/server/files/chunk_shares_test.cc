#include "server/files/chunk_shares.h"

#include <gtest/gtest.h>

#include "blob/share_ticket.h"

namespace souk::server {
namespace {

const base::Time kAskedAt(1'767'571'200'000'000);
const auto kSharedChunk = blob::name_of("x");

ChunkShares::Sharer sharer(std::string address = "203.0.113.1") {
  return {std::move(address), 7075, base::blake2b("key"), "pin"};
}
ChunkShares::Asker asker(std::uint64_t machine, std::string address = "203.0.113.9") {
  return {base::JobId(1), base::LeaseId(machine), base::MachineId(machine), std::move(address)};
}
const std::vector<base::MachineId> kAll = {base::MachineId(1), base::MachineId(2),
                                           base::MachineId(3)};

TEST(ChunkShares, TheFirstIsSentByTheServerAndTheNextByTheFirst) {
  ChunkShares shares;
  shares.announce(base::MachineId(1), sharer());
  EXPECT_FALSE(shares.direct(asker(1), kAll, kSharedChunk, kAskedAt));
  const auto peer = shares.direct(asker(2), kAll, kSharedChunk, kAskedAt);
  ASSERT_TRUE(peer);
  EXPECT_EQ(peer->address, "203.0.113.1");
  const auto ticket = blob::read_share_ticket(peer->ticket, base::blake2b("key"), kAskedAt);
  ASSERT_TRUE(ticket);
  EXPECT_EQ(ticket->chunk, kSharedChunk);
  EXPECT_EQ(ticket->lease, "l2");
  EXPECT_FALSE(shares.direct(asker(1), kAll, kSharedChunk, kAskedAt)) << "nobody is sent to itself";
}

TEST(ChunkShares, WhoSharesNothingOrHasNoLeaseOfTheJobIsNotNamed) {
  ChunkShares shares;
  EXPECT_FALSE(shares.direct(asker(1), kAll, kSharedChunk, kAskedAt));
  EXPECT_FALSE(shares.direct(asker(2), kAll, kSharedChunk, kAskedAt));
  shares.announce(base::MachineId(3), sharer());
  EXPECT_FALSE(shares.direct(asker(3), kAll, kSharedChunk, kAskedAt));
  EXPECT_FALSE(shares.direct(asker(2), std::span(kAll).first(2), kSharedChunk, kAskedAt));
  auto other = asker(2);
  other.job = base::JobId(2);
  EXPECT_FALSE(shares.direct(other, kAll, kSharedChunk, kAskedAt));
}

TEST(ChunkShares, AnAddressOfThisComputerIsToldToThisComputerOnly) {
  ChunkShares shares;
  shares.announce(base::MachineId(1), sharer("127.0.0.1"));
  EXPECT_FALSE(shares.direct(asker(1, "127.0.0.1"), kAll, kSharedChunk, kAskedAt));
  EXPECT_FALSE(shares.direct(asker(2), kAll, kSharedChunk, kAskedAt));
  EXPECT_TRUE(shares.direct(asker(3, "127.0.0.1"), kAll, kSharedChunk, kAskedAt));
}

TEST(ChunkShares, AnEndedJobIsForgotten) {
  ChunkShares shares;
  shares.announce(base::MachineId(1), sharer());
  EXPECT_FALSE(shares.direct(asker(1), kAll, kSharedChunk, kAskedAt));
  shares.ended(base::JobId(1));
  EXPECT_FALSE(shares.direct(asker(2), kAll, kSharedChunk, kAskedAt));
}

}  // namespace
}  // namespace souk::server
