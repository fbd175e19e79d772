#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/stack.h"

namespace souk::server {
namespace {

using testing::Answer;
using testing::eventually;
using testing::Fair;
using ::testing::HasSubstr;
using testing::Market;
using testing::Stack;

Answer log_in(Market& m, std::string_view name, std::string_view password) {
  return m.call("POST", "/v1/login", "",
                fmt::format(R"({{"name":"{}","password":"{}"}})", name, password));
}

// --- Signing up ----------------------------------------------------------------------------------

TEST(SignUp, WhoeverSetsUpAMarketOnItsComputerRunsIt) {
  Market market;
  const auto first = market.sign_up("ada"), second = market.sign_up("eve");
  EXPECT_EQ(market.get("/v1/me", first.token).at("operator"), "true");
  EXPECT_EQ(market.get("/v1/me", second.token).at("operator"), "false");
  EXPECT_EQ(market.get("/v1/accounts", second.token).status, 403);
}

TEST(SignUp, NobodyFromElsewhereBecomesTheOperatorByComingFirst) {
  Market market;
  const net::Headers forwarded{{"X-Forwarded-For", "203.0.113.9"}};
  const auto with = [&](std::string_view bootstrap) {
    return market.call("POST", "/v1/accounts", "",
                       fmt::format(R"({{"name":"eve","password":"long enough"{}}})", bootstrap),
                       forwarded);
  };
  EXPECT_EQ(with("").status, 403);
  EXPECT_EQ(with("").at("field"), "bootstrap");
  EXPECT_EQ(with(R"(,"bootstrap":"")").status, 403);
  EXPECT_EQ(with(R"(,"bootstrap":"souk_guess")").status, 403);
  ASSERT_NE(market.server().bootstrap(), "");
  const auto key = fmt::format(R"(,"bootstrap":"{}")", market.server().bootstrap());
  EXPECT_EQ(with(key).at("account.operator"), "true");
  const auto later = market.call(
      "POST", "/v1/accounts", "",
      fmt::format(R"({{"name":"mallory","password":"long enough"{}}})", key), forwarded);
  EXPECT_EQ(later.at("account.operator"), "false") << "the bootstrap token works once";
}

TEST(SignUp, NewcomersGetNoCreditsToFarm) {
  Fair fair;
  const auto me = fair.get("/v1/me", fair.sign_up("sybil").token);
  EXPECT_EQ(me.at("available"), "0");
  EXPECT_EQ(me.at("bonus"), "0");
}

TEST(SignUp, NamesAndPasswordsThatCannotWorkAreRefused) {
  Market market;
  const struct {
    std::string_view name, password, field;
  } rows[] = {{"ada", "short", "password"},    {"ada", std::string_view(), "password"},
              {"", "long enough", "name"},     {"a", "long enough", "name"},
              {"Ada", "long enough", "name"},  {"-ada", "long enough", "name"},
              {"a/b", "long enough", "name"},  {"platform", "long enough", "name"},
              {"mint", "long enough", "name"}, {"a b", "long enough", "name"}};
  for (const auto& row : rows) {
    const auto a =
        market.call("POST", "/v1/accounts", "",
                    fmt::format(R"({{"name":"{}","password":"{}"}})", row.name, row.password));
    EXPECT_EQ(a.status, 400) << row.name;
    EXPECT_EQ(a.at("field"), row.field) << row.name;
  }
}

TEST(SignUp, AClosedMarketTakesOnlyWhomItsOperatorInvites) {
  Fair fair;
  fair.must("PATCH", "/v1/settings", fair.boss.token, R"({"signup_open":false})");
  const auto body = Market::sign_up_body("carol");
  EXPECT_EQ(fair.call("POST", "/v1/accounts", "", body).status, 403);
  EXPECT_EQ(fair.call("POST", "/v1/accounts", fair.lender.token, body).status, 403);
  EXPECT_EQ(fair.call("POST", "/v1/accounts", "souk_forged", body).status, 401);
  const auto carol = fair.sign_up("carol", fair.boss.token);
  EXPECT_EQ(fair.get("/v1/me", carol.token).at("operator"), "false");
  EXPECT_THAT(fair.get("/v1/audit", fair.boss.token).body, HasSubstr("create account"));
}

// --- Passwords -----------------------------------------------------------------------------------

TEST(Passwords, AGuesserLearnsNothingAndSoonMustWait) {
  Fair fair;
  const auto unknown = log_in(fair, "nobody", "some password");
  const auto wrong = log_in(fair, "bob", "some password");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(wrong.body, unknown.body) << "it tells which names exist";
  int guesses = 1;
  Answer last = wrong;
  while (last.status == 401 && guesses < 20)
    last = log_in(fair, "bob", fmt::format("guess {:05}", ++guesses));
  EXPECT_EQ(last.status, 429);
  EXPECT_GE(guesses, 11);
  EXPECT_LE(guesses, 13) << "one more each 6 s";
  EXPECT_NE(net::find_header(last.headers, "Retry-After"), "");
  EXPECT_EQ(log_in(fair, "bob", testing::kPassword).status, 429) << "the right one is no oracle";
  EXPECT_EQ(log_in(fair, "lena", testing::kPassword).status, 201) << "others are not held up";
}

TEST(Passwords, AChangedPasswordShutsOutWhoKnewTheOldOne) {
  Fair fair;
  const auto thief = fair.log_in("lena");
  const net::Headers key{{"Idempotency-Key", "change"}};
  const auto change = [&](std::string_view old) {
    return fair.call("POST", "/v1/me/password", fair.lender.token,
                     fmt::format(R"({{"old_password":"{}","password":"a better one"}})", old), key);
  };
  EXPECT_EQ(change("not the old one").status, 401);
  EXPECT_EQ(fair.get("/v1/me", thief.token).status, 200);
  const auto done = change(testing::kPassword);
  EXPECT_EQ(done.status, 200);
  EXPECT_EQ(fair.get("/v1/me", thief.token).status, 401);
  EXPECT_EQ(fair.get("/v1/me", fair.lender.token).status, 200) << "this session stays";
  EXPECT_EQ(fair.get("/v1/machines/" + fair.box, fair.agent).status, 200) << "machines go on";
  EXPECT_EQ(log_in(fair, "lena", testing::kPassword).status, 401);
  EXPECT_EQ(log_in(fair, "lena", "a better one").status, 201);
  const auto again = change(testing::kPassword);
  EXPECT_EQ(again.body, done.body);
  EXPECT_EQ(net::find_header(again.headers, "Idempotent-Replay"), "true");
}

// --- Tokens --------------------------------------------------------------------------------------

TEST(Tokens, ALostDeviceCanBeLockedOut) {
  Fair fair;
  const auto phone = fair.log_in("lena");
  EXPECT_EQ(fair.get("/v1/me", phone.token).status, 200);
  EXPECT_EQ(fair.call("DELETE", "/v1/tokens/" + phone.token_id, fair.borrower.token).status, 404)
      << "somebody else's token is none of bob's business";
  fair.must("DELETE", "/v1/tokens/" + phone.token_id, fair.lender.token);
  EXPECT_EQ(fair.get("/v1/me", phone.token).status, 401);
  EXPECT_EQ(fair.get("/v1/me", fair.lender.token).status, 200);
}

TEST(BudgetRoutes, ShowWhatAnAccountUsesToItselfAndToOperators) {
  Fair fair;
  const auto mine = fair.get("/v1/accounts/lena/budgets", fair.lender.token);
  EXPECT_EQ(mine.status, 200);
  EXPECT_THAT(mine.body, HasSubstr(R"("name":"blob-bytes")"));
  EXPECT_EQ(fair.get("/v1/accounts/lena/budgets", fair.boss.token).status, 200);
  EXPECT_EQ(fair.get("/v1/accounts/lena/budgets", fair.borrower.token).status, 404);
  EXPECT_THAT(fair.call("GET", "/metrics").body,
              HasSubstr("souk_budget_used{budget=\"blob-bytes\"} 0"));
}

TEST(Tokens, OneCallLogsOutEverywhere) {
  Fair fair;
  const auto phone = fair.log_in("lena");
  fair.must("DELETE", "/v1/tokens", phone.token);
  for (const auto& token : {phone.token, fair.lender.token})
    EXPECT_EQ(fair.get("/v1/me", token).status, 401);
  EXPECT_EQ(fair.get("/v1/machines/" + fair.box, fair.agent).status, 401);
  EXPECT_EQ(fair.get("/v1/me", fair.log_in("lena").token).status, 200);
  EXPECT_EQ(fair.get("/v1/me", fair.borrower.token).status, 200);
}

TEST(Tokens, AnExpiredTokenOpensNothing) {
  Fair fair;
  const auto session = fair.log_in("lena", R"(,"expires_in":"400ms")");
  const auto token =
      fair.must("POST", "/v1/tokens", fair.lender.token, R"({"expires_in":"400ms"})").at("token");
  for (const auto& t : {session.token, token})
    EXPECT_TRUE(eventually([&] { return fair.get("/v1/me", t).status == 401; }));
  for (const auto* bad : {"0s", "400d"})
    EXPECT_EQ(fair.call("POST", "/v1/login", "",
                        fmt::format(R"({{"name":"lena","password":"{}","expires_in":"{}"}})",
                                    testing::kPassword, bad))
                  .status,
              400)
        << bad;
}

TEST(Tokens, NoTokenMakesAStrongerOne) {
  Fair fair;
  const auto ask = [&](const std::string& token, std::string_view body) {
    return fair.call("POST", "/v1/tokens", token, body).status;
  };
  EXPECT_EQ(ask(fair.lender.token, R"({"scope":"operator"})"), 403);
  EXPECT_EQ(ask(fair.agent, R"({"scope":"user"})"), 403);
  EXPECT_EQ(
      ask(fair.borrower.token, fmt::format(R"({{"scope":"machine","machine":"{}"}})", fair.box)),
      403);
  EXPECT_EQ(ask(fair.lender.token, R"({"scope":"machine"})"), 400);
  EXPECT_EQ(ask(fair.lender.token, R"({"scope":"root"})"), 400);
  const auto weak =
      fair.must("POST", "/v1/tokens", fair.boss.token, R"({"scope":"user"})").at("token");
  EXPECT_EQ(fair.get("/v1/accounts", weak).status, 403);
  EXPECT_EQ(ask(weak, R"({"scope":"operator"})"), 403);
}

TEST(Tokens, AStolenMachineTokenIsGoodForThatMachineOnly) {
  Fair fair;
  const auto other = fair.machine(fair.lender, "other");
  const auto theirs = fair.offer(fair.lender.token, other);
  const auto call = [&](std::string_view method, const std::string& path,
                        std::string_view body = "") {
    return fair.call(method, path, fair.agent, body).status;
  };
  EXPECT_EQ(call("GET", "/v1/machines/" + fair.box), 200);
  EXPECT_EQ(call("GET", "/v1/machines/" + other), 404);
  EXPECT_EQ(call("GET", "/v1/machines/" + other + "/work"), 404);
  EXPECT_EQ(call("PATCH", "/v1/machines/" + other, R"({"name":"mine"})"), 403);
  EXPECT_EQ(call("POST", "/v1/machines/" + other + "/heartbeat", R"({"leases":[]})"), 403);
  EXPECT_EQ(call("POST", "/v1/offers", fmt::format(R"({{"machine":"{}","class":"c1"}})", other)),
            403);
  EXPECT_EQ(call("PATCH", "/v1/offers/" + theirs, R"({"price":0})"), 403);
  EXPECT_EQ(call("DELETE", "/v1/offers/" + theirs), 403);
  EXPECT_EQ(call("GET", "/v1/offers/" + theirs), 404);
  EXPECT_EQ(call("GET", "/v1/me"), 403);
  EXPECT_EQ(call("POST", "/v1/jobs", R"({"budget":1})"), 403);
}

TEST(Tokens, AMachineTokenIsAllThatLendingNeeds) {
  Fair fair;
  fair.offer(fair.lender.token, fair.machine(fair.lender, "other"), 1, R"(,"price":0.9)");
  const auto mine = fair.must("GET", "/v1/machines", fair.agent);
  ASSERT_EQ(mine.count(), 1u) << "it sees its owner's other machines";
  EXPECT_EQ(mine.at("items.0.id"), fair.box);
  EXPECT_GT(fair.must("GET", "/v1/classes", fair.agent).count(), 0u);
  const auto described = fair.must("PATCH", "/v1/machines/" + fair.box, fair.agent,
                                   R"({"spec":{"cores":4,"memory_mib":8192,"cpu":"measured"}})");
  EXPECT_EQ(described.at("name"), "box");
  EXPECT_EQ(described.at("spec.cpu"), "measured");
  const auto offer = "/v1/offers/" + fair.offer(fair.agent, fair.box);
  EXPECT_EQ(fair.must("GET", offer, fair.agent).at("machine"), fair.box);
  fair.must("PATCH", offer, fair.agent, R"({"slots":1})");
  fair.must("POST", offer + "/pause", fair.agent, "{}");
  fair.must("POST", offer + "/resume", fair.agent);
  fair.job(fair.borrower);
  ASSERT_EQ(fair.work(fair.agent, fair.box).count("leases"), 1u);
  const auto leases = fair.must("GET", "/v1/leases", fair.agent);
  ASSERT_EQ(leases.count(), 1u);
  EXPECT_EQ(leases.at("items.0.machine"), fair.box);
}

TEST(Tokens, AMachineTokenShowsNoLeasesButItsOwn) {
  Fair fair;
  const auto other = fair.machine(fair.lender, "other");
  const auto agent = fair.machine_token(fair.lender, other);
  fair.offer(agent, other);
  fair.job(fair.borrower);
  ASSERT_EQ(fair.work(agent, other).count("leases"), 1u);
  EXPECT_EQ(fair.must("GET", "/v1/leases", agent).count(), 1u);
  EXPECT_EQ(fair.must("GET", "/v1/leases", fair.agent).count(), 0u);
}

// --- What is somebody else's ---------------------------------------------------------------------

TEST(Privacy, PeopleSeeTheirOwnThingsOnly) {
  Fair fair;
  const auto job = fair.job(fair.borrower);
  const auto& lena = fair.lender.token;
  for (const auto& path :
       {"/v1/jobs/" + job, "/v1/jobs/" + job + "/why", "/v1/jobs/" + job + "/leases",
        std::string("/v1/accounts/bob"), std::string("/v1/ledger/statement?account=bob")})
    EXPECT_EQ(fair.get(path, lena).status, 404) << path;
  EXPECT_EQ(fair.get("/v1/machines/" + fair.box, fair.borrower.token).status, 404);
  EXPECT_EQ(fair.call("POST", "/v1/jobs/" + job + "/cancel", lena, "{}").status, 404);
  EXPECT_EQ(fair.get("/v1/jobs/" + job, fair.boss.token).status, 200);
  const auto ledger = fair.get("/v1/ledger", lena);
  EXPECT_THAT(ledger.body, ::testing::Not(HasSubstr("\"bob\"")));
  EXPECT_EQ(ledger.at("sum"), "0");
}

TEST(Freeze, AFrozenAccountCannotTrade) {
  Fair fair;
  const auto job = fair.job(fair.borrower);
  const std::string why = R"({"reason":"stolen card"})";
  for (const auto* name : {"bob", "lena"})
    fair.must("POST", std::string("/v1/accounts/") + name + "/freeze", fair.boss.token, why);
  const auto refused = fair.call("POST", "/v1/jobs", fair.borrower.token, R"({"budget":1})");
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.at("detail"), HasSubstr("stolen card"));
  EXPECT_EQ(fair.get("/v1/jobs/" + job, fair.borrower.token).at("state"), "paused");
  EXPECT_EQ(fair.call("POST", "/v1/jobs/" + job + "/resume", fair.borrower.token).status, 403);
  const auto offer = fmt::format(R"({{"machine":"{}","class":"c1"}})", fair.box);
  EXPECT_EQ(fair.call("POST", "/v1/offers", fair.lender.token, offer).status, 403);
  EXPECT_EQ(fair.call("POST", "/v1/offers", fair.agent, offer).status, 403);
  EXPECT_EQ(fair.get("/v1/me", fair.borrower.token).at("frozen"), "stolen card");
  EXPECT_EQ(fair.call("POST", "/v1/accounts/boss/freeze", fair.boss.token, why).status, 409);
  EXPECT_EQ(
      fair.call("POST", "/v1/accounts/bob/freeze", fair.boss.token, R"({"reason":""})").status,
      400);
  fair.must("POST", "/v1/accounts/lena/thaw", fair.boss.token);
  EXPECT_EQ(fair.call("POST", "/v1/offers", fair.lender.token, offer).status, 201);
}

// --- Throttles -----------------------------------------------------------------------------------

TEST(Throttle, AnAddressThatAsksTooMuchIsToldToWait) {
  auto options = testing::in_memory();
  options.requests_per_second = 3;
  Market market(options);
  Answer last;
  for (int i = 0; i < 50 && last.status != 429; ++i) last = market.get("/healthz");
  EXPECT_EQ(last.status, 429);
  EXPECT_EQ(net::find_header(last.headers, "Retry-After"), "1");
  EXPECT_TRUE(eventually([&] { return market.get("/healthz").status == 200; }));
}

TEST(Throttle, AnAccountIsHeldToItsShareFromHoweverManyAddresses) {
  Stack stack({}, {.requests_per_second = 2});  // A burst of 4; the clock stands still.
  const auto sign_up = [&](const std::string& name) {
    return stack.ask("POST", "/v1/accounts", "", Market::sign_up_body(name), "127.0.0.1")
        .get()
        .at("token");
  };
  const auto greedy = sign_up("greedy"), modest = sign_up("modest");
  const auto ask = [&](const std::string& token, int address) {
    return stack.ask("GET", "/v1/me", token, "", fmt::format("203.0.113.{}", address)).get();
  };
  for (int i = 0; i < 4; ++i) EXPECT_EQ(ask(greedy, i).status, 200);
  const auto refused = ask(greedy, 100);
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(net::find_header(refused.headers, "Retry-After"), "1");
  EXPECT_EQ(ask(modest, 100).status, 200);
  stack.clock.move(base::seconds(1));
  EXPECT_EQ(ask(greedy, 101).status, 200);
}

TEST(Throttle, OneAddressCannotTryOnePasswordOnEverybody) {
  Stack stack;
  std::vector<std::future<Answer>> tries;
  for (int i = 0; i < 101; ++i)
    tries.push_back(stack.ask("POST", "/v1/login", "",
                              fmt::format(R"({{"name":"user{}","password":"123456"}})", i)));
  EXPECT_EQ(tries.back().get().status, 429);
}

}  // namespace
}  // namespace souk::server
