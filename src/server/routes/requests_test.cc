#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/text.h"
#include "server/http/router.h"
#include "server/testing/uploads.h"

// What becomes of requests that cannot be right, of repeats, and of lists.

namespace souk::server {
namespace {

using testing::Answer;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::Fair;
using ::testing::HasSubstr;
using testing::Market;
using ::testing::Not;

TEST(Requests, AMisspeltFieldIsNamedAndNothingIsDone) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto a = fair.call("POST", "/v1/jobs", bob, R"({"class":"c1","limt":1,"budget":10})");
  EXPECT_EQ(a.status, 400);
  EXPECT_EQ(a.at("field"), "limt");
  EXPECT_THAT(a.at("hint"), HasSubstr("limit"));
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 0u);
}

TEST(Requests, WhatIsNotUnderstoodIsRefusedWithItsPlace) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const struct {
    std::string_view method, path, body, field;
  } rows[] = {
      {"POST", "/v1/jobs", R"({"budget":"lots"})", "budget"},
      {"POST", "/v1/jobs", R"({"budget":10,"workers":{"min":"1","max":2}})", "workers.min"},
      {"POST", "/v1/jobs", R"({"budget":10,"workers":{"min":1,"max":99999999999}})", "workers.max"},
      {"POST", "/v1/jobs", R"({"budget":10,"deadline":"tomorrow"})", "deadline"},
      {"POST", "/v1/jobs", R"({"class":"c1"})", "budget"},
      {"POST", "/v1/jobs", R"({"budget":10,"class":"c1","also_classes":["c5"]})", "also_classes"},
      {"POST", "/v1/plan", R"({"budget":10,"class":"c1","also_classes":["c4"]})", "also_classes"},
      {"POST", "/v1/jobs", R"({"budget":10,"kind":"magic"})", "kind"},
      {"POST", "/v1/plan", R"({"budget":10,"kind":""})", "kind"},
      {"POST", "/v1/jobs", R"({"budget":10,"kind":"train","batch":{"run":"x"}})", "batch"},
      {"POST", "/v1/jobs", R"({"budget":10,"budget":20})", ""},
      {"POST", "/v1/jobs", "", ""},
      {"POST", "/v1/jobs", "[1,2", ""},
      {"POST", "/v1/jobs/j1/pause", R"({"for":"1h"})", ""},
      {"GET", "/v1/jobs?stat=running", "", "stat"},
      {"GET", "/v1/jobs?state=runing", "", "state"},
      {"GET", "/v1/jobs?limit=0", "", "limit"},
      {"GET", "/v1/jobs?limit=many", "", "limit"},
      {"GET", "/v1/jobs?all=yes", "", "all"},
      {"GET", "/v1/jobs?after=o1", "", "after"},
      {"GET", "/v1/prices?days=-1", "", "days"},
      {"GET", "/v1/prices?by=week", "", "by"},
      {"GET", "/v1/offers?where=prize%3C1", "", ""},
      {"GET", "/v1/events?after=x", "", "after"},
      {"GET", "/v1/me?verbose=1", "", "verbose"},
  };
  for (const auto& row : rows) {
    const auto a = fair.call(row.method, std::string(row.path), bob, row.body);
    EXPECT_EQ(a.status, 400) << row.path << ' ' << row.body << ": " << a;
    if (!row.field.empty()) EXPECT_EQ(a.at("field"), row.field) << row.path << ' ' << row.body;
  }
}

TEST(Requests, AWrongMethodIsToldTheRightOnes) {
  Market market;
  const auto a = market.call("PUT", "/v1/jobs");
  EXPECT_EQ(a.status, 405);
  EXPECT_EQ(net::find_header(a.headers, "Allow"), "GET, POST");
  for (const auto* path : {"/v1", "/v1/", "/v1/jobs/", "/v1/jobs/j1/x", "/v1//jobs"})
    EXPECT_EQ(market.get(path).status, 404) << path;
}

