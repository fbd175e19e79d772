#include "agent/link.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <future>

#include "agent/clocks.h"
#include "agent/testing/scripted_server.h"
#include "base/testing/eventually.h"
#include "base/testing/port.h"

namespace souk::agent {
namespace {

using base::Code;
using base::testing::eventually;
using testing::bad_gateway;

net::Response refusal(Code code, std::string message) {
  return testing::refused(code, std::move(message), "ask later");
}

// A market that answers each request with the next of `answers`, the last one for ever; without
// any it never answers.
class ScriptedMarket : public testing::ScriptedServer {
 public:
  explicit ScriptedMarket(std::vector<net::Response> answers = {{.body = "yes"}})
      : ScriptedServer(
            [answers = std::move(answers), i = std::size_t{0}](const net::Request&) mutable {
              return answers.empty() ? std::nullopt
                                     : std::optional(answers[std::min(i++, answers.size() - 1)]);
            }) {}
};

// Where nobody listens.
std::string nowhere() {
  static const base::testing::Port port;
  return fmt::format("http://127.0.0.1:{}", port.number());
}

Link link_to(std::vector<std::string> servers, base::Duration timeout = base::minutes(1)) {
  auto link = Link::make({.servers = std::move(servers), .token = "secret", .timeout = timeout});
  EXPECT_TRUE(link) << link.error().message;
  return *std::move(link);
}

TEST(Link, CallsCarryTheTokenTheBodyAndAFreshKeyForEachChange) {
  ScriptedMarket market;
  auto link = link_to({market.url()});
  EXPECT_EQ(*link.get("/v1/machines"), "yes");
  EXPECT_EQ(*link.post("/v1/a", "{}"), "yes");
  EXPECT_EQ(*link.post("/v1/a", "{}"), "yes");
  EXPECT_EQ(*link.put("/v1/b", "bytes"), "yes");
  const auto asked = market.asked();
  ASSERT_EQ(asked.size(), 4U);
  for (const auto& request : asked) EXPECT_EQ(request.header("Authorization"), "Bearer secret");
  EXPECT_EQ(asked[1].body, "{}");
  EXPECT_NE(asked[1].header("Idempotency-Key"), "");
  EXPECT_NE(asked[1].header("Idempotency-Key"), asked[2].header("Idempotency-Key"));
  EXPECT_EQ(asked[3].method + asked[3].body, "PUTbytes");
}

TEST(Link, TheSecondAddressIsTriedWhenNobodyListensAtTheFirst) {
  ScriptedMarket market;
  auto link = link_to({nowhere(), market.url()});
  for (const int calls : {1, 2, 3}) {
    const auto got = link.post("/v1/machines", "{}");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(market.asked().size(), static_cast<std::size_t>(calls));
  }
}

TEST(Link, AnAddressThatWorksIsKept) {
  ScriptedMarket first, second;
  auto broken = std::make_unique<ScriptedMarket>();
  auto link = link_to({broken->url(), first.url(), second.url()});
  ASSERT_TRUE(link.get("/"));
  broken.reset();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(link.get("/"));
  EXPECT_EQ(first.asked().size(), 3U);
  EXPECT_EQ(second.asked().size(), 0U);
}

TEST(Link, WhenNobodyListensAnywhereTheErrorSaysThatTryingAgainMayHelp) {
  auto link = link_to({nowhere(), nowhere()});
  const auto got = link.get("/");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable);
  EXPECT_EQ(got.error().message.find("secret"), std::string::npos);
}

TEST(Link, NoServerAtAllIsAnError) { EXPECT_FALSE(Link::make({.servers = {}, .token = ""})); }

TEST(Link, AReportGoesOnUnderOneKeySoThatItHappensOnce) {
  ScriptedMarket market({refusal(Code::unavailable, "starting"),
                         refusal(Code::exhausted, "slow down"),
                         {.body = "done"}});
  auto link = link_to({market.url()});
  const auto got = link.insist("/v1/leases/l1/finish", "{}", base::seconds(60));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "done");
  EXPECT_EQ(market.asked().size(), 3U);
  EXPECT_EQ(market.keys().size(), 1U);
  EXPECT_FALSE(market.keys().contains(""));
  for (const auto& request : market.asked()) EXPECT_EQ(request.body, "{}");
}

