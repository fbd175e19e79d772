#include <gtest/gtest.h>

#include <functional>

#include "base/testing/servers.h"
#include "hub/run/run.h"
#include "hub/service.h"
#include "hub/stores/stores.h"
#include "hub/testing/names.h"
#include "hub/testing/runs.h"
#include "hub/testing/stores.h"
#include "net/client.h"
#include "net/server.h"

// A training whose updates go to a hub: here the real service, on a Redis of the test's own, behind
// a gate that can lose what is said.

namespace souk::hub {
namespace {

using base::LeaseId;
using testing::kSecret;
using testing::redis;

// Passes on requests. `on_fold` sees those that fold first, and says whether they are passed on and
// whether the answer is.
class Gate {
 public:
  struct Passes {
    bool request = true, answer = true;
  };
  std::function<Passes()> on_fold = [] { return Passes{}; };

  explicit Gate(std::string url) : url_(std::move(url)) {
    auto started = net::Server::start({.port = 0}, [this](net::Request http, net::Reply reply) {
      const auto passes = http.path.ends_with("/fold") ? on_fold() : Passes{};
      auto client = net::Client::make({.base_url = url_});
      net::Response lost{.status = 503, .content_type = "text/plain"};
      if (!passes.request) return reply.send(std::move(lost));
      auto answer =
          client->send(http.method, http.target,
                       {{"Authorization", std::string(http.header("Authorization"))}}, http.body);
      EXPECT_TRUE(answer);
      reply.send(passes.answer && answer ? *std::move(answer) : std::move(lost));
    });
    CHECK(started.has_value());
    server_ = *std::move(started);
  }
  [[nodiscard]] std::string url() const {
    return fmt::format("http://127.0.0.1:{}", server_->port());
  }