TEST(Requests, AChangeWithoutAUsableKeyIsNotMade) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto submit = [&](const net::Headers& headers) {
    return fair.caller().send("POST", "/v1/jobs", bob, R"({"class":"c1","limit":1,"budget":1})",
                              headers);
  };
  for (const auto& bad : {std::string(), std::string(201, 'x'), std::string("a b")}) {
    const auto a = submit({{"Idempotency-Key", bad}});
    EXPECT_EQ(a.status, 400) << bad;
    EXPECT_EQ(a.at("field"), "Idempotency-Key");
  }
  EXPECT_EQ(submit({}).at("field"), "Idempotency-Key");
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 0u);
  EXPECT_EQ(submit({{"Idempotency-Key", std::string(200, 'x')}}).status, 201);
}

TEST(Requests, AnEditKeepsWhatTheWorkItselfNeedsAndNoWish) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const auto job = fair.must(
      "POST", "/v1/jobs", bob,
      R"({"class":"c1","limit":1,"budget":10,"constraints":{"packages":["numpy","@gpu:h200"]},
          "batch":{"run":"true","network":"internet"}})");
  for (const auto* packages : {"[]", R"(["ffmpeg"])", R"(["@internet"])"}) {
    const auto edited = fair.must("PATCH", "/v1/jobs/" + job.at("id"), bob,
                                  fmt::format(R"({{"constraints":{{"packages":{}}}}})", packages));
    EXPECT_THAT(edited.body, HasSubstr("@internet"));
    EXPECT_THAT(edited.body, Not(AnyOf(HasSubstr("numpy"), HasSubstr("@gpu"))));
  }
}

// --- Repeats -------------------------------------------------------------------------------------

TEST(Repeats, ALostAnswerIsGivenAgainAndNothingIsDoneTwice) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  const net::Headers key{{"Idempotency-Key", "only-once"}};
  const std::string body = R"({"class":"c1","limit":1,"budget":10})";
  const auto first = fair.must("POST", "/v1/jobs", bob, body, key);
  fair.must("PATCH", "/v1/jobs/" + first.at("id"), bob, R"({"priority":7})");
  for (int i = 0; i < 3; ++i) {
    const auto again = fair.call("POST", "/v1/jobs", bob, body, key);
    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, first.body);
    EXPECT_EQ(net::find_header(again.headers, "Idempotent-Replay"), "true");
  }
  EXPECT_EQ(fair.get("/v1/jobs", bob).count(), 1u);
  EXPECT_EQ(fair.get("/v1/me", bob).at("escrow"), "10");
  const auto other =
      fair.call("POST", "/v1/jobs", bob, R"({"class":"c1","limit":1,"budget":11})", key);
  EXPECT_EQ(other.status, 409);
  EXPECT_EQ(other.at("field"), "Idempotency-Key");
  EXPECT_EQ(fair.call("POST", "/v1/feedback", bob, R"({"category":"idea","text":"x"})", key).status,
            409);
  EXPECT_EQ(fair.call("POST", "/v1/machines", fair.lender.token,
                      R"({"name":"x","spec":{"cores":1,"memory_mib":1}})", key)
                .status,
            201)
      << "another account's keys are its own";
}

TEST(Repeats, ARefusalCanBeTriedAgain) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "later"}};
  const std::string body = R"({"class":"c1","limit":1,"budget":150})";
  EXPECT_EQ(fair.call("POST", "/v1/jobs", fair.borrower.token, body, key).status, 409);
  fair.grant(fair.boss, fair.borrower, "100");
  EXPECT_EQ(fair.call("POST", "/v1/jobs", fair.borrower.token, body, key).status, 201);
}