TEST(Link, AReportWhoseAnswerIsLostKeepsItsKey) {
  ScriptedMarket market({});
  auto link = link_to({market.url()}, base::milliseconds(50));
  const auto got = link.insist("/v1/leases/l1/finish", "{}", base::seconds(60),
                               [&] { return market.asked().size() >= 3; });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable);
  EXPECT_EQ(market.keys().size(), 1U);
}

TEST(Link, AGatewayWhoseMarketRestartsDoesNotLoseTheReport) {
  ScriptedMarket market({bad_gateway(), {.body = "done"}});
  auto link = link_to({market.url()});
  const auto got = link.insist("/v1/leases/l1/finish", "{}", base::seconds(60));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "done");
  EXPECT_EQ(market.keys().size(), 1U);
}

TEST(Link, InsistingEndsWhenPatienceDoes) {
  // On a slow machine there is time for a second request only with more patience.
  for (auto patience = base::milliseconds(500);; patience = patience * 2) {
    ScriptedMarket market({refusal(Code::unavailable, "the journal is full")});
    auto link = link_to({market.url()});
    const auto began = kSteadyClock.now();
    const auto got = link.insist("/v1/x", "{}", patience);
    EXPECT_GE(kSteadyClock.now() - began, patience);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::unavailable);
    EXPECT_EQ(got.error().message, "the journal is full");
    if (market.asked().size() >= 2) break;
    ASSERT_LT(patience, base::minutes(1)) << "it did not ask again";
  }
}

TEST(Link, InsistingEndsWhenItIsNoLongerWanted) {
  ScriptedMarket market({refusal(Code::unavailable, "starting")});
  auto link = link_to({market.url()});
  const auto got =
      link.insist("/v1/x", "{}", base::minutes(60), [&] { return market.asked().size() >= 2; });
  ASSERT_FALSE(got);
  EXPECT_EQ(market.asked().size(), 2U);
}

TEST(Link, ARefusalComesBackInTheMarketsWordsAndIsNotRepeated) {
  ScriptedMarket market({refusal(Code::conflict, "the lease has epoch 2")}), other;
  auto link = link_to({market.url(), other.url()});
  const auto got = link.insist("/v1/x", "{}", base::minutes(60));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::conflict);
  EXPECT_EQ(got.error().message, "the lease has epoch 2");
  EXPECT_EQ(got.error().hint, "ask later");
  EXPECT_EQ(market.asked().size(), 1U);
  EXPECT_EQ(other.asked().size(), 0U);
}

TEST(Link, AnAgentThatIsToldToStopDoesNotWaitForAnAnswer) {
  ScriptedMarket silent({});
  auto link = link_to({silent.url(), silent.url()}, base::minutes(60));
  auto got = std::async(std::launch::async, [&] { return link.get("/v1/leases?wait=30s"); });
  ASSERT_TRUE(eventually([&] { return silent.asked().size() == 1; }));
  link.cancel();
  ASSERT_EQ(got.wait_for(base::testing::kPatience), std::future_status::ready);
  EXPECT_EQ(got.get().error().code, Code::unavailable);
  EXPECT_FALSE(link.get("/")) << "nor begins anew";
}

TEST(Link, AnAgentThatIsToldToStopDoesNotInsist) {
  ScriptedMarket market({refusal(Code::unavailable, "starting")});
  auto link = link_to({market.url()});
  auto got =
      std::async(std::launch::async, [&] { return link.insist("/v1/x", "{}", base::minutes(60)); });
  ASSERT_TRUE(eventually([&] { return market.asked().size() >= 2; }));
  link.cancel();
  ASSERT_EQ(got.wait_for(base::testing::kPatience), std::future_status::ready);
  EXPECT_FALSE(got.get());
}

}  // namespace
}  // namespace souk::agent
