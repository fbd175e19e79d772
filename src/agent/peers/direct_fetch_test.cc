#include "agent/peers/direct_fetch.h"

#include <gtest/gtest.h>

#include <atomic>

#include "agent/testing/scripted_server.h"
#include "blob/testing/samples.h"

namespace souk::agent {
namespace {

using testing::refused;
using testing::ScriptedServer;

const std::string kContent = blob::testing::prose(90'000);
const blob::Digest kName = blob::name_of(kContent);
const std::string kPath = "/v1/blobs/" + to_string(kName) + "?lease=l1";

// A market that sends to a store whoever asks for that, and a store.
struct StoreAndMarket {
  std::atomic<int> redirects = 0, sent = 0;
  net::Response stored{.content_type = "application/octet-stream", .body = blob::encode(kContent)};
  ScriptedServer store{[this](const net::Request&) { return std::optional(stored); }};
  std::string location = store.url() + "/bucket/key?X-Amz-Signature=1";
  ScriptedServer market{[this](const net::Request& r) -> std::optional<net::Response> {
    if (r.param("direct")) {
      ++redirects;
      return net::Response{.status = 307, .headers = {{"Location", location}}};
    }
    ++sent;
    return net::Response{.body = blob::encode(kContent)};
  }};
  LinkOptions options{.servers = {market.url()}, .token = "secret"};

  [[nodiscard]] bool fetches() {
    auto link = Link::make(options);
    DirectFetch fetch(options);
    const auto got = fetch.get(*link, kPath, kName);
    return got && blob::decode(*got, kName) == kContent;
  }
};

TEST(DirectFetch, AChunkComesFromTheStoreAndTheTokenStaysHere) {
  StoreAndMarket w;
  EXPECT_TRUE(w.fetches());
  EXPECT_EQ(w.sent, 0);
  ASSERT_EQ(w.store.asked().size(), 1u);
  const auto asked = w.store.asked()[0];
  EXPECT_EQ(asked.target, "/bucket/key?X-Amz-Signature=1");
  EXPECT_EQ(asked.header("Authorization"), "");
  EXPECT_EQ(w.market.asked()[0].header("Authorization"), "Bearer secret");
}

TEST(DirectFetch, AStoreThatLiesOrRefusesIsLeftAloneByAll) {
  for (const auto& [status, body] :
       {std::pair(200, std::string("\2something else")), std::pair(403, std::string("<Error/>")),
        std::pair(200, std::string(blob::kMostEncodedBytes + 1, 'x'))}) {
    StoreAndMarket w;
    w.stored = {.status = status, .body = body};
    EXPECT_TRUE(w.fetches());
    EXPECT_TRUE(w.fetches());  // Another transfer with the same options.
    EXPECT_EQ(w.store.asked().size(), 1u);
    EXPECT_EQ(w.redirects, 1);
    EXPECT_EQ(w.sent, 2);
  }
}

TEST(DirectFetch, AStoreThatCannotBeReachedCostsNobodyTheChunk) {
  StoreAndMarket w;
  w.location = "http://127.0.0.1:1/bucket/key";
  EXPECT_TRUE(w.fetches());
  EXPECT_EQ(w.sent, 1);
}

TEST(DirectFetch, AChunkThatWentMeanwhileIsNoFaultOfTheStore) {
  StoreAndMarket w;
  w.stored = {.status = 404};
  EXPECT_TRUE(w.fetches());
  w.stored = {.body = blob::encode(kContent)};
  EXPECT_TRUE(w.fetches());
  EXPECT_EQ(w.redirects, 2);
  EXPECT_EQ(w.sent, 1);
}

TEST(DirectFetch, NobodyIsSentAnywhereButToAStore) {
  for (const std::string where :
       {"", "file:///etc/passwd", "gopher://127.0.0.1/x", "/v1/accounts"}) {
    StoreAndMarket w;
    w.location = where;
    EXPECT_TRUE(w.fetches()) << where;
    EXPECT_EQ(w.sent, 1) << where;
  }
}

TEST(DirectFetch, TheComputersOfAWireAreNoStoresOfAMarketElsewhere) {
  StoreAndMarket w;
  auto link = Link::make(w.options);
  w.options.servers = {"http://market.example"};
  for (const auto& where :
       {w.location, std::string("http://localhost:1/k"), std::string("http://[::1]:1/k"),
        std::string("http://169.254.169.254/latest/meta-data")}) {
    w.location = where;
    w.options.stores = std::make_shared<DirectStores>();
    DirectFetch elsewhere(w.options);
    EXPECT_TRUE(elsewhere.get(*link, kPath, kName)) << where;
  }
  EXPECT_TRUE(w.store.asked().empty());
  EXPECT_EQ(w.sent, 4);
}

TEST(DirectFetch, WhoSpeaksInPrivateFetchesNothingInPublic) {
  StoreAndMarket w;
  auto link = Link::make(w.options);
  w.options.servers = {"https://127.0.0.1:1"};
  DirectFetch fetch(w.options);
  EXPECT_TRUE(fetch.get(*link, kPath, kName));
  EXPECT_TRUE(w.store.asked().empty());
}

TEST(DirectFetch, AMarketThatRefusesIsHeard) {
  StoreAndMarket w;
  ScriptedServer no([](const net::Request&) {
    return std::optional(refused(base::Code::not_found, "there is no chunk"));
  });
  w.options.servers = {no.url()};
  auto link = Link::make(w.options);
  DirectFetch fetch(w.options);
  EXPECT_EQ(fetch.get(*link, kPath, kName).error().code, base::Code::not_found);
  EXPECT_EQ(no.asked().size(), 1u);
}

}  // namespace
}  // namespace souk::agent
