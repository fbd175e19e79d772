#include "server/http/front_door.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

#include "server/http/responses.h"
#include "server/testing/stack.h"

namespace souk::server {
namespace {

using testing::Answer;
using ::testing::HasSubstr;
using testing::Market;
using testing::Stack;

std::string first_account(Stack& stack, const std::string& name = "ann") {
  return stack.ask("POST", "/v1/accounts", "", Market::sign_up_body(name), "127.0.0.1")
      .get()
      .at("token");
}

// --- What requests cost --------------------------------------------------------------------------

net::Request scan(const std::string& token, std::string where) {
  net::Request out{.method = "GET", .target = "/v1/offers", .path = "/v1/offers"};
  if (!where.empty()) out.query = {{"where", std::move(where)}};
  out.headers = {{"Authorization", "Bearer " + token}};
  out.peer.address = "203.0.113.9";
  return out;
}

TEST(Costs, AScanOfManyOffersCountsAsManyRequests) {
  Stack stack({}, {.requests_per_second = 1'000});  // 2,000 at once; the clock stands still.
  const auto ann = first_account(stack), bob = first_account(stack, "bob");
  int posted = 0;
  for (int m = 0; m < 8; ++m) {
    const auto machine =
        stack
            .ask("POST", "/v1/machines", ann,
                 fmt::format(R"({{"name":"m{}","spec":{{"cores":64,"memory_mib":262144}}}})", m))
            .get()
            .at("id");
    const auto offer =
        fmt::format(R"({{"machine":"{}","class":"c1","slots":1,"price":0.5}})", machine);
    for (int i = 0; i < 64; ++i)
      posted += stack.ask("POST", "/v1/offers", ann, offer).get().status == 201 ? 1 : 0;
  }
  ASSERT_EQ(posted, 512);
  int answered = 0;
  while (stack.ask(scan(bob, "price>1000")).get().status == 200 && answered < 2'000) ++answered;
  // Each is one request, and 512 views of offers count as ten. What is left pays for the last.
  EXPECT_EQ(answered, 1 + 2'000 / (1 + 512 / 50));
  const auto refused = stack.ask(scan(bob, "")).get();
  EXPECT_EQ(refused.status, 429);
  EXPECT_EQ(stack.ask(scan(ann, "")).get().status, 200) << "others are not held up";
  stack.clock.move(base::seconds(1));
  EXPECT_EQ(stack.ask(scan(bob, "price>1000")).get().status, 200);
}

TEST(Costs, AListOfOnesOwnJobsLooksAtNobodyElses) {
  Stack stack({}, {.requests_per_second = 1'000});
  const auto ann = first_account(stack), bob = first_account(stack, "bob");
  stack.ask("POST", "/v1/accounts/ann/grant", ann, R"({"amount":1000})").get();
  const std::string_view job =
      R"({"class":"c1","workers":{"min":1,"max":1},"limit":0.1,"budget":1})";
  for (int i = 0; i < 100; ++i)
    ASSERT_EQ(stack.ask("POST", "/v1/jobs", ann, std::string(job)).get().status, 201);
  const auto mine = stack.ask("GET", "/v1/jobs", ann).get();
  EXPECT_EQ(mine.count(), 50u);
  EXPECT_EQ(mine.at("items.0.id"), "j100");
  EXPECT_EQ(mine.at("next"), "j51");
  EXPECT_EQ(stack.ask("GET", "/v1/jobs", bob).get().count(), 0u);
  const auto indexed = stack.inside([](Core::Turn& t) {
    const auto& s = t.state();
    return s.index.jobs_of[s.find_account("ann")->id.value].size();
  });
  EXPECT_EQ(indexed, 100u);
}

// --- Bodies --------------------------------------------------------------------------------------

struct Screened {
  std::size_t limit = 0;
  int status = 0;
};

Screened screen(Stack& stack, std::string method, const std::string& path, const std::string& token,
                std::optional<std::uint64_t> bytes) {
  net::Request head{.method = std::move(method), .target = path, .path = path};
  if (!token.empty()) head.headers = {{"Authorization", "Bearer " + token}};
  std::promise<Screened> promise;
  auto future = promise.get_future();
  stack.door.screen(
      head, bytes,
      net::BodyDecision(
          [&](std::size_t limit, const std::shared_ptr<void>&, std::optional<net::Response> answer,
              const net::BodyPlace&) { promise.set_value({limit, answer ? answer->status : 0}); }));
  return future.get();
}

TEST(Bodies, AreReadOnlyFromThoseWhoMaySendThem) {
  Stack stack;
  const auto ann = first_account(stack);
  const auto blob = "/v1/blobs/" + std::string(64, '0');
  const struct {
    std::string_view method;
    std::string path, token;
    std::optional<std::uint64_t> bytes;
    int status;
  } rows[] = {
      {"PUT", blob, ann, 4 << 20, 0},
      {"PUT", blob, ann, std::nullopt, 0},
      {"PUT", blob, ann, 5 << 20, 413},
      {"PUT", blob, "", 1, 401},
      {"PUT", blob, "souk_x", 4 << 20, 401},
      {"PUT", blob, "souk_x", 100, 0},  // So little is read, and refused then.
      {"POST", "/v1/jobs", ann, 1 << 20, 0},
      {"POST", "/v1/jobs", ann, (1 << 20) + 1, 413},
      {"POST", "/v1/jobs", "souk_x", 1 << 20, 401},
      {"POST", "/v1/login", "", 16 << 10, 0},
      {"POST", "/v1/login", "", std::nullopt, 0},
      {"POST", "/v1/login", "", (16 << 10) + 1, 413},
      {"POST", "/v1/login", ann, (16 << 10) + 1, 413},
      {"POST", "/v1/nothing", ann, 1, 404},
      {"POST", "/nothing", ann, 1, 405},
  };
  for (const auto& row : rows)
    EXPECT_EQ(screen(stack, std::string(row.method), row.path, row.token, row.bytes).status,
              row.status)
        << row.method << ' ' << row.path << ' ' << row.bytes.value_or(0);
  EXPECT_EQ(screen(stack, "POST", "/v1/login", "", std::nullopt).limit, 16u << 10);
}

TEST(Bodies, OneAccountHasOnlySoManyOnTheirWay) {
  Stack stack;
  const auto ann = first_account(stack);
  ASSERT_TRUE(stack.services.budgets.set({"request-bytes=6M"}));
  const auto blob = "/v1/blobs/" + std::string(64, '0');
  net::Request head{.method = "PUT", .target = blob, .path = blob};
  head.headers = {{"Authorization", "Bearer " + ann}};
  std::promise<std::shared_ptr<void>> first;
  stack.door.screen(
      head, 4 << 20,
      net::BodyDecision([&](std::size_t, std::shared_ptr<void> held,
                            const std::optional<net::Response>&,
                            const net::BodyPlace&) { first.set_value(std::move(held)); }));
  auto held = first.get_future().get();
  EXPECT_EQ(screen(stack, "PUT", blob, ann, 4 << 20).status, 429);
  held.reset();
  EXPECT_EQ(screen(stack, "PUT", blob, ann, 4 << 20).status, 0);
}

// --- Who asks ------------------------------------------------------------------------------------

TEST(Proxies, OnlyTrustedOnesSayWhoAsks) {
  HttpOptions options{.requests_per_second = 1};  // Two at once.
  options.trusted_proxies = {*net::AddressRange::parse("10.0.0.0/8")};
  Stack stack({}, std::move(options));
  const auto ask = [&](std::string peer, std::string forwarded) {
    net::Request http{.method = "GET", .target = "/healthz", .path = "/healthz"};
    http.headers = {{"X-Forwarded-For", std::move(forwarded)}};
    http.peer.address = std::move(peer);
    return stack.ask(std::move(http)).get().status;
  };
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask("10.0.0.1", "203.0.113.9"), 200);
  EXPECT_EQ(ask("10.0.0.2", "203.0.113.9"), 429);
  EXPECT_EQ(ask("10.0.0.1", "203.0.113.10"), 200);
  EXPECT_EQ(ask("10.0.0.1", "2001:db8::1"), 200);
  EXPECT_EQ(ask("10.0.0.1", "2001:db8::2"), 200);
  EXPECT_EQ(ask("10.0.0.1", "2001:db8::3"), 429) << "a /64 is one address";
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ask("198.51.100.1", fmt::format("192.0.2.{}", i)), 200);
  EXPECT_EQ(ask("198.51.100.1", "192.0.2.77"), 429) << "no proxy of ours";
}

TEST(FirstAccount, IsNotForAPageOfAnotherSiteInABrowserHere) {
  const auto meant = [](std::string host, std::string origin = "", std::string more = "") {
    net::Request http;
    http.peer = {"127.0.0.1", true};
    http.headers = {{"Host", std::move(host)}};
    if (!origin.empty()) http.headers.emplace_back("Origin", std::move(origin));
    if (!more.empty()) http.headers.emplace_back("X-Forwarded-For", std::move(more));
    return is_meant_locally(http);
  };
  EXPECT_TRUE(meant("localhost:7070"));
  EXPECT_TRUE(meant("127.0.0.1:7070", "http://127.0.0.1:7070"));
  EXPECT_TRUE(meant("[::1]:7070"));
  EXPECT_TRUE(meant("[::1]"));
  EXPECT_FALSE(meant("evil.example:7070"));
  EXPECT_FALSE(meant("127.0.0.1.evil.example"));
  EXPECT_FALSE(meant("localhost:7070", "http://evil.example"));
  EXPECT_FALSE(meant("localhost:7070", "null"));
  EXPECT_FALSE(meant("localhost:7070", "", "203.0.113.9"));
}

TEST(Problems, NameNoFilesOfTheServer) {
  EXPECT_EQ(without_paths("cannot open '/var/lib/souk/logs/j1': No space left"),
            "cannot open '(a file of the server)': No space left");
  EXPECT_EQ(without_paths("read /srv/market/blobs/ab/cd failed"),
            "read (a file of the server) failed");
  EXPECT_EQ(without_paths("its workers may have: /v1/jobs/j1/files lists it, 1/2 done"),
            "its workers may have: /v1/jobs/j1/files lists it, 1/2 done");
  const auto answer = problem(base::Error{base::Code::unavailable, "cannot write /data/x", "try"});
  EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("/data/x")));
}

}  // namespace
}  // namespace souk::server