TEST(Repeats, ARestartDoesNotMakeARepeatANewChange) {
  testing::Folder folder;
  const net::Headers key{{"Idempotency-Key", "across"}}, up{{"Idempotency-Key", "me"}};
  const std::string grant = R"({"amount":10})";
  std::string first, token;
  {
    Market market(testing::in_folder(folder / "data"));
    token = market.must("POST", "/v1/accounts", "", Market::sign_up_body("boss"), up).at("token");
    first = market.must("POST", "/v1/accounts/boss/grant", token, grant, key).body;
  }
  Market market(testing::in_folder(folder / "data"));
  const auto again = market.must("POST", "/v1/accounts/boss/grant", token, grant, key);
  EXPECT_EQ(again.body, first);
  EXPECT_EQ(market.get("/v1/me", token).at("available"), "10");
  EXPECT_EQ(market.call("POST", "/v1/accounts/boss/grant", token, R"({"amount":11})", key).status,
            409);
  const auto session = market.must("POST", "/v1/accounts", "", Market::sign_up_body("boss"), up);
  EXPECT_EQ(session.at("account.id"), "a1");
}

TEST(Repeats, ARepeatedSignUpIsTheSameAccountForWhoKnowsThePassword) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "carol-1"}};
  const auto first = fair.must("POST", "/v1/accounts", "", Market::sign_up_body("carol"), key);
  const auto again = fair.must("POST", "/v1/accounts", "", Market::sign_up_body("carol"), key);
  EXPECT_EQ(again.at("account.id"), first.at("account.id"));
  EXPECT_NE(again.at("token"), first.at("token"));
  EXPECT_EQ(fair.get("/v1/me", again.at("token")).at("name"), "carol");
  const auto thief = fair.call("POST", "/v1/accounts", "",
                               R"({"name":"carol","password":"not hers at all"})", key);
  EXPECT_EQ(thief.status, 401);
  EXPECT_EQ(thief.at("token"), "");
}

TEST(Repeats, ASecretIsShownOnceAndMadeOnce) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "token"}};
  const auto& lena = fair.lender.token;
  fair.must("POST", "/v1/tokens", lena, R"({"label":"one"})", key);
  const auto tokens = fair.get("/v1/tokens", lena).count();
  const auto again = fair.call("POST", "/v1/tokens", lena, R"({"label":"one"})", key);
  EXPECT_EQ(again.status, 409);
  EXPECT_THAT(again.at("detail"), HasSubstr("secret"));
  EXPECT_EQ(fair.get("/v1/tokens", lena).count(), tokens);
}

TEST(Repeats, ALongAnswerIsNotKeptButItsChangeIsNotMadeTwice) {
  Fair fair;
  const net::Headers key{{"Idempotency-Key", "long"}};
  std::string packages;
  for (int i = 0; i < 300; ++i)
    packages += fmt::format(R"({}"package-{}-{}")", i > 0 ? "," : "", i, std::string(80, 'x'));
  const auto body = fmt::format(
      R"({{"name":"full","spec":{{"cores":1,"memory_mib":1024,"packages":[{}]}}}})", packages);
  fair.must("POST", "/v1/machines", fair.lender.token, body, key);
  EXPECT_EQ(fair.call("POST", "/v1/machines", fair.lender.token, body, key).status, 409);
  EXPECT_EQ(fair.get("/v1/machines", fair.lender.token).count(), 2u);
}

// --- Lists ---------------------------------------------------------------------------------------

TEST(Lists, PagesTogetherHoldEverythingOnce) {
  Fair fair;
  for (int i = 0; i < 7; ++i) fair.job(fair.borrower);
  std::vector<std::string> seen;
  std::string after;
  for (int pages = 0; pages < 5; ++pages) {
    const auto page = fair.get("/v1/jobs?limit=3" + after, fair.borrower.token);
    for (std::size_t i = 0; i < page.count(); ++i)
      seen.push_back(page.at(fmt::format("items.{}.id", i)));
    if (page.at("next").empty()) break;
    after = "&after=" + page.at("next");
  }
  EXPECT_THAT(seen, ElementsAre("j7", "j6", "j5", "j4", "j3", "j2", "j1"));
  EXPECT_EQ(fair.get("/v1/jobs", fair.lender.token).count(), 0u) << "jobs are their owner's";
  EXPECT_EQ(fair.get("/v1/jobs?all=true", fair.lender.token).count(), 0u);
  EXPECT_EQ(fair.get("/v1/jobs?all=true", fair.boss.token).count(), 7u);
}

