#include "hub/service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/clock.h"
#include "base/testing/servers.h"
#include "hub/measured.h"
#include "hub/testing/names.h"
#include "hub/ticket.h"
#include "net/client.h"
#include "net/testing/raw_socket.h"
#include "train/pull.h"
#include "train/testing/updates.h"

namespace souk::hub {
namespace {

using ::testing::HasSubstr;
using testing::kSecret;

struct RunningHub {
  std::unique_ptr<Service> service;

  explicit RunningHub(ServiceOptions options = {}) {
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
  const RunningHub hub;
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
  const RunningHub hub;
  auto client = hub.client();
  for (const auto& secret : {std::string(), std::string("wrong"), kSecret + "x"})
    EXPECT_EQ(call(client, "GET", "/v1/hub/j1/parameters", {}, secret).status, 401);
  EXPECT_EQ(client.send("GET", "/v1/hub/j1/parameters")->status, 401);
}

TEST(Service, SaysWhatIsWrongWithARequest) {
  const RunningHub hub({.most_body_bytes = 1'000});
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
  const RunningHub hub;
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

std::string ticket(std::string_view job, std::string_view update,
                   base::Duration left = base::hours(1)) {
  return sign({std::string(job), std::string(update), base::SystemClock().now() + left},
              key_of(kSecret));
}

TEST(Service, FoldsAnUpdateThatCameInPiecesOnce) {
  const RunningHub hub;
  auto client = hub.client();
  begin(client, "j1", {0, 0});
  const auto body = packed({3, 4});
  const auto mine = ticket("j1", "u7");
  const std::string update = "/v1/hub/j1/updates/u7";
  EXPECT_EQ(call(client, "PUT", update + "?offset=0", body.substr(0, 5), mine).body,
            R"({"size":5})");
  EXPECT_EQ(call(client, "PUT", update + "?offset=5", body.substr(5), mine).body,
            fmt::format("{{\"size\":{}}}", body.size()));
  const auto measured = unpack_measured(call(client, "GET", update + "?codec=fp32&size=2").body);
  ASSERT_TRUE(measured);
  EXPECT_NEAR(measured->stats.norm, 5, 1e-4);
  EXPECT_EQ(call(client, "POST", fold_path(7, "&staged=u7")).body, R"({"version":1})");
  EXPECT_THAT(pulled(client, "j1", 2), ::testing::ElementsAre(3, 4));
  // It is forgotten with that; and what is sent again under its id changes nothing.
  EXPECT_EQ(call(client, "POST", fold_path(7, "&staged=u7")).status, 404);
  EXPECT_EQ(call(client, "POST", fold_path(7), body).body, R"({"version":1})");
  const auto stats = hub.service->stats();
  EXPECT_EQ(stats.pieces, 2);
  EXPECT_EQ(stats.pushed_bytes, std::ssize(body));
  EXPECT_EQ(stats.staged, 0);
  EXPECT_THAT(call(client, "GET", "/v1/hub/stats").body, HasSubstr(R"("pieces":2)"));
}

TEST(Service, ATicketIsGoodForOneJobAndOneUpdateAndNothingElse) {
  const RunningHub hub;
  auto client = hub.client();
  begin(client, "j1", {1, 2});
  begin(client, "j2", {1, 2});
  const auto mine = ticket("j1", "u7");
  EXPECT_EQ(call(client, "GET", "/v1/hub/j1/parameters", {}, mine).status, 200);
  EXPECT_EQ(call(client, "PUT", "/v1/hub/j1/updates/u7", "x", mine).status, 200);
  struct Case {
    std::string method, path;
  };
  for (const auto& [method, path] :
       {Case{"GET", "/v1/hub/j2/parameters"}, Case{"PUT", "/v1/hub/j1/parameters?rule=downpour"},
        Case{"PUT", "/v1/hub/j1/updates/u8"}, Case{"PUT", "/v1/hub/j2/updates/u7"},
        Case{"GET", "/v1/hub/j1/updates/u7?size=2"}, Case{"DELETE", "/v1/hub/j1/updates/u7"},
        Case{"POST", fold_path(1)}, Case{"POST", fold_path(1, "&staged=u7")},
        Case{"GET", "/v1/hub/stats"}, Case{"GET", "/v1/hub/j1/elsewhere"}})
    EXPECT_EQ(call(client, method, path, packed({1, 1}), mine).status, 403) << method << path;
  const auto late = ticket("j1", "u7", base::seconds(-1));
  EXPECT_EQ(call(client, "GET", "/v1/hub/j1/parameters", {}, late).status, 401);
  auto forged = mine;
  forged.replace(0, 2, "j2");
  EXPECT_EQ(call(client, "GET", "/v1/hub/j2/parameters", {}, forged).status, 401);
  EXPECT_THAT(pulled(client, "j1", 2), ::testing::ElementsAre(1, 2));
}

TEST(Service, SaysWhatIsWrongWithAnUpdateThatWasSentAhead) {
  const RunningHub hub({.most_body_bytes = 100, .staging = {.most_in_all = 150, .most = 2}});
  auto client = hub.client();
  begin(client, "j1", {0, 0});
  const auto put = [&](std::string_view name, std::string_view query, const std::string& body) {
    return call(client, "PUT", fmt::format("/v1/hub/j1/updates/{}?{}", name, query), body).status;
  };
  EXPECT_EQ(put("a", "offset=1", "gap"), 409);
  EXPECT_EQ(put("a", "offset=x", "x"), 400);
  EXPECT_EQ(put(std::string(65, 'a'), "", "x"), 404);
  EXPECT_EQ(put("a", "", std::string(60, 'x')), 200);
  EXPECT_EQ(put("a", "offset=60", std::string(60, 'x')), 413);  // Of one.
  EXPECT_EQ(put("b", "", std::string(95, 'x')), 429);           // Of all.
  EXPECT_EQ(put("b", "", "x"), 200);
  EXPECT_EQ(put("c", "", "x"), 429);                                          // Too many.
  EXPECT_EQ(call(client, "GET", "/v1/hub/j1/updates/a?size=2").status, 400);  // Not an update.
  EXPECT_EQ(call(client, "GET", "/v1/hub/j1/updates/a").status, 400);         // Of what size?
  EXPECT_EQ(call(client, "GET", "/v1/hub/j1/updates/d?size=2").status, 404);
  EXPECT_EQ(call(client, "DELETE", "/v1/hub/j1/updates/a").status, 200);
  EXPECT_EQ(put("c", "", "x"), 200);
  EXPECT_EQ(call(client, "POST", fold_path(1, "&generation=other"), packed({1, 1})).status, 409);
}

TEST(Service, SharesOneStoreWithAnother) {
  if (!base::testing::has_redis()) GTEST_SKIP() << "no redis-server on this computer";
  const auto redis = base::testing::start_redis();
  ASSERT_TRUE(redis);
  const RunningHub one({.store = redis->url}), other({.store = redis->url});
  auto first = one.client(), second = other.client();
  begin(first, "j1", {0, 0});
  EXPECT_EQ(call(first, "POST", fold_path(1), packed({1, 2})).body, R"({"version":1})");
  EXPECT_EQ(call(second, "POST", fold_path(1), packed({1, 2})).body, R"({"version":1})");
  EXPECT_EQ(call(second, "POST", fold_path(2), packed({1, 2})).body, R"({"version":2})");
  EXPECT_THAT(pulled(first, "j1", 2), ::testing::ElementsAre(2, 4));
}

TEST(Service, NamesAStoreThatIsNotThere) {
  const base::testing::Port port;
  const auto url = fmt::format("redis://127.0.0.1:{}/0", port.number());
  const auto started = Service::start({.store = url, .secret = kSecret});
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr(url));
}

TEST(Service, RefusesAShortSecretAndAnUnknownStore) {
  EXPECT_FALSE(Service::start({.store = "memory", .secret = "short"}));
  EXPECT_FALSE(Service::start({.store = "nowhere", .secret = kSecret}));
}

// Three blocks, so that it is read, measured and folded while it arrives.
constexpr std::size_t kLarge = 2 * train::kBlock + 100;

std::vector<float> large(float value) { return std::vector<float>(kLarge, value); }

TEST(Service, AnUpdateThatIsFoldedWhileItArrivesGivesWhatAFoldOfAllGives) {
  const RunningHub hub;
  auto client = hub.client();
  begin(client, "j1", large(1));
  // 2 has the id of 1: it is folded once.
  for (const auto id : {1, 2, 2, 3})
    EXPECT_EQ(call(client, "POST", fold_path(id), packed(large(2))).status, 200);
  EXPECT_THAT(pulled(client, "j1", kLarge), ::testing::Each(7));
  begin(client, "j1", large(0));
  EXPECT_EQ(call(client, "POST", fold_path(1), packed(large(3))).body, R"({"version":1})");
  EXPECT_THAT(pulled(client, "j1", kLarge), ::testing::Each(3));
}

TEST(Service, NothingOfALargeUpdateIsFoldedWhenItsEndIsBadOrMissing) {
  const RunningHub hub;
  auto client = hub.client();
  begin(client, "j1", large(1));
  auto bad = large(2);
  bad.back() = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(call(client, "POST", fold_path(1), packed(bad)).body, HasSubstr("not finite"));
  EXPECT_EQ(call(client, "POST", fold_path(1), packed(large(2)) + "x").status, 400);
  {
    net::testing::RawSocket raw(hub.service->port());
    const auto body = packed(large(2));
    raw.send(
        fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n"
                    "Content-Length: {}\r\n\r\n",
                    fold_path(1), kSecret, body.size()));
    raw.send(body.substr(0, body.size() - 1));
  }
  EXPECT_THAT(pulled(client, "j1", kLarge), ::testing::Each(1));
  EXPECT_EQ(call(client, "POST", fold_path(1), packed(large(2))).body, R"({"version":1})");
  EXPECT_THAT(pulled(client, "j1", kLarge), ::testing::Each(3));
}

TEST(Service, LargeUpdatesThatArriveTogetherAreAllFolded) {
  const RunningHub hub({.threads = 2});
  auto client = hub.client();
  begin(client, "j1", large(0));
  constexpr int workers = 4, each = 5;
  {
    std::vector<std::jthread> threads;
    for (int w = 0; w < workers; ++w)
      threads.emplace_back([&, w] {
        auto mine = hub.client();
        for (int i = 0; i < each; ++i) {
          EXPECT_EQ(call(mine, "POST", fold_path(1 + w * each + i), packed(large(1))).status, 200);
          (void)pulled(mine, "j1", kLarge);
        }
      });
  }
  EXPECT_THAT(pulled(client, "j1", kLarge), ::testing::Each(workers * each));
}

TEST(Service, BodiesOfStrangersAreNotReadAndNoMoreThanThereIsRoomFor) {
  const RunningHub hub({.most_arriving = 1 << 20});
  net::testing::RawSocket raw(hub.service->port());
  raw.send("POST /v1/hub/j1/fold HTTP/1.1\r\nHost: x\r\nContent-Length: 900000\r\n\r\n");
  EXPECT_TRUE(raw.read_response().starts_with("HTTP/1.1 401 "));  // Before any of it was sent.
  auto client = hub.client();
  const auto answer =
      call(client, "PUT", "/v1/hub/j1/parameters?rule=downpour", bytes_of(large(1)));
  EXPECT_EQ(answer.status, 429);
  EXPECT_THAT(answer.body, HasSubstr("hub-bytes"));
}

}  // namespace
}  // namespace souk::hub
