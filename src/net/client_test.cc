#include "net/client.h"

#include <gtest/gtest.h>

#include <thread>

#include "net/server.h"

namespace souk::net {
namespace {

std::unique_ptr<Server> serve(Handler handler) { return *Server::start({}, std::move(handler)); }

ClientOptions to(const Server& server) {
  return {.base_url = "http://127.0.0.1:" + std::to_string(server.port()) + "/"};
}

TEST(Client, AServerThatIsNotThereIsNamedWithAHint) {
  auto server = serve([](Request, Reply reply) { reply.send({}); });
  const auto options = to(*server);
  server.reset();
  const auto got = Client::make(options)->send("GET", "/x", {{"Authorization", "secret-token"}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::unavailable);
  EXPECT_NE(got.error().message.find(options.base_url + "x"), std::string::npos)
      << got.error().message;
  EXPECT_EQ(got.error().message.find("secret-token"), std::string::npos);
  EXPECT_FALSE(got.error().hint.empty());
}

TEST(Client, AServerThatNeverAnswersCostsTheTimeoutOnly) {
  std::vector<Reply> kept;
  const auto server = serve([&](Request, Reply reply) { kept.push_back(std::move(reply)); });
  auto options = to(*server);
  options.total_timeout = base::milliseconds(100);
  const auto got = Client::make(options)->send("GET", "/");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::unavailable);
}

TEST(Client, AnEndlessAnswerIsAnErrorNotAllOurMemory) {
  const auto server =
      serve([](Request, Reply reply) { reply.send({.body = std::string(2000, 'x')}); });
  auto options = to(*server);
  options.max_response_bytes = 1000;
  const auto got = Client::make(options)->send("GET", "/");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::too_large);
}

TEST(Client, MethodsBodiesAndStatusesPassUnchanged) {
  const auto server = serve([](Request request, Reply reply) {
    reply.send({.status = 404,
                .headers = {{"Location", "/elsewhere"},
                            {"X-Agent", std::string(request.header("user-agent"))}},
                .body = request.method + request.body + std::string(request.header("X-Mine"))});
  });
  auto client = *Client::make(to(*server));
  for (const auto* method : {"GET", "POST", "PUT", "PATCH", "DELETE"}) {
    const auto got = client.send(method, "/", {{"X-Mine", "!"}}, "body");
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->status, 404);
    EXPECT_EQ(got->body, std::string(method) + "body!");
    EXPECT_EQ(got->header("X-Agent"), "souk");
    EXPECT_EQ(client.send(method, "/")->body, method);
  }
  EXPECT_EQ(client.send("HEAD", "/")->body, "");
  EXPECT_EQ(server->counters().accepted, 1U);
}

TEST(Client, ARefusedStreamIsReturnedWithItsBody) {
  const auto server =
      serve([](Request, Reply reply) { reply.send({.status = 403, .body = "why"}); });
  const auto got = Client::make(to(*server))->stream("/", {}, [](std::string_view) {
    ADD_FAILURE() << "not a chunk of the stream";
    return true;
  });
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 403);
  EXPECT_EQ(got->body, "why");
}

TEST(Client, UrlsThatCannotBeRightAreRefusedEarly) {
  for (const auto* url : {"", "market.example", "ftp://x", "file:///etc/passwd"})
    EXPECT_EQ(Client::make({.base_url = url}).error().code, base::Code::invalid) << url;
}

TEST(Client, LargeBodiesMoveBothWaysIntoMemoryThatIsUsedAgain) {
  const auto server = *Server::start({.max_body_bytes = 8 << 20}, [](Request request, Reply reply) {
    auto echo =
        std::make_shared<const std::string>(request.method + std::string(request.content()));
    Response out{.status = 201, .body = "<"};
    const std::string_view all(*echo), half = all.substr(0, all.size() / 2);
    out.shared = {{half, echo}, {all.substr(half.size()), echo}};
    reply.send(std::move(out));
  });
  auto client = *Client::make(to(*server));
  std::string memory, body(3'000'000, 'x');
  body.back() = 'y';
  const char* first = nullptr;
  for (int i = 0; i < 3; ++i) {
    auto got = client.move("POST", "/", {}, body, std::move(memory));
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->status, 201);
    EXPECT_EQ(got->body, "<POST" + body);
    if (i == 1) first = got->body.data();
    if (i == 2) EXPECT_EQ(got->body.data(), first);
    memory = std::move(got->body);
  }
  EXPECT_EQ(client.move("GET", "/", {}, {}, {})->body, "<GET");
}

TEST(Client, AMoveGoesOnAfterItsConnectionWasClosedForBeingIdle) {
  const auto server = *Server::start({.idle_timeout = base::milliseconds(30)},
                                     [](Request, Reply reply) { reply.send({.body = "k"}); });
  auto client = *Client::make(to(*server));
  EXPECT_EQ(client.move("GET", "/", {}, {}, {})->body, "k");
  while (server->counters().open > 0) std::this_thread::yield();
  const auto again = client.move("GET", "/", {}, {}, {});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->body, "k");
}

TEST(Client, AMoveEndsWithItsTimeoutItsLimitAndWhenCancelled) {
  std::vector<Reply> kept;
  const auto silent = serve([&](Request, Reply reply) { kept.push_back(std::move(reply)); });
  auto options = to(*silent);
  options.total_timeout = base::milliseconds(100);
  EXPECT_EQ(Client::make(options)->move("GET", "/", {}, {}, {}).error().code,
            base::Code::unavailable);
  auto cancelled = *Client::make(to(*silent));
  cancelled.cancel();
  EXPECT_FALSE(cancelled.move("GET", "/", {}, {}, {}));
  const auto server =
      serve([](Request, Reply reply) { reply.send({.body = std::string(2000, 'x')}); });
  auto small = to(*server);
  small.max_response_bytes = 1000;
  EXPECT_EQ(Client::make(small)->move("GET", "/", {}, {}, {}).error().code, base::Code::too_large);
}

}  // namespace
}  // namespace souk::net
