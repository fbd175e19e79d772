#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <optional>
#include <vector>

#include "net/client.h"
#include "net/server.h"
#include "net/testing/raw_socket.h"
#include "net/testing/serve.h"

// Every limit of ServerOptions is hit here, through real sockets.

namespace souk::net {
namespace {

using testing::eventually;
using testing::RawSocket;

std::unique_ptr<Server> serve_within(ServerOptions options, Handler handler = nullptr) {
  if (!handler)
    handler = [](Request request, Reply reply) {
      if (!request.header("Authorization").empty()) reply.vouch();
      reply.send({.body = request.body});
    };
  return testing::serve(std::move(handler), std::move(options));
}

constexpr std::string_view kMember = "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: x\r\n\r\n";

// A connection of somebody who proved who they are.
RawSocket member(const Server& server) {
  RawSocket raw(server.port());
  raw.send(kMember);
  EXPECT_TRUE(raw.read_response().starts_with("HTTP/1.1 200 "));
  return raw;
}

// A connection whose request was answered. A server that gives connections little time may close
// some before they have asked, on a busy machine: then another one asks.
RawSocket answered(const Server& server, std::string_view request) {
  std::optional<RawSocket> raw;
  EXPECT_TRUE(eventually([&] {
    raw.emplace(server.port());
    return raw->send(request) && raw->read_response().starts_with("HTTP/1.1 200 ");
  }));
  return *std::move(raw);
}

std::string ask(const Server& server, std::string_view request) {
  RawSocket raw(server.port());
  raw.send(request);
  return raw.read_to_end();
}

bool works(const Server& server) {
  return ask(server, "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
      .starts_with("HTTP/1.1 200 ");
}

TEST(ServerLimits, WhatIsNotHttpIsAnswered400AndClosed) {
  const auto server = serve_within({});
  const std::vector<std::string> bad = {
      "nonsense\r\n\r\n",
      "\x16\x03\x01 a TLS hello\r\n\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "GET /?a=%zz HTTP/1.1\r\nHost: x\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",
      // Requests that two servers could cut at different places.
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: "
      "chunked\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: "
      "4\r\n\r\n0\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
      // A header that goes on in the next line, none or two that say who is meant.
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n",
      "GET / HTTP/1.1\r\nA: b\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
  };
  for (const std::string& request : bad) {
    const std::string got = ask(*server, request);
    EXPECT_TRUE(got.starts_with("HTTP/1.1 400 ")) << request << got;
    EXPECT_NE(got.find("Connection: close"), got.npos);
  }
  EXPECT_EQ(server->counters().requests, 0U);
  EXPECT_TRUE(works(*server));
}

TEST(ServerLimits, LongHeadersAreAnswered431HoweverTheyAreSent) {
  const auto server = serve_within({.max_header_bytes = 1000});
  const std::string x(990, 'x');
  EXPECT_TRUE(
      ask(*server, "GET /" + x + x + " HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(ask(*server, "GET / HTTP/1.1\r\nHost: x\r\nA: " + x + x + "\r\n\r\n")
                  .starts_with("HTTP/1.1 431 "));
  std::string many = "GET / HTTP/1.1\r\nHost: x\r\n";
  for (int i = 0; i < 300; ++i) many += "A: b\r\n";
  EXPECT_TRUE(ask(*server, many + "\r\n").starts_with("HTTP/1.1 431 "));
  RawSocket dribble(server->port());
  dribble.send("GET / HTTP/1.1\r\nHost: x\r\n");
  for (int i = 0; i < 300; ++i) dribble.send("A: b\r\n");
  EXPECT_TRUE(dribble.read_to_end().starts_with("HTTP/1.1 431 "));
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(ask(*server, chunked + "1;" + x + x + x).starts_with("HTTP/1.1 4"));
  EXPECT_TRUE(ask(*server, chunked + "0\r\nA: " + x + x).starts_with("HTTP/1.1 431 "));
  EXPECT_TRUE(works(*server));
}

TEST(ServerLimits, LongBodiesAreAnswered413EvenWhileStillBeingSent) {
  const auto server = serve_within({.max_body_bytes = 1000});
  const std::string body(1001, 'x');
  EXPECT_TRUE(
      ask(*server,
          "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nConnection: close\r\n\r\n" +
              body.substr(1))
          .starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(ask(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n" + body)
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(ask(*server,
                  "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                  "1f4\r\n" +
                      body.substr(501) + "\r\n1f5\r\n" + body.substr(500))
                  .starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(
      ask(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n")
          .starts_with("HTTP/1.1 4"));
  // A client that does not wait for the answer must still be able to read it.
  auto client = *Client::make({.base_url = "http://127.0.0.1:" + std::to_string(server->port())});
  const auto got = client.send("POST", "/", {{"Expect", ""}}, std::string(500'000, 'x'));
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 413);
}

TEST(ServerLimits, ErrorsUseTheProductsFormat) {
  const auto server =
      serve_within({.max_body_bytes = 1, .error_body = [](int status, std::string_view) {
                      return Response{.content_type = "application/problem+json",
                                      .body = std::to_string(status)};
                    }});
  const std::string got = ask(*server, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nxx");
  EXPECT_NE(got.find("Content-Type: application/problem+json"), got.npos);
  EXPECT_TRUE(got.ends_with("\r\n\r\n413"));
}

TEST(ServerLimits, ConnectionsOverTheLimitAreTold503AndRoomReturns) {
  const auto server = serve_within({.max_connections = 2});
  {
    RawSocket a = member(*server), b = member(*server);
    ASSERT_TRUE(eventually([&] { return server->counters().open == 2; }));
    ASSERT_TRUE(eventually([&] { return server->counters().strangers == 0; }));
    const std::string got = ask(*server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(got.starts_with("HTTP/1.1 503 ")) << got;
    EXPECT_NE(got.find("Retry-After: "), got.npos);
    EXPECT_EQ(server->counters().refused, 1U);
    a.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    EXPECT_TRUE(a.read_response().starts_with("HTTP/1.1 200 ")) << "those inside are served";
  }
  ASSERT_TRUE(eventually([&] { return server->counters().open == 0; }));
  EXPECT_TRUE(works(*server));
}

TEST(ServerLimits, AFloodOverTheLimitIsCutRatherThanHeld) {
  const auto server = serve_within({.max_connections = 1});
  const RawSocket inside = member(*server);
  ASSERT_TRUE(eventually([&] { return server->counters().strangers == 0; }));
  std::vector<RawSocket> flood;
  for (int i = 0; i < 400; ++i) flood.emplace_back(server->port());
  ASSERT_TRUE(eventually([&] { return server->counters().accepted == 401; }));
  EXPECT_LE(server->counters().open, 257U);
  EXPECT_TRUE(eventually([&] { return server->counters().refused == 400; }));
}

TEST(ServerLimits, OneAddressCannotTakeAllConnections) {
  const auto server = serve_within({.max_connections_per_address = 1});
  const RawSocket a = member(*server);
  ASSERT_TRUE(eventually([&] { return server->counters().strangers == 0; }));
  EXPECT_TRUE(ask(*server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.1 503 "));
}

TEST(ServerLimits, SilentStrangersMakeRoomAndMembersStay) {
  const auto server = serve_within({.max_connections = 4});
  RawSocket inside = member(*server);
  ASSERT_TRUE(eventually([&] { return server->counters().strangers == 0; }));
  std::vector<RawSocket> flood;
  for (int i = 0; i < 100; ++i) {
    flood.emplace_back(server->port());
    if (i % 2 == 0) flood.back().send("POST / HTTP/1.1\r\nContent-Length: 9\r\n");
  }
  EXPECT_TRUE(eventually([&] { return works(*server); }));
  EXPECT_GT(server->counters().evicted, 0U);
  inside.send(kMember);
  EXPECT_TRUE(inside.read_response().starts_with("HTTP/1.1 200 "));
}

TEST(ServerLimits, AStrangerHasLessTimeThanAMember) {
  const auto server = serve_within(
      {.idle_timeout = base::minutes(10), .stranger_timeout = base::milliseconds(100)});
  RawSocket inside = answered(*server, kMember);
  RawSocket stranger(server->port());
  EXPECT_TRUE(stranger.ended());
  inside.send(kMember);
  EXPECT_TRUE(inside.read_response().starts_with("HTTP/1.1 200 "));
}

TEST(ServerLimits, AHeadMustArriveSoonAndABodyMayTakeLonger) {
  const auto server = serve_within({.stranger_timeout = base::minutes(10),
                                    .header_timeout = base::milliseconds(100),
                                    .read_timeout = base::minutes(10)});
  RawSocket slow(server->port());
  slow.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n");
  RawSocket silent(server->port());
  silent.send("GET / HTTP/1.1\r\nA");
  EXPECT_TRUE(silent.read_to_end().starts_with("HTTP/1.1 408 "));
  slow.send("ab");
  EXPECT_TRUE(slow.read_response().ends_with("\r\n\r\nab"));
}

// --- Bodies that are looked at before they are read ----------------------------------------------

TEST(ServerLimits, ABodyThatIsNotWantedIsNotRead) {
  ServerOptions options{.max_body_bytes = 1 << 20};
  options.screen = [](const Request& head, std::optional<std::uint64_t> bytes, BodyDecision d) {
    if (head.path == "/no") return d.refuse({.status = 401, .body = "no"});
    if (head.path == "/drop") return;
    d.read(bytes ? 1000 : 10);
  };
  const auto server = serve_within(std::move(options));
  const auto post = [&](std::string_view path, std::string_view rest) {
    return ask(*server,
               fmt::format("POST {} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{}", path, rest));
  };
  EXPECT_TRUE(post("/", "Content-Length: 2\r\n\r\nab").ends_with("\r\n\r\nab"));
  EXPECT_TRUE(post("/", "\r\n").starts_with("HTTP/1.1 200 ")) << "without a body nobody is asked";
  EXPECT_TRUE(post("/no", "Content-Length: 900000\r\n\r\n").starts_with("HTTP/1.1 401 "))
      << "before it was sent";
  EXPECT_TRUE(post("/", "Content-Length: 1001\r\n\r\n").starts_with("HTTP/1.1 413 "));
  EXPECT_TRUE(post("/drop", "Content-Length: 1\r\n\r\n").starts_with("HTTP/1.1 503 "));
  EXPECT_TRUE(
      post("/", "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n").ends_with("\r\n\r\nab"));
  EXPECT_TRUE(post("/", "Transfer-Encoding: chunked\r\n\r\nb\r\nabcdefghijk\r\n0\r\n\r\n")
                  .starts_with("HTTP/1.1 413 "));
}

TEST(ServerLimits, WhatADecisionHoldsGoesWithItsRequest) {
  auto share = std::make_shared<int>(1);
  const std::weak_ptr<int> held = share;
  std::promise<BodyDecision> asked;
  ServerOptions options;
  options.screen = [&](const Request&, std::optional<std::uint64_t>, BodyDecision d) {
    asked.set_value(std::move(d));
  };
  const auto server = serve_within(std::move(options), [&](Request request, Reply reply) {
    EXPECT_FALSE(held.expired());
    reply.send({.body = request.body});
  });
  RawSocket raw(server->port());
  raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nab");
  auto decision = asked.get_future().get();  // Decided later, on another thread.
  decision.read(3, std::move(share));
  raw.send("c");
  EXPECT_TRUE(raw.read_response().ends_with("\r\n\r\nabc"));
  EXPECT_TRUE(eventually([&] { return held.expired(); }));
}

TEST(ServerLimits, AnIdleConnectionIsClosedSilently) {
  const auto server = serve_within({.idle_timeout = base::milliseconds(50)});
  RawSocket fresh(server->port());
  EXPECT_TRUE(fresh.ended());
  RawSocket used = answered(*server, "GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(used.ended());
}

TEST(ServerLimits, ASlowlorisIsCutHoweverOftenItDribbles) {
  const auto server = serve_within({.read_timeout = base::milliseconds(100)});
  RawSocket silent(server->port());
  silent.send("GET / HTTP/1.1\r\nHost: x\r\nA");
  EXPECT_TRUE(silent.read_to_end().starts_with("HTTP/1.1 408 "));
  RawSocket body(server->port());
  body.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n12");
  EXPECT_TRUE(body.read_to_end().starts_with("HTTP/1.1 408 "));
  RawSocket dribbling(server->port());
  dribbling.send("GET / HTTP/1.1\r\nHost: x\r\nA: ");
  EXPECT_TRUE(eventually([&] { return server->counters().bytes_in > 0 && !dribbling.send("x"); }));
  EXPECT_EQ(server->counters().requests, 0U);
}

TEST(ServerLimits, APeerThatDoesNotReadItsAnswerIsCut) {
  const auto server = serve_within(
      {.write_timeout = base::milliseconds(100)},
      [](Request, Reply reply) { reply.send({.body = std::string(20'000'000, 'x')}); });
  RawSocket raw(server->port(), 4096);
  raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server->counters().requests == 1; }));
  EXPECT_TRUE(eventually([&] { return server->counters().open == 0; }));
}

TEST(ServerLimits, ABodyIsReadIntoItsPlaceAndWatchedAsItComes) {
  const auto into = std::make_shared<base::Buffer>(300'000);
  std::atomic<std::size_t> seen = 0;
  ServerOptions options;
  options.screen = [&](const Request&, std::optional<std::uint64_t> bytes, BodyDecision d) {
    if (bytes != into->size()) return d.read(1 << 20);
    d.read(1 << 20, {}, {into, [&](std::string_view so_far) {
                           EXPECT_EQ(so_far.data(), into->data());
                           EXPECT_GE(so_far.size(), seen);
                           seen = so_far.size();
                         }});
  };
  const auto server = serve_within(std::move(options), [&](Request request, Reply reply) {
    EXPECT_EQ(request.large, into);
    EXPECT_TRUE(request.body.empty());
    reply.send({.body = std::string(request.content().substr(299'990))});
  });
  RawSocket raw(server->port());
  const std::string body = std::string(299'999, 'a') + "z";
  raw.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n" + body.substr(0, 7));
  EXPECT_TRUE(eventually([&] { return seen == 7; }));
  raw.send(body.substr(7, 200'000));
  EXPECT_TRUE(eventually([&] { return seen > 100'000; }));  // Not of every packet.
  raw.send(body.substr(200'007));
  EXPECT_TRUE(raw.read_response().ends_with("\r\n\r\naaaaaaaaaz"));
  EXPECT_EQ(seen, body.size());
}

}  // namespace
}  // namespace souk::net
