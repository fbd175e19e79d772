#include "hub/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <limits>
#include <thread>

#include "hub/testing/servers.h"
#include "net/client.h"
#include "train/pull.h"
#include "train/testing/updates.h"

namespace souk::hub {
namespace {

using ::testing::HasSubstr;
using testing::wait_for;

const std::string kSecret = "a secret of the test's own";

struct Hub {
  std::unique_ptr<Service> service;

  explicit Hub(ServiceOptions options = {}) {
    if (options.store.empty()) options.store = "memory";
    options.secret = kSecret;
    auto started = Service::start(std::move(options));
    CHECK(started.has_value());
    service = *std::move(started);
  }
  net::Client client() const {
    return *net::Client::make({.base_url = fmt::format("http://127.0.0.1:{}", service->port())});
  }
};

net::Response call(net::Client& client, std::string_view method, std::string_view path,
                   std::string_view body = {}, const std::string& secret = kSecret) {
  auto answer = client.send(method, path, {{"Authorization", "Bearer " + secret}}, body);
  EXPECT_TRUE(answer) << answer.error().message;
  return answer ? *std::move(answer) : net::Response{.status = 0};
}

std::string bytes_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}
std::string packed(const std::vector<float>& values) {
  return train::pack(values, train::testing::fp32(), {});
}
std::vector<float> pulled(net::Client& client, std::string_view job, std::size_t size) {
  const auto answer = call(client, "GET", fmt::format("/v1/hub/{}/parameters", job));
  std::vector<float> out(size);
  EXPECT_TRUE(train::unpack_changed(answer.body, out));
  return out;
}
void begin(net::Client& client, std::string_view job, const std::vector<float>& values) {
  const auto path = fmt::format("/v1/hub/{}/parameters?rule=downpour", job);
  ASSERT_EQ(call(client, "PUT", path, bytes_of(values)).status, 200);
}
std::string fold_path(std::int64_t id, std::string_view more = "") {
  return fmt::format("/v1/hub/j1/fold?id={}&base=0&rule=downpour&rule.eta=1{}", id, more);
}

TEST(Service, FoldsAnUpdateOnceAndHandsOutWhatChanged) {
  const Hub hub;
  auto client = hub.client();
  begin(client, "j1", {1, 2, 3});
  for (int i = 0; i < 2; ++i) {
    const auto answer = call(client, "POST", fold_path(7), packed({1, 1, 1}));
    EXPECT_EQ(answer.body, R"({"version":1})");
  }
  EXPECT_THAT(pulled(client, "j1", 3), ::testing::ElementsAre(2, 3, 4));
  const auto unchanged = call(client, "GET", "/v1/hub/j1/parameters?since=1");
  EXPECT_EQ(unchanged.body.size(), 24U);  // A head without blocks.
}

TEST(Service, LetsNobodyInWithoutTheSecret) {
  const Hub hub;
  auto client = hub.client();
  for (const auto& secret : {std::string(), std::string("wrong"), kSecret + "x"})
    EXPECT_EQ(call(client, "GET", "/v1/hub/j1/parameters", {}, secret).status, 401);
  EXPECT_EQ(client.send("GET", "/v1/hub/j1/parameters")->status, 401);
}

TEST(Service, SaysWhatIsWrongWithARequest) {
  const Hub hub({.most_body_bytes = 1'000});
  auto client = hub.client();
  EXPECT_EQ(call(client, "POST", fold_path(1), packed({1})).status, 404);  // Not begun.
  begin(client, "j1", {1, 2, 3});
  const auto inf = std::numeric_limits<float>::infinity();
  struct Case {
    std::string path, body;
    int status;
    std::string said;
  };
  for (const auto& [path, body, status, said] : std::vector<Case>{
           {fold_path(0), packed({1, 1, 1}), 400, "id is '0'"},
           {fold_path(1), packed({1, 1}), 400, "has 2 numbers"},
           {fold_path(1, "&weight=-1"), packed({1, 1, 1}), 400, "weight is '-1'"},
           {fold_path(1), "junk", 400, "refused"},
           {fold_path(1), packed({1, inf, 1}), 400, "not finite"},
           {"/v1/hub/j1/fold?id=1&base=5&rule=downpour", packed({1, 1, 1}), 409, "no version 5"},
           {"/v1/hub/j1/fold?id=1&base=0&rule=downpor", packed({1, 1, 1}), 400, "downpor"},
           {"/v1/hub/j1/fold?id=1&base=0&rule=krum", packed({1, 1, 1}), 400, "krum"},
           {"/v1/hub/j1/fold?id=1&base=0&rule=delayed-nesterov", packed({1, 1, 1}), 409, "planes"},
           {"/v1/hub/j1/elsewhere", "", 404, "elsewhere"},
           {"/v1/hub/a%20b/fold", "", 400, "name of a job"},
           {fold_path(1), std::string(2'000, 'x'), 413, "1000"}}) {
    const auto answer = call(client, "POST", path, body);
    EXPECT_EQ(answer.status, status) << path << ' ' << answer.body;
    EXPECT_THAT(answer.body, HasSubstr(said)) << path;
  }
}

TEST(Service, LosesNothingOfSeveralClients) {
  const Hub hub;
  auto client = hub.client();
  begin(client, "j1", {0, 0});
  {
    std::vector<std::jthread> running;
    running.reserve(4);
    for (int t = 0; t < 4; ++t)
      running.emplace_back([&, t] {
        auto mine = hub.client();
        for (int i = 1; i <= 50; ++i)
          EXPECT_EQ(call(mine, "POST", fold_path(t * 50 + i), packed({1, 2})).status, 200);
      });
  }
  EXPECT_THAT(pulled(client, "j1", 2), ::testing::ElementsAre(200, 400));
}

TEST(Service, SharesOneStoreWithAnother) {
  const auto redis = testing::start_redis();
  if (!redis) GTEST_SKIP() << "no redis-server on this computer";
  const Hub one({.store = redis->url}), other({.store = redis->url});
  auto first = one.client(), second = other.client();
  begin(first, "j1", {0, 0});
  EXPECT_EQ(call(first, "POST", fold_path(1), packed({1, 2})).body, R"({"version":1})");
  EXPECT_EQ(call(second, "POST", fold_path(1), packed({1, 2})).body, R"({"version":1})");
  EXPECT_EQ(call(second, "POST", fold_path(2), packed({1, 2})).body, R"({"version":2})");
  EXPECT_THAT(pulled(first, "j1", 2), ::testing::ElementsAre(2, 4));
}

TEST(Service, NamesAStoreThatIsNotThere) {
  const auto url = fmt::format("redis://127.0.0.1:{}/0", testing::free_port());
  const auto started = Service::start({.store = url, .secret = kSecret});
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr(url));
}

TEST(Service, RefusesAShortSecretAndAnUnknownStore) {
  EXPECT_FALSE(Service::start({.store = "memory", .secret = "short"}));
  EXPECT_FALSE(Service::start({.store = "nowhere", .secret = kSecret}));
}

TEST(Workers, GrowWhileWorkWaitsAndShrinkWhenItDoesNot) {
  std::latch gate(1);  // Outlives those who wait at it.
  std::atomic<int> done = 0;
  Workers workers({.least = 1,
                   .most = 3,
                   .wait = base::milliseconds(1),
                   .idle = base::milliseconds(1),
                   .most_queued = 10});
  EXPECT_EQ(workers.running(), 1);
  for (int i = 0; i < 6; ++i)
    EXPECT_TRUE(workers.post([&] {
      gate.wait();
      ++done;
    }));
  EXPECT_TRUE(wait_for([&] { return workers.running() == 3; }));
  gate.count_down();
  EXPECT_TRUE(wait_for([&] { return done == 6; }));
  EXPECT_TRUE(wait_for([&] { return workers.running() == 1; }));
}

TEST(Workers, RefuseMoreThanMayWait) {
  std::latch gate(1), begun(1);  // Outlive those who wait at them.
  Workers workers({.least = 1, .most = 1, .most_queued = 2, .most_queued_bytes = 100});
  EXPECT_TRUE(workers.post([&] {
    begun.count_down();
    gate.wait();
  }));
  begun.wait();
  EXPECT_FALSE(workers.post([] {}, 101));
  EXPECT_TRUE(workers.post([] {}, 100));
  EXPECT_TRUE(workers.post([] {}));
  EXPECT_FALSE(workers.post([] {}));
  gate.count_down();
}

}  // namespace
}  // namespace souk::hub