 private:
  const std::string url_;
  std::unique_ptr<net::Server> server_;
};

class RunWithHubs : public testing::RunTest {
 protected:
  void SetUp() override {
    if (!base::testing::has_redis()) GTEST_SKIP() << "no redis-server on this computer";
    ASSERT_TRUE(redis());
    auto started = Service::start({.store = redis()->url, .secret = kSecret});
    ASSERT_TRUE(started) << started.error().message;
    service_ = *std::move(started);
    gate_ = std::make_unique<Gate>(fmt::format("http://127.0.0.1:{}", service_->port()));
    // Tickets are of the test's time, and the service's is that of the world.
    clock_.advance(base::SystemClock().now() - clock_.now());
    hubs_ = *Remote::make({{gate_->url()}}, kSecret, clock_);
    testing::RunTest::SetUp();
    spec_.shards = {{"a", 4'000}};
    open();
  }
  void TearDown() override {
    testing::RunTest::TearDown();
    gate_.reset();
  }
  std::unique_ptr<ParameterStore> store() override {
    return std::make_unique<testing::HookedStore>(*make_store(redis()->url, "j1"), hooks_);
  }

  // As an agent does; gives the status.
  static int push(const wire::Unit& unit, const std::string& body) {
    auto client = net::Client::make({.base_url = unit.hub->url});
    const auto path = fmt::format("/v1/hub/j1/updates/{}?offset=0", unit.hub->update);
    return client->send("PUT", path, {{"Authorization", "Bearer " + unit.hub->ticket}}, body)
        ->status;
  }
  static std::string packed(float delta) { return RunTest::packed(std::vector<float>(11, delta)); }
  wire::Unit asked(LeaseId worker) {
    auto unit = ask(worker);
    EXPECT_EQ(unit.kind, base::UnitKind::train);
    EXPECT_TRUE(unit.hub);
    return unit;
  }
  wire::UnitVerdict complete(LeaseId worker, const wire::Unit& unit) {
    clock_.advance(base::seconds(1));
    auto verdict = run_->complete(worker, unit.id, done_of(unit));
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *std::move(verdict) : wire::UnitVerdict{};
  }
  // The wages that were not asked about yet.
  std::vector<Wage> paid() {
    auto owed = run_->owed();
    if (!owed.empty()) run_->acknowledge(owed.back().number);
    return owed;
  }
  wire::UnitVerdict train_there(LeaseId worker, float delta) {
    const auto unit = asked(worker);
    EXPECT_EQ(push(unit, packed(delta)), 200);
    return complete(worker, unit);
  }
  void expect_values(float value) { EXPECT_EQ(values(), std::vector<float>(11, value)); }
  std::int64_t rejected() { return run_->view().by_worker.front().rejected; }

  testing::StoreHooks hooks_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Gate> gate_;
};

TEST_F(RunWithHubs, AnUpdateIsJudgedHereAndFoldedThere) {
  begin();
  const auto here = run_->view().bytes_in;  // The first parameters.
  (void)paid();
  const auto judged = train_there(ann_, 0.25f);
  EXPECT_TRUE(judged.accepted) << judged.reason;
  const auto wages = paid();
  ASSERT_EQ(wages.size(), 1u);
  EXPECT_EQ(wages[0].lease, ann_);
  expect_values(1.25f);
  EXPECT_TRUE(train_there(bob_, 0.25f).accepted);
  expect_values(1.5f);
  const auto view = run_->view();
  EXPECT_EQ(view.version, 2);
  EXPECT_EQ(view.useful_steps, 40);
  EXPECT_EQ(view.bytes_in, here);
  EXPECT_EQ(service_->stats().folds, 2);
  EXPECT_EQ(service_->stats().staged, 0);
}

TEST_F(RunWithHubs, TheHubReadsEachUpdateByTheCodecOfItsUnit) {
  constexpr std::size_t floats = 100'000;
  spec_.codec = "auto";
  open();
  EXPECT_TRUE(tell(ann_, ask(ann_), {.tensors = {{"w", {floats}}}}, std::vector<float>(floats, 1))
                  .accepted);
  // Ten seconds of work, and two for the upload of all of an update.
  wire::TimeSpent spent{.compute = base::seconds(10)};
  std::set<std::string> codecs;
  for (int i = 0; i < 8; ++i) {
    const auto unit = *run_->next(ann_, {}, spent);
    ASSERT_TRUE(unit.hub);
    codecs.insert(unit.codec);
    spent.upload = base::seconds(unit.codec == "fp32" ? 2 : 1);
    const auto codec = *train::make_codec(unit.codec);
    EXPECT_EQ(push(unit, train::pack(std::vector<float>(floats, 0.25F), *codec, {})), 200);
    const auto judged = complete(ann_, unit);
    EXPECT_TRUE(judged.accepted) << judged.reason;
  }
  EXPECT_EQ(codecs, (std::set<std::string>{"fp32", "fp16"}));
  const auto bytes = run_->pull(ann_, {-1, std::nullopt});
  std::vector<float> out(floats);
  ASSERT_TRUE(bytes && train::unpack_changed(bytes->joined(), out));
  EXPECT_NEAR(out.back(), 3, 1e-3);
}

TEST_F(RunWithHubs, WhatIsRefusedIsNotFoldedAndNotKept) {
  begin();
  EXPECT_FALSE(train_there(ann_, std::numeric_limits<float>::infinity()).accepted);
  clock_.advance(base::minutes(2));
  const auto unit = asked(ann_);
  EXPECT_EQ(push(unit, "not an update"), 200);
  EXPECT_FALSE(complete(ann_, unit).accepted);
  EXPECT_EQ(rejected(), 2);
  expect_values(1);
  EXPECT_EQ(service_->stats().folds, 0);
  EXPECT_EQ(service_->stats().staged, 0);
}

TEST_F(RunWithHubs, AWorkerThatCannotReachTheHubSendsToTheMarket) {
  begin();
  const auto unit = asked(ann_);
  EXPECT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 0.25f)).accepted);
  expect_values(1.25f);
  // Once may be the hub's fault; then it is sent there no more for a while.
  const auto again = asked(ann_);
  EXPECT_TRUE(tell(ann_, again, done_of(again), std::vector<float>(11, 0.25f)).accepted);
  EXPECT_FALSE(ask(ann_).hub);
  EXPECT_TRUE(ask(bob_).hub);
  clock_.advance(base::minutes(1));
  EXPECT_TRUE(ask(ann_).hub);
}

TEST_F(RunWithHubs, AnUpdateThatIsLostWithItsHubIsDoneAgainAndNobodyIsBlamed) {
  begin();
  const auto unit = asked(ann_);
  EXPECT_EQ(push(unit, packed(0.25f)), 200);
  gate_.reset();
  EXPECT_FALSE(complete(ann_, unit).accepted);
  EXPECT_EQ(rejected(), 0);
  expect_values(1);
  const auto next = ask(ann_);  // At once, and without the hub.
  EXPECT_EQ(next.kind, base::UnitKind::train);
  EXPECT_EQ(next.first_step, unit.first_step);
  EXPECT_FALSE(next.hub);
}

TEST_F(RunWithHubs, WhatCameTooLateIsNotKeptAndNobodyDropsWhatIsAnothers) {
  begin();
  const auto unit = asked(ann_);
  EXPECT_EQ(push(unit, packed(0.25f)), 200);
  EXPECT_FALSE(complete(bob_, unit).accepted);
  EXPECT_EQ(service_->stats().staged, 1);
  clock_.advance(base::hours(10));
  (void)ask(bob_);  // Takes back what has expired.
  EXPECT_FALSE(complete(ann_, unit).accepted);
  EXPECT_EQ(service_->stats().staged, 0);
}

TEST_F(RunWithHubs, AFoldThatNeverHappenedDoesNotCount) {
  begin();
  gate_->on_fold = [] { return Gate::Passes{.request = false}; };
  const auto unit = asked(ann_);
  EXPECT_EQ(push(unit, packed(0.25f)), 200);
  const auto judged = complete(ann_, unit);
  EXPECT_FALSE(judged.accepted);
  EXPECT_EQ(paid().size(), 1u);  // Of the first parameters.
  EXPECT_EQ(rejected(), 0);
  EXPECT_EQ(run_->view().useful_steps, 0);
  expect_values(1);
  // Should the request arrive after all, it changes nothing any more.
  auto client = net::Client::make({.base_url = gate_->url()});
  gate_->on_fold = [] { return Gate::Passes{}; };
  const auto late = client->send(
      "POST",
      fmt::format("/v1/hub/j1/fold?id={}&base=0&rule=downpour&rule.eta=1&workers=2", unit.id),
      {{"Authorization", "Bearer " + kSecret}}, packed(0.25f));
  ASSERT_EQ(late->status, 200);
  expect_values(1);
}

TEST_F(RunWithHubs, AFoldWhoseAnswerIsLostCountsOnce) {
  begin();
  gate_->on_fold = [] { return Gate::Passes{.answer = false}; };
  const auto judged = train_there(ann_, 0.25f);
  EXPECT_TRUE(judged.accepted) << judged.reason;
  EXPECT_EQ(paid().size(), 2u);  // With that of the first parameters.
  expect_values(1.25f);
  EXPECT_EQ(run_->view().version, 1);
  EXPECT_EQ(run_->view().useful_steps, 20);
}

TEST_F(RunWithHubs, WhatNobodyCanTellIsAskedAgainAndCountsOnce) {
  begin();
  for (const bool folds : {true, false}) {
    const auto steps = run_->view().useful_steps;
    hooks_.bar = [] { return testing::store_down(); };
    gate_->on_fold = [&] { return Gate::Passes{.request = folds, .answer = false}; };
    clock_.advance(base::minutes(1));  // The hub that failed before is used again.
    const auto unit = asked(ann_);
    EXPECT_EQ(push(unit, packed(0.25f)), 200);
    EXPECT_FALSE(run_->complete(ann_, unit.id, done_of(unit)));
    EXPECT_EQ(run_->view().useful_steps, steps);
    hooks_.bar = testing::StoreHooks::nothing;
    EXPECT_EQ(complete(ann_, unit).accepted, folds);
    EXPECT_EQ(run_->view().useful_steps, steps + (folds ? 20 : 0));
    EXPECT_EQ(rejected(), 0);
    expect_values(1.25f);
  }
}

TEST_F(RunWithHubs, AUnitBelongsToItsWorkerWhileItsUpdateIsFolded) {
  begin();
  const auto unit = asked(ann_);
  gate_->on_fold = [&] {
    clock_.advance(base::hours(10));  // Long past its deadline.
    EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
    EXPECT_FALSE(run_->complete(ann_, unit.id, {.error = "it says so"}));
    EXPECT_NE(ask(bob_).first_step, unit.first_step);
    run_->gone(ann_);
    return Gate::Passes{};
  };
  EXPECT_EQ(push(unit, packed(0.25f)), 200);
  EXPECT_TRUE(complete(ann_, unit).accepted);
  EXPECT_EQ(run_->view().useful_steps, 20);
  expect_values(1.25f);
}

TEST_F(RunWithHubs, AnUpdateOfAnEarlierLifeIsNotTakenForOneOfThis) {
  begin();
  const auto before = asked(ann_);
  EXPECT_EQ(push(before, packed(5)), 200);
  open();
  auto unit = asked(ann_);
  EXPECT_NE(unit.hub->update, before.hub->update);
  const auto judged = complete(ann_, unit);  // It sent nothing in this life.
  EXPECT_FALSE(judged.accepted);
  EXPECT_EQ(rejected(), 0);
  expect_values(1);
}

TEST_F(RunWithHubs, ARuleThatNeedsSeveralUpdatesAtOnceUsesNone) {
  spec_.rule = "fedbuff";
  spec_.rule_params = {{"buffer", 2}};
  std::filesystem::remove(folder_ / "pointer");
  open();
  begin();
  EXPECT_FALSE(ask(ann_).hub);
}

TEST_F(RunWithHubs, AReplicatedTrainingUsesNone) {
  spec_.replicate = 0.5;
  open();
  begin();
  EXPECT_FALSE(ask(ann_).hub);
}

TEST_F(RunWithHubs, TheWagesAreTheTimeOfWhatWasAcceptedHoweverHubsFail) {
  begin();
  auto accepted = base::seconds(1);  // Of the first parameters.
  const std::vector<Gate::Passes> gates = {
      {}, {.request = false}, {.answer = false}, {}, {.request = false, .answer = false}, {}};
  for (const auto& passes : gates) {
    gate_->on_fold = [&] { return passes; };
    const auto since = clock_.now();
    const auto unit = asked(ann_);
    EXPECT_EQ(push(unit, packed(0.25f)), 200);
    clock_.advance(base::microseconds(1'234'567));
    const auto verdict = complete(ann_, unit);
    EXPECT_EQ(verdict.accepted, passes.request) << verdict.reason;
    if (verdict.accepted) accepted = accepted + (clock_.now() - since);
    // Sent again, it gets the same answer, and no second wage.
    EXPECT_EQ(complete(ann_, unit).accepted, verdict.accepted);
    clock_.advance(base::minutes(1));  // A hub that failed is used again.
  }
  base::Duration owed;
  for (const auto& wage : run_->owed()) owed = owed + wage.worked;
  EXPECT_EQ(owed, accepted);
  EXPECT_EQ(run_->owed().size(), 5u);
}

TEST_F(RunWithHubs, ACheckThatTheStoreDelayedBeginsLater) {
  spec_.epochs = 1;
  spec_.shards = {{"a", 200}};
  std::filesystem::remove(folder_ / "pointer");
  open();
  begin();
  const auto unit = asked(ann_);
  EXPECT_EQ(push(unit, packed(0.25f)), 200);
  hooks_.take = [] { return testing::store_down(); };
  EXPECT_TRUE(complete(ann_, unit).accepted);
  EXPECT_EQ(run_->owed().size(), 2u);
  EXPECT_TRUE(run_->trouble());
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
  hooks_.take = testing::StoreHooks::nothing;
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);  // By which the check begins.
  EXPECT_FALSE(run_->trouble());
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::evaluate);
}

}  // namespace
}  // namespace souk::hub
