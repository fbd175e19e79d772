#include "net/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

#include "net/client.h"
#include "net/testing/raw_socket.h"
#include "net/testing/serve.h"

namespace souk::net {
namespace {

using testing::eventually;
using testing::RawSocket;
using testing::serve;

// Answers with what it understood.
void echo(Request request, Reply reply) {
  std::string query;
  for (const auto& [name, value] : request.query) query += name + "=" + value + ";";
  reply.send({.content_type = "text/plain",
              .headers = {{"X-Path", request.path}, {"X-Query", query}},
              .body = request.method + ":" + request.body});
}

Client client_of(const Server& server) {
  return *Client::make({.base_url = "http://127.0.0.1:" + std::to_string(server.port())});
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

TEST(Server, RequestsArriveWholeAndAnswersComeBack) {
  const auto server = serve(echo);
  auto client = client_of(*server);
  for (const std::string& body : {std::string(), std::string("x"), std::string(900'000, 'y')}) {
    const auto got = client.send("PUT", "/a%20b/c?q=1%202&r=+&q=3", {{"X-Other", "1"}}, body);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->status, 200);
    EXPECT_EQ(got->content_type, "text/plain");
    EXPECT_EQ(got->header("x-path"), "/a%20b/c");
    EXPECT_EQ(got->header("x-query"), "q=1 2;r= ;q=3;");
    EXPECT_EQ(got->body, "PUT:" + body);
  }
  const ServerCounters counters = server->counters();
  EXPECT_EQ(counters.accepted, 1U) << "one connection is kept alive";
  EXPECT_EQ(counters.requests, 3U);
  EXPECT_GT(counters.bytes_in, 900'000U);
  // The peer may have read them before the server's thread has counted them.
  EXPECT_TRUE(eventually([&] { return server->counters().bytes_out > 900'000; }));
}

TEST(Server, ListensOnIpv6AndKnowsLoopback) {
  std::atomic<bool> loopback = false;
  auto server = Server::start({.address = "::1"}, [&](Request request, Reply reply) {
    loopback = request.peer.loopback && request.peer.address == "::1";
    reply.send({});
  });
  if (!server) GTEST_SKIP() << "no IPv6 here: " << server.error().message;
  auto client = *Client::make({.base_url = "http://[::1]:" + std::to_string((*server)->port())});
  EXPECT_TRUE(client.send("GET", "/"));
  EXPECT_TRUE(loopback);
}

TEST(Server, APortInUseAndBadOptionsAreNamed) {
  const auto server = serve(echo);
  const auto second = Server::start({.port = server->port()}, echo);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, base::Code::unavailable);
  EXPECT_TRUE(contains(second.error().message, std::to_string(server->port())));
  EXPECT_EQ(Server::start({.address = "nowhere"}, echo).error().code, base::Code::invalid);
  EXPECT_EQ(Server::start({.threads = 0}, echo).error().code, base::Code::invalid);
  EXPECT_EQ(Server::start({.idle_timeout = base::seconds(0)}, echo).error().code,
            base::Code::invalid);
}

TEST(Server, PipelinedRequestsAreAnsweredInOrder) {
  // Half of the answers come from other threads, so order is not an accident.
  std::vector<std::jthread> threads;
  const auto server = serve([&](Request request, Reply reply) {
    if (request.body.back() % 2 == 0) return echo(std::move(request), std::move(reply));
    threads.emplace_back([request, reply = std::move(reply)]() mutable {
      echo(std::move(request), std::move(reply));
    });
  });
  RawSocket raw(server->port());
  std::string all;
  for (int i = 0; i < 50; ++i)
    all += "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n" + std::to_string(10 + i);
  raw.send(all);
  for (int i = 0; i < 50; ++i)
    EXPECT_TRUE(raw.read_response().ends_with("POST:" + std::to_string(10 + i))) << i;
}

TEST(Server, ARequestCutAnywhereIsUnderstood) {
  const auto server = serve(echo);
  const std::string request =
      "POST /p?q=1 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
      "5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nX-Path: /forged\r\n\r\n";
  RawSocket raw(server->port());
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    raw.send(std::string_view(request).substr(0, cut));
    raw.send(std::string_view(request).substr(cut));
    const std::string got = raw.read_response();
    EXPECT_TRUE(got.ends_with("POST:hello world")) << cut << got;
    EXPECT_TRUE(contains(got, "X-Path: /p\r\n"));
  }
}

TEST(Server, HeadGetsTheHeadersOnly) {
  const auto server = serve(echo);
  RawSocket raw(server->port());
  raw.send(
      "HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string all = raw.read_to_end();
  EXPECT_TRUE(contains(all, "Content-Length: 5\r\n")) << all;
  EXPECT_FALSE(contains(all, "HEAD:"));
  EXPECT_TRUE(all.ends_with("GET:"));
}

TEST(Server, AnswersWithoutBodySayNothingOfOne) {
  const auto server = serve([](Request, Reply reply) { reply.send({.status = 204}); });
  RawSocket raw(server->port());
  raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_EQ(raw.read_until("\r\n\r\n"), "HTTP/1.1 204 No Content\r\n\r\n");
}

TEST(Server, AClientThatAsksBeforeUploadingIsToldToGoOn) {
  const auto server = serve(echo, {.max_body_bytes = 10});
  RawSocket raw(server->port());
  raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(raw.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  raw.send("abc");
  EXPECT_TRUE(raw.read_response().ends_with("POST:abc"));
  raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_TRUE(raw.read_response().starts_with("HTTP/1.1 413 "));
}

TEST(Server, OldClientsGetTheirConnectionClosed) {
  const auto server = serve(echo);
  RawSocket plain(server->port());
  plain.send("GET / HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(plain.read_to_end().ends_with("GET:"));
  RawSocket keeping(server->port());
  for (int i = 0; i < 2; ++i) {
    keeping.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_TRUE(contains(keeping.read_response(), "Connection: keep-alive"));
  }
}

TEST(Server, AHeaderValueCannotForgeAnotherHeader) {
  const auto server = serve([](Request, Reply reply) {
    reply.send({.headers = {{"Location", "/x\r\nSet-Cookie: forged=1"}}});
  });
  const auto got = client_of(*server).send("GET", "/");
  ASSERT_TRUE(got);
  EXPECT_EQ(got->header("Set-Cookie"), "");
}

TEST(Server, RepliesFromOtherThreadsArrive) {
  std::vector<std::jthread> threads;
  std::mutex mutex;
  const auto server = serve(
      [&](Request request, Reply reply) {
        const std::lock_guard lock(mutex);
        threads.emplace_back([request, reply = std::move(reply)]() mutable {
          echo(std::move(request), std::move(reply));
        });
      },
      {.threads = 2});
  std::vector<RawSocket> peers;
  for (int i = 0; i < 50; ++i) {
    peers.emplace_back(server->port());
    peers.back().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  }
  for (auto& peer : peers) EXPECT_TRUE(peer.read_response().ends_with("GET:"));
}

// A handler may hold a lock while it answers somebody else's waiting request.
TEST(Server, AnsweringAnotherRequestNeverEntersTheHandlerAgain) {
  std::mutex mutex;
  std::vector<Reply> waiting;
  bool inside = false;
  std::atomic<bool> entered_again = false;
  const auto server = serve([&](Request request, Reply reply) {
    const std::lock_guard lock(mutex);
    entered_again = entered_again || inside;
    inside = true;
    if (request.path == "/wait") {
      waiting.push_back(std::move(reply));
    } else {
      for (Reply& r : waiting) r.send({.body = "woken"});
      waiting.clear();
      reply.send({});
    }
    inside = false;
  });
  RawSocket patient(server->port());
  patient.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\nGET /next HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server->counters().requests == 1; }));
  EXPECT_TRUE(client_of(*server).send("GET", "/go"));
  EXPECT_TRUE(patient.read_response().ends_with("woken"));
  EXPECT_TRUE(patient.read_response().starts_with("HTTP/1.1 200 "));
  EXPECT_FALSE(entered_again);
}

TEST(Server, AHandlerThatThrowsOrForgetsCostsOneAnswerNotTheServer) {
  const auto server = serve(
      [](Request request, Reply reply) {
        if (request.path == "/throw") throw std::runtime_error("secret detail");
        if (request.path == "/forget") return;
        echo(std::move(request), std::move(reply));
      },
      {.error_body = [](int status, std::string_view message) {
        return Response{.content_type = "application/problem+json",
                        .body = std::to_string(status) + " " + std::string(message)};
      }});
  auto client = client_of(*server);
  for (const auto* path : {"/throw", "/forget"}) {
    const auto got = client.send("GET", path);
    ASSERT_TRUE(got);
    EXPECT_EQ(got->status, 500);
    EXPECT_EQ(got->content_type, "application/problem+json");
    EXPECT_TRUE(got->body.starts_with("500 "));
    EXPECT_FALSE(contains(got->body, "secret"));
  }
  EXPECT_EQ(client.send("GET", "/")->status, 200);
  EXPECT_EQ(server->counters().accepted, 1U) << "the connection survives";
}

TEST(Server, StopLetsARequestInFlightFinish) {
  std::promise<Reply> promise;
  auto server = serve([&](Request, Reply reply) { promise.set_value(std::move(reply)); });
  RawSocket idle(server->port());
  RawSocket busy(server->port());
  busy.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  Reply reply = promise.get_future().get();
  std::jthread stopper([&] { server->stop(base::seconds(20)); });
  EXPECT_TRUE(idle.ended());  // So stopping has begun.
  reply.send({.body = "late"});
  const std::string got = busy.read_to_end();
  EXPECT_TRUE(got.ends_with("late")) << got;
  EXPECT_TRUE(contains(got, "Connection: close"));
  stopper.join();
  EXPECT_EQ(server->counters().open, 0U);
}

TEST(Server, StopEndsWhenTheGraceDoesAndLateAnswersAreHarmless) {
  std::vector<Reply> replies;
  Stream stream;
  std::atomic<int> closed = 0;
  {
    auto server = serve([&](Request request, Reply reply) {
      if (request.path == "/stream") {
        stream = reply.stream({});
        stream.on_close([&] { ++closed; });
      } else {
        replies.push_back(std::move(reply));
      }
    });
    RawSocket a(server->port());
    RawSocket b(server->port());
    RawSocket c(server->port());
    a.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    b.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    c.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n");
    ASSERT_TRUE(eventually([&] { return server->counters().requests == 3; }));
    server->stop(base::milliseconds(50));
    EXPECT_TRUE(a.ended());
    EXPECT_TRUE(c.read_to_end().ends_with("\r\n0\r\n\r\n")) << "streams end properly";
  }
  EXPECT_EQ(closed, 1);
  EXPECT_FALSE(stream.write(std::make_shared<std::string>("x")));
  stream.on_close([&] { ++closed; });
  EXPECT_EQ(closed, 2) << "already closed: told at once";
  replies[0].send({});
  const Stream late = replies[1].stream({});
  EXPECT_FALSE(late.open());
}

}  // namespace
}  // namespace souk::net
