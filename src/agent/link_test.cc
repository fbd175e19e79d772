#include "agent/link.h"

#include <gtest/gtest.h>

#include <future>
#include <mutex>
#include <set>

#include "agent/sandbox/sandbox_testing.h"
#include "net/server.h"
#include "wire/json.h"
#include "wire/problem.h"

namespace souk::agent {
namespace {

using base::Code;
using testing::eventually;

net::Response refusal(int status, std::string code, std::string detail) {
  return {.status = status,
          .content_type = "application/problem+json",
          .body = wire::to_json(wire::Problem{.type = "about:blank",
                                              .title = "No",
                                              .status = status,
                                              .code = std::move(code),
                                              .detail = std::move(detail),
                                              .hint = "ask later"})};
}

// A market that answers each request with the next of `answers`, the last one for ever; without
// any it never answers. Remembers what it was asked.
class Market {
 public:
  explicit Market(std::vector<net::Response> answers = {{.body = "yes"}})
      : answers_(std::move(answers)),
        server_(*net::Server::start({}, [this](net::Request request, net::Reply reply) {
          take(std::move(request), std::move(reply));
        })) {}
  ~Market() { server_->stop({}); }

  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(server_->port());
  }
  [[nodiscard]] std::vector<net::Request> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  [[nodiscard]] std::set<std::string> keys() {
    std::set<std::string> out;
    for (const auto& request : asked()) out.emplace(request.header("Idempotency-Key"));
    return out;
  }

 private:
  void take(net::Request request, net::Reply reply) {
    const std::lock_guard lock(mutex_);
    asked_.push_back(std::move(request));
    if (answers_.empty())
      unanswered_.push_back(std::move(reply));
    else
      reply.send(answers_[std::min(asked_.size(), answers_.size()) - 1]);
  }

  std::mutex mutex_;
  std::vector<net::Request> asked_;
  std::vector<net::Response> answers_;
  std::vector<net::Reply> unanswered_;
  std::unique_ptr<net::Server> server_;
};

// Where nobody listens.
std::string nowhere() { return Market().url(); }

Link link_to(std::vector<std::string> servers, base::Duration timeout = base::seconds(20)) {
  auto link = Link::make({.servers = std::move(servers), .token = "secret", .timeout = timeout});
  EXPECT_TRUE(link) << link.error().message;
  return *std::move(link);
}

TEST(Link, CallsCarryTheTokenTheBodyAndAFreshKeyForEachChange) {
  Market market;
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
  Market market;
  auto link = link_to({nowhere(), market.url()});
  for (const int calls : {1, 2, 3}) {
    const auto got = link.post("/v1/machines", "{}");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(market.asked().size(), static_cast<std::size_t>(calls));
  }
}

TEST(Link, AnAddressThatWorksIsKept) {
  Market first, second;
  auto broken = std::make_unique<Market>();
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
  Market market({refusal(503, "unavailable", "starting"),
                 refusal(429, "exhausted", "slow down"),
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
  Market market({});
  auto link = link_to({market.url()}, base::milliseconds(50));
  const auto got = link.insist("/v1/leases/l1/finish", "{}", base::seconds(60),
                               [&] { return market.asked().size() >= 3; });
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable);
  EXPECT_EQ(market.keys().size(), 1U);
}

TEST(Link, AGatewayWhoseMarketRestartsDoesNotLoseTheReport) {
  const net::Response gateway{
      .status = 502, .content_type = "text/html", .body = "<h1>Bad Gateway</h1>"};
  Market market({gateway, {.body = "done"}});
  auto link = link_to({market.url()});
  const auto got = link.insist("/v1/leases/l1/finish", "{}", base::seconds(60));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(*got, "done");
  EXPECT_EQ(market.keys().size(), 1U);
}

TEST(Link, InsistingEndsWhenPatienceDoes) {
  Market market({refusal(503, "unavailable", "the journal is full")});
  auto link = link_to({market.url()});
  const auto got = link.insist("/v1/x", "{}", base::milliseconds(500));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::unavailable);
  EXPECT_EQ(got.error().message, "the journal is full");
  EXPECT_GE(market.asked().size(), 2U);
}

TEST(Link, InsistingEndsWhenItIsNoLongerWanted) {
  Market market({refusal(503, "unavailable", "starting")});
  auto link = link_to({market.url()});
  const auto got =
      link.insist("/v1/x", "{}", base::minutes(60), [&] { return market.asked().size() >= 2; });
  ASSERT_FALSE(got);
  EXPECT_EQ(market.asked().size(), 2U);
}

TEST(Link, ARefusalComesBackInTheMarketsWordsAndIsNotRepeated) {
  Market market({refusal(409, "conflict", "the lease has epoch 2")}), other;
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
  Market silent({});
  auto link = link_to({silent.url(), silent.url()}, base::minutes(60));
  auto got = std::async(std::launch::async, [&] { return link.get("/v1/leases?wait=30s"); });
  ASSERT_TRUE(eventually([&] { return silent.asked().size() == 1; }));
  link.cancel();
  ASSERT_EQ(got.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(got.get().error().code, Code::unavailable);
  EXPECT_FALSE(link.get("/")) << "nor begins anew";
}

TEST(Link, AnAgentThatIsToldToStopDoesNotInsist) {
  Market market({refusal(503, "unavailable", "starting")});
  auto link = link_to({market.url()});
  auto got =
      std::async(std::launch::async, [&] { return link.insist("/v1/x", "{}", base::minutes(60)); });
  ASSERT_TRUE(eventually([&] { return market.asked().size() >= 2; }));
  link.cancel();
  ASSERT_EQ(got.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_FALSE(got.get());
}

}  // namespace
}  // namespace souk::agent
