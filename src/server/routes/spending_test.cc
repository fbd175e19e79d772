#include "server/http/spending.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "server/http/router.h"
#include "server/testing/stack.h"

// Tokens that can spend so many credits, over HTTP: what they reach, and what they never do.

namespace souk::server {
namespace {

using testing::Fair;
using ::testing::HasSubstr;

struct Spender : ::testing::Test {
  Fair fair;
  std::string issue(std::string_view limit) {
    return fair
        .must("POST", "/v1/tokens", fair.borrower.token,
              fmt::format(R"({{"scope":"spend","limit":{},"expires_in":"1h"}})", limit))
        .at("token");
  }
  testing::Answer submit(const std::string& token, std::string_view budget) {
    return fair.call("POST", "/v1/jobs", token,
                     fmt::format(R"({{"class":"c1","limit":1,"budget":{}}})", budget));
  }
};

TEST(SpendingRoutes, TheTableIsInOrderAndNamesRoutesThatThereAre) {
  EXPECT_TRUE(std::ranges::is_sorted(kSpendingRoutes));
  std::set<std::string_view> known;
  const auto routes = all_routes();
  for (const auto& route : routes.all()) {
    known.insert(route.doc.id);
    if (route.spending) EXPECT_NE(route.access, Access::operator_) << route.doc.id;
  }
  for (const auto id : kSpendingRoutes) EXPECT_TRUE(known.contains(id)) << id;
}

TEST_F(Spender, IsRefusedByEveryOtherRoute) {
  const auto token = issue("5");
  for (const auto& route : all_routes().all()) {
    if (route.spending || route.access == Access::everybody) continue;
    std::string path;
    for (const auto& segment : base::split(route.doc.path, '/'))
      if (!segment.empty()) path += "/" + std::string(segment.starts_with('{') ? "x1" : segment);
    const auto answer = fair.caller().send(route.doc.method, path, token);
    EXPECT_EQ(answer.status, 403) << route.doc.id << " " << answer;
  }
}

TEST_F(Spender, RunsJobsUpToItsLimitAndHearsWhatIsLeft) {
  const auto token = issue("5");
  const auto job = submit(token, "3");
  ASSERT_EQ(job.status, 201) << job;
  const auto refused = submit(token, "2.5");
  EXPECT_EQ(refused.status, 409);
  EXPECT_THAT(refused.body, HasSubstr("can spend 5 credits in all"));
  EXPECT_THAT(refused.body, HasSubstr("3 are reserved"));
  EXPECT_THAT(refused.body, HasSubstr("souk spend"));
  const auto mine = fair.get("/v1/tokens", token);
  EXPECT_EQ(mine.at("items.0.limit"), "5");
  EXPECT_EQ(mine.at("items.0.reserved"), "3");
  EXPECT_EQ(mine.at("items.0.spent"), "0");
  EXPECT_EQ(mine.at("items.1.id"), "") << "other tokens are none of its business";
  fair.must("POST", "/v1/jobs/" + job.at("id") + "/cancel", token, "{}");
  EXPECT_EQ(submit(token, "5").status, 201);
}

TEST_F(Spender, SeesAndEndsNoJobButItsOwn) {
  const auto token = issue("5");
  const auto owners = fair.job(fair.borrower);
  const auto own = submit(token, "1").at("id");
  const auto list = fair.get("/v1/jobs", token);
  EXPECT_EQ(list.at("items.0.id"), own);
  EXPECT_EQ(list.at("items.1.id"), "");
  EXPECT_EQ(fair.get("/v1/jobs/" + own, token).status, 200);
  EXPECT_EQ(fair.get("/v1/jobs/" + owners, token).status, 404);
  EXPECT_EQ(fair.get("/v1/jobs/" + owners + "/files", token).status, 404);
  EXPECT_EQ(fair.call("POST", "/v1/jobs/" + owners + "/cancel", token, "{}").status, 404);
  EXPECT_EQ(fair.call("PATCH", "/v1/jobs/" + owners, token, R"({"budget":11})").status, 404);
  EXPECT_EQ(fair.get("/v1/jobs/" + own, fair.borrower.token).status, 200);
}

TEST_F(Spender, IsNotMadeWithoutALimitOrAnEnd) {
  for (const std::string_view body :
       {R"({"scope":"spend","expires_in":"1h"})", R"({"scope":"spend","limit":5})",
        R"({"scope":"spend","limit":0,"expires_in":"1h"})", R"({"limit":5,"expires_in":"1h"})"})
    EXPECT_EQ(fair.call("POST", "/v1/tokens", fair.borrower.token, std::string(body)).status, 400)
        << body;
}

}  // namespace
}  // namespace souk::server