TEST(Lists, AQueryIsEchoedAsItWasUnderstood) {
  Fair fair;
  fair.offer(fair.lender.token, fair.box, 1, R"(,"price":0.25)");
  fair.offer(fair.lender.token, fair.box, 1, R"(,"price":2)");
  const auto a = fair.must("GET", "/v1/offers?where=price%3C%3D1", fair.borrower.token);
  EXPECT_EQ(a.count(), 1u);
  EXPECT_EQ(a.at("items.0.price"), "0.25");
  EXPECT_THAT(a.at("query"), HasSubstr("price"));
}

TEST(Requests, AMachineWithManyLongTasksGetsThemInTurns) {
  Fair fair;
  const auto big = fair.must("POST", "/v1/machines", fair.lender.token,
                             R"({"name":"big","spec":{"cores":100,"memory_mib":409600}})")
                       .at("id");
  fair.offer(fair.lender.token, big, 100);
  fair.job(fair.borrower,
           fmt::format(R"(,"workers":{{"min":100,"max":100}},"batch":{{"run":"true {}"}})",
                       std::string(60'000, 'x')));
  const auto path = "/v1/machines/" + big + "/work";
  Answer work;
  ASSERT_TRUE(testing::eventually([&] {
    fair.call("POST", "/v1/machines/" + big + "/heartbeat", fair.lender.token, R"({"leases":[]})");
    work = fair.get(path, fair.lender.token);
    return work.count("leases") == 100;
  }));
  EXPECT_LT(work.body.size(), 6u << 20);
  EXPECT_EQ(work.count("later"), 100 - (4u << 20) / 60'080) << "a few bytes more than the text";
  EXPECT_NE(work.at("leases.0.task.batch.run"), "");
  EXPECT_EQ(work.at("leases.99.task"), "");
  EXPECT_EQ(work.at("later.0"), work.at("leases.69.id"));
}

TEST(Requests, AParameterIsGivenOnceAndWithinItsBounds) {
  Fair fair;
  const auto& bob = fair.borrower.token;
  for (const auto* query : {"limit=", "limit=0", "limit=501", "limit=1&limit=1", "limit=+1",
                            "limit=1e1", "all=", "all=yes", "state=", "state=x"}) {
    const auto a = fair.get(std::string("/v1/jobs?") + query, bob);
    EXPECT_EQ(a.status, 400) << query;
    EXPECT_NE(a.at("field"), "") << query;
  }
  EXPECT_EQ(fair.get("/v1/jobs?limit=500&state=failed&all=false", bob).status, 200);
  EXPECT_EQ(fair.get("/v1/prices?days=400", bob).status, 200);
  EXPECT_EQ(fair.get("/v1/prices?days=0", bob).status, 400);
}

TEST(Requests, AWrongMethodIsToldTheMethodsOfThisPathAlone) {
  Fair fair;
  const auto allowed = [&](std::string_view method, const std::string& path) {
    const auto a = fair.call(method, path, fair.borrower.token);
    EXPECT_EQ(a.status, 405) << path;
    return std::string(net::find_header(a.headers, "Allow"));
  };
  EXPECT_EQ(allowed("DELETE", "/v1/blobs/missing"), "POST");
  EXPECT_EQ(allowed("GET", "/v1/blobs/missing"), "POST");
  EXPECT_EQ(allowed("PATCH", "/v1/jobs/prepare"), "POST");
  EXPECT_EQ(allowed("PUT", "/v1/jobs"), "GET, POST");
}

}  // namespace
}  // namespace souk::server
