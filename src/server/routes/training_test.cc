#include <gtest/gtest.h>

#include "server/testing/stack.h"
#include "wire/json.h"

// A training that cannot be worked on ends as its own job's failure.

namespace souk::server {
namespace {

using testing::Answer;
using testing::eventually;
using testing::Market;
using testing::Stack;

// A market with a lender's machine, and a training that came past the checks of submission, as one
// from an older journal would.
struct PoisonedMarket {
  Stack stack{{.round = base::milliseconds(100)}};
  std::string token, account, lender, machine;

  PoisonedMarket() {
    const auto made =
        stack.ask("POST", "/v1/accounts", "", Market::sign_up_body("boss"), "127.0.0.1").get();
    token = made.at("token");
    account = made.at("account.id");
    must("POST", "/v1/accounts/boss/grant", R"({"amount":100})");
    lender = stack.ask("POST", "/v1/accounts", "", Market::sign_up_body("lena"), "127.0.0.1")
                 .get()
                 .at("token");
    machine = must("POST", "/v1/machines",
                   R"({"name":"box","spec":{"cores":8,"memory_mib":65536}})", lender)
                  .at("id");
    must("POST", "/v1/offers",
         fmt::format(R"({{"machine":"{}","class":"c1","slots":1,"price":0.5}})", machine), lender);
  }
  Answer must(std::string method, const std::string& path, std::string body = "",
              const std::string& as = "") {
    auto out = stack.ask(std::move(method), path, as.empty() ? token : as, std::move(body)).get();
    EXPECT_TRUE(out.ok()) << path << ": " << out;
    return out;
  }
  base::JobId submit(const wire::Train& train) {
    wire::Batch work;
    work.run = "souk-torch";
    work.train = train;
    return stack.inside([&](Core::Turn& turn) {
      market::SubmitJob command{.name = "poison",
                                .kind = "train",
                                .slot_class = turn.state().classes.front().id,
                                .terms = {.workers = {1, 1},
                                          .limit = base::Credits(1'000'000),
                                          .budget = base::Credits(1'000'000)},
                                .work = wire::to_json(work),
                                .pay = market::Pay::work};
      const market::Actor bob{.account = *base::IdTraits<base::AccountId>::parse(account)};
      const auto events = turn.execute(bob, command);
      EXPECT_TRUE(events) << events.error().message;
      base::JobId out;
      turn.state().jobs.for_each([&](const market::Job& job) { out = job.id; });
      return out;
    });
  }
  // The lease of the machine, started.
  std::string take_up() {
    Answer work;
    EXPECT_TRUE(eventually([&] {
      stack.clock.move(base::milliseconds(200));
      work = must("GET", "/v1/machines/" + machine + "/work", "", lender);
      return work.count("leases") > 0;
    }));
    const auto lease = "/v1/leases/" + work.at("leases.0.id");
    must("POST", lease + "/start", fmt::format(R"({{"epoch":{}}})", work.at("leases.0.epoch")),
         lender);
    epoch = work.at("leases.0.epoch");
    return lease;
  }
  std::string epoch;
};

TEST(PoisonedTraining, AJournaledJobThatCannotBeCountedFailsAloneAndSaysWhy) {
  PoisonedMarket m;
  const auto job = m.submit({.shards = {{std::string(64, '0'), std::int64_t{1} << 62},
                                        {std::string(64, '0'), std::int64_t{1} << 62},
                                        {std::string(64, '0'), std::int64_t{1} << 62},
                                        {std::string(64, '0'), std::int64_t{1} << 62}}});
  const auto lease = m.take_up();
  const auto refused = m.stack
                           .ask("POST", lease + "/units", m.lender,
                                fmt::format(R"({{"epoch":{},"holds":[]}})", m.epoch))
                           .get();
  EXPECT_EQ(refused.status, 400) << refused;
  const auto path = "/v1/jobs/" + to_string(job);
  ASSERT_TRUE(eventually([&] { return m.must("GET", path).at("state") == "failed"; }));
  EXPECT_NE(m.must("GET", path).at("reason").find("samples"), std::string::npos);
  EXPECT_EQ(m.stack.ask("GET", "/healthz").get().status, 200);
}

}  // namespace
}  // namespace souk::server
