#include <gtest/gtest.h>

#include "server/testing/market.h"

// What newcomers look at: what is on offer, how to get credits, what lending is worth.

namespace souk::server {
namespace {

using testing::Fair;

TEST(Offers, AFilterSaysWhatEachOfItsConditionsLeavesOut) {
  Fair fair;
  fair.offer(fair.agent, fair.box);
  const auto list = [&](const std::string& where) {
    return fair.get("/v1/offers?where=" + where, fair.borrower.token);
  };
  const auto all = list("cores%3E%3D1%20and%20leases%3D0");
  EXPECT_EQ(all.count(), 1u) << all;
  EXPECT_EQ(all.at("looked_at"), "1");
  EXPECT_EQ(all.at("left_out.0.offers"), "0");
  EXPECT_EQ(all.at("items.0.leases"), "0") << "new, and not 90% reliable";
  const auto none = list("gpu%3DA100%20and%20vram%3E%3D40%20and%20price%3C1000");
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.at("left_out.0.condition"), "gpu = A100");
  EXPECT_EQ(none.at("left_out.0.offers"), "1");
  EXPECT_EQ(none.at("left_out.0.only"), "0") << "vram leaves it out too";
  EXPECT_EQ(none.at("left_out.2.offers"), "0");
}

TEST(Offers, ClassesWithNothingOnOfferComeLast) {
  Fair fair;
  fair.must("POST", "/v1/offers", fair.agent,
            fmt::format(R"({{"machine":"{}","class":"c2","price":0.25}})", fair.box));
  const auto classes = fair.get("/v1/classes", fair.borrower.token);
  EXPECT_EQ(classes.at("items.0.name"), "c2") << classes;
  EXPECT_EQ(classes.at("items.0.offered"), "1");
  EXPECT_EQ(classes.at("items.1.name"), "c1");
}

TEST(CreditRequests, ShowOnlyTheirOwnToPeopleAndAllToOperators) {
  Fair fair;
  const auto ask = [&](const std::string& token) {
    fair.must("POST", "/v1/credits/requests", token, R"({"amount":3,"why":"to try it"})");
  };
  const auto eve = fair.sign_up("eve");
  ask(fair.borrower.token);
  ask(eve.token);
  EXPECT_EQ(fair.get("/v1/credits/requests", eve.token).count(), 1u);
  const auto all = fair.get("/v1/credits/requests", fair.boss.token);
  EXPECT_EQ(all.count(), 2u);
  EXPECT_EQ(all.at("items.0.account"), "bob") << "who waits longest comes first";
  const auto answer = [&](const std::string& token, std::string_view body) {
    return fair.call("POST", "/v1/accounts/bob/request", token, body);
  };
  EXPECT_EQ(answer(eve.token, R"({"amount":3})").status, 403);
  EXPECT_EQ(answer(fair.boss.token, R"({"amount":0})").at("field"), "amount");
  EXPECT_EQ(answer(fair.boss.token, R"({"word":"lend first"})").status, 200);
  EXPECT_EQ(answer(fair.boss.token, R"({"amount":3})").status, 409) << "it was answered";
  EXPECT_EQ(fair.get("/v1/credits/requests", fair.boss.token).at("items.0.account"), "eve");
  EXPECT_EQ(
      fair.call("POST", "/v1/credits/requests", fair.agent, R"({"amount":3,"why":"x"})").status,
      403)
      << "a machine's token asks for nothing";
}

TEST(Earnings, AreForEverybodyAndOfClassesThatFit) {
  Fair fair;
  EXPECT_EQ(fair.get("/v1/earnings", "").status, 200);
  const auto small = fair.get("/v1/earnings?cores=2&memory_mib=2048", "");
  EXPECT_EQ(small.count(), 1u) << small;
  EXPECT_EQ(small.at("items.0.class"), "c1");
  EXPECT_EQ(small.at("items.0.slots"), "2");
  EXPECT_EQ(fair.get("/v1/earnings?cores=-1", "").status, 400);
}

TEST(SignUpBonus, OfANewMarketIsPaidFromWhatIsSetAsideAndEndsWithIt) {
  auto options = testing::in_memory();
  options.signup_bonus = base::Credits(5'000'000);
  testing::Market market(options);
  const auto boss = market.sign_up("boss");
  EXPECT_EQ(market.get("/v1/me", boss.token).at("bonus"), "5");
  EXPECT_EQ(market.get("/v1/settings", boss.token).at("signup_bonus"), "5");
  EXPECT_EQ(market.get("/v1/ledger", boss.token).at("sum"), "0");
  market.must("PATCH", "/v1/settings", boss.token, R"({"signup_bonus":0})");
  EXPECT_EQ(market.get("/v1/me", market.sign_up("eve").token).at("bonus"), "0");
  market.must("PATCH", "/v1/settings", boss.token, R"({"signup_bonus":96})");
  EXPECT_EQ(market.get("/v1/me", market.sign_up("bob").token).at("bonus"), "0")
      << "more than is left of 20 times 5";
}

}  // namespace
}  // namespace souk::server
