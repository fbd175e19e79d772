#include "agent/peers/peer_fetch.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <mutex>
#include <thread>

#include "agent/clocks.h"
#include "agent/peers/chunk_server.h"
#include "base/testing/eventually.h"
#include "blob/share_ticket.h"
#include "blob/testing/samples.h"
#include "net/server.h"
#include "net/tls.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

// A market that names the peers it was told to.
class PeersMarket {
 public:
  PeersMarket() {
    server_ = *net::Server::start({}, [this](net::Request, net::Reply reply) {
      const std::lock_guard lock(mutex_);
      ++asked;
      reply.send({.body = wire::to_json(peers)});
    });
  }
  [[nodiscard]] LinkOptions link() const {
    return {.servers = {"http://127.0.0.1:" + std::to_string(server_->port())}, .token = "t"};
  }
  void name(const blob::Digest& chunk, const wire::ChunkSharing& where, const blob::Digest& key,
            std::string address = "127.0.0.1") {
    const blob::ShareTicket ticket{chunk, "j1", "l1", kWallClock.now() + base::hours(1)};
    const std::lock_guard lock(mutex_);
    peers.peers = {
        {to_string(chunk), std::move(address), where.port, where.pin, blob::sign(ticket, key)}};
  }

  std::atomic<int> asked = 0;

 private:
  std::mutex mutex_;
  wire::ChunkPeers peers;
  std::unique_ptr<net::Server> server_;
};

// A machine looks at the time whenever it is asked for a chunk.
class CountingClock final : public base::Clock {
 public:
  base::Time now() const override {
    ++looks;
    return kWallClock.now();
  }
  mutable std::atomic<int> looks = 0;
};

struct PeerAndMarket {
  blob::testing::Folder folder;
  std::unique_ptr<blob::Store> store = *blob::Store::open(folder / "store");
  CountingClock clock;
  std::unique_ptr<ChunkServer> shop = *ChunkServer::start("127.0.0.1:0", *store, clock);
  PeersMarket market;
  Link link = *Link::make(market.link());
  PeerFetch fetch{market.link(), "l1", {}};

  [[nodiscard]] blob::Digest key() const { return *blob::parse_digest(shop->sharing().key); }
};

// A machine that answers everything with the same bytes.
class OneAnswer {
 public:
  explicit OneAnswer(std::string body, int status = 200) {
    const std::array names{std::string("liar")};
    const auto own = *net::self_signed(names, 1);
    sharing.pin = *net::fingerprint(own.certificate_pem);
    server_ = *net::Server::start({.tls = net::ServerTls{own.certificate_pem, own.key_pem}},
                                  [this, body, status](net::Request, net::Reply reply) {
                                    ++asked;
                                    reply.send({.status = status, .body = body});
                                  });
    sharing.port = server_->port();
  }
  wire::ChunkSharing sharing;
  std::atomic<int> asked = 0;

 private:
  std::unique_ptr<net::Server> server_;
};

TEST(PeerFetch, AChunkComesFromTheMachineThatTheMarketNames) {
  PeerAndMarket w;
  const auto content = blob::testing::noise(100'000);
  const auto name = w.store->add(content)->name;
  w.market.name(name, w.shop->sharing(), w.key());
  const auto got = w.fetch.get(w.link, name);
  ASSERT_TRUE(got);
  EXPECT_EQ(*blob::decode(*got, name), content);
}

TEST(PeerFetch, ATicketOfAnotherKeyOrChunkOpensNothing) {
  PeerAndMarket w;
  const auto name = w.store->add("mine")->name;
  w.market.name(name, w.shop->sharing(), base::blake2b("guessed"));
  EXPECT_FALSE(w.fetch.get(w.link, name));
  PeerFetch second(w.market.link(), "l1", {});
  w.market.name(blob::name_of("other"), w.shop->sharing(), w.key());
  EXPECT_FALSE(second.get(w.link, name));
}

TEST(PeerFetch, AMachineThatDoesNotHaveItYetIsWaitedFor) {
  PeerAndMarket w;
  const auto name = blob::name_of("later");
  w.market.name(name, w.shop->sharing(), w.key());
  std::jthread later([&] {
    // It was asked in vain, and now once more.
    EXPECT_TRUE(base::testing::eventually([&] { return w.clock.looks >= 2; }));
    EXPECT_TRUE(w.store->add("later"));
  });
  EXPECT_TRUE(w.fetch.get(w.link, name));
}

TEST(PeerFetch, WhoSendsWrongBytesIsNotAskedAgain) {
  PeerAndMarket w;
  OneAnswer liar("\2something else");
  const auto name = blob::name_of("right");
  w.market.name(name, liar.sharing, w.key());
  EXPECT_FALSE(w.fetch.get(w.link, name));
  EXPECT_FALSE(w.fetch.get(w.link, name));
  EXPECT_EQ(liar.asked, 1);
}

TEST(PeerFetch, MoreThanAChunkIsNotTaken) {
  PeerAndMarket w;
  OneAnswer flood(std::string(2 * blob::kMostEncodedBytes, 'x'));
  const auto name = blob::name_of("right");
  w.market.name(name, flood.sharing, w.key());
  EXPECT_FALSE(w.fetch.get(w.link, name));
}

TEST(PeerFetch, WhoIsGoneOrHasAnotherCertificateIsLeftForTheMarket) {
  PeerAndMarket w;
  const auto name = w.store->add("mine")->name;
  auto gone = w.shop->sharing();
  gone.port = 1;
  w.market.name(name, gone, w.key());
  EXPECT_FALSE(w.fetch.get(w.link, name));
  auto other = w.shop->sharing();
  other.pin = std::string(64, 'a');
  w.market.name(name, other, w.key());
  EXPECT_FALSE(w.fetch.get(w.link, name));
}

// The market here is on this computer; for an agent of a market elsewhere it is not.
TEST(PeerFetch, NoMarketSendsAnAgentToItsOwnComputer) {
  PeerAndMarket w;
  OneAnswer inside("secret");
  const auto name = blob::name_of("x");
  auto elsewhere = w.market.link();
  elsewhere.servers.push_back("https://market.example");
  PeerFetch far(elsewhere, "l1", {});
  for (const auto* address : {"127.0.0.1", "::1", "169.254.169.254", "0.0.0.0", "localhost"}) {
    w.market.name(name, inside.sharing, w.key(), address);
    EXPECT_FALSE(far.get(w.link, name)) << address;
  }
  EXPECT_EQ(inside.asked, 0);
}

}  // namespace
}  // namespace souk::agent
