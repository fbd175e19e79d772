#include "server/http/api_reply.h"

#include <gtest/gtest.h>

#include "server/testing/stack.h"
#include "wire/api/system.h"

// Nobody waits for an answer that never comes: whoever drops a request, it is told to come back.

namespace souk::server {
namespace {

using testing::Answer;
using testing::operator_of;
using testing::Pigeon;
using testing::Stack;

void expect_come_back(const Answer& answer) {
  EXPECT_EQ(answer.status, 503) << answer;
  EXPECT_EQ(answer.type, "application/problem+json");
  EXPECT_EQ(net::find_header(answer.headers, "Retry-After"), "1");
  EXPECT_EQ(net::find_header(answer.headers, "Cache-Control"), "no-store");
}

// One request to a route of each kind whose work is not done on the I/O thread.
std::vector<std::future<Answer>> ask_each_kind(Stack& stack, const std::string& token) {
  const std::string chunk = "/v1/blobs/" + std::string(64, '0');
  std::vector<std::future<Answer>> out;
  out.push_back(stack.ask("GET", "/v1/me", token));
  out.push_back(stack.ask("POST", "/v1/feedback", token, R"({"category":"idea","text":"more"})"));
  out.push_back(stack.ask("GET", chunk, token));
  out.push_back(stack.ask("POST", "/v1/jobs/prepare", token, R"({"yaml":"run: x\n"})"));
  out.push_back(stack.ask("GET", "/v1/events", token));
  out.push_back(stack.ask("GET", "/readyz"));
  out.push_back(
      stack.ask("POST", "/v1/login", "", R"({"name":"boss","password":"a wrong guess"})"));
  return out;
}

// Holds a thread up until it is destroyed.
class Obstacle {
 public:
  auto task() {
    return [this, open = open_](auto&&...) {
      reached_.set_value();
      open.wait();
    };
  }
  void wait() { reached_.get_future().wait(); }
  ~Obstacle() { go_.set_value(); }

 private:
  std::promise<void> reached_, go_;
  std::shared_future<void> open_ = go_.get_future().share();
};

// Calls a route of a table of its own.
std::future<Answer> serve(Stack& stack, const Routes& routes) {
  auto pigeon = std::make_shared<Pigeon>();
  auto future = pigeon->future();
  net::Request http{.method = "GET", .target = "/x", .path = "/x"};
  auto match = routes.find(http);
  auto call = std::make_unique<ApiCall>(std::move(http), ApiReply(net::Reply(pigeon), false),
                                        match.route, std::move(match.params));
  match.route->serve(stack.context, std::move(call));
  return future;
}

TEST(ApiReply, ThatIsDroppedTellsToComeBack) {
  auto pigeon = std::make_shared<Pigeon>();
  auto answer = pigeon->future();
  {
    const ApiReply dropped(net::Reply(pigeon), false);
  }
  expect_come_back(answer.get());
}

TEST(ApiReply, IsAnsweredOnceHoweverOftenItIsHandedOn) {
  auto pigeon = std::make_shared<Pigeon>();  // A second answer would throw.
  auto answer = pigeon->future();
  {
    ApiReply first(net::Reply(pigeon), false);
    ApiReply second(std::move(first));
    second.send({.status = 204});
  }
  EXPECT_EQ(answer.get().status, 204);
}

TEST(DroppedCalls, AFullQueueOfTheCoreTellsEverybodyToComeBack) {
  Stack stack({.most_queued = 3});
  const auto token = operator_of(stack);
  Obstacle obstacle;
  ASSERT_TRUE(stack.core.post(obstacle.task()));
  obstacle.wait();
  while (stack.core.post([](Core::Turn&) {})) {
  }
  for (auto& answer : ask_each_kind(stack, token)) expect_come_back(answer.get());
  EXPECT_EQ(stack.ask("GET", "/healthz").get().status, 200);
}

TEST(DroppedCalls, AStoppedCoreTellsEverybodyToComeBack) {
  Stack stack;
  const auto token = operator_of(stack);
  stack.core.stop();
  for (auto& answer : ask_each_kind(stack, token)) expect_come_back(answer.get());
}

TEST(DroppedCalls, AFullPoolTellsToComeBackAndThenGoesOn) {
  Stack stack;
  const auto token = operator_of(stack);
  const std::string chunk = "/v1/blobs/" + std::string(64, '0');
  {
    Obstacle obstacle;
    ASSERT_TRUE(stack.files->post(obstacle.task()));
    obstacle.wait();
    while (stack.files->post([] {})) {
    }
    expect_come_back(stack.ask("GET", chunk, token).get());
  }
  std::promise<void> empty;
  ASSERT_TRUE(testing::eventually([&] { return stack.files->post([&] { empty.set_value(); }); }));
  empty.get_future().wait();
  EXPECT_EQ(stack.ask("GET", chunk, token).get().status, 404);
}

TEST(DroppedCalls, APoolThatStopsTellsThoseWhoWaitInItToComeBack) {
  Stack stack;
  const auto token = operator_of(stack);
  std::future<Answer> waiting;
  std::future<void> stopped;
  {
    Obstacle obstacle;
    ASSERT_TRUE(stack.files->post(obstacle.task()));
    obstacle.wait();
    waiting = stack.ask("GET", "/v1/blobs/" + std::string(64, '0'), token);
    stack.inside([](Core::Turn&) { return true; });  // The core has handed it on.
    stopped = std::async(std::launch::async, [&] { stack.files.reset(); });
    expect_come_back(waiting.get());  // Though the pool still works on something else.
  }
  stopped.wait();
}

TEST(DroppedCalls, AHandlerThatForgetsToAnswerTellsToComeBack) {
  Stack stack;
  Routes on_io, waiting;
  on_io.on_io<void, wire::Health>("GET", "/x", "forget", "Forgets", Access::everybody,
                                  [](ServerContext&, const ApiCallPtr&) {});
  expect_come_back(serve(stack, on_io).get());
  waiting.waiting<wire::Health>(
      "/x", "forget", "Forgets", Access::everybody,
      [](Context&) -> Result<Continuation> { return [](Core::Turn&, const ApiCallPtr&) {}; });
  expect_come_back(serve(stack, waiting).get());
}

}  // namespace
}  // namespace souk::server
