#include "net/line.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "net/dial.h"
#include "net/server.h"
#include "net/testing/raw_socket.h"
#include "net/tls.h"

// Connections that leave HTTP, from both ends, in the clear and through TLS.

namespace souk::net {
namespace {

// Reads until `size` bytes are there, or the line has ended.
std::string hears(Line& line, std::size_t size) {
  std::string out;
  std::array<char, 65'536> piece;
  while (out.size() < size) {
    const auto io = line.read(std::span(piece).first(std::min(piece.size(), size - out.size())));
    if (io.outcome == Line::Outcome::closed) break;
    if (io.outcome == Line::Outcome::done) {
      out.append(piece.data(), io.bytes);
      continue;
    }
    pollfd event{line.fd(),
                 static_cast<short>(io.outcome == Line::Outcome::want_write ? POLLOUT : POLLIN), 0};
    if (::poll(&event, 1, 60'000) <= 0) break;
  }
  return out;
}

void say(Line& line, std::string_view text) {
  while (!text.empty()) {
    const iovec piece{const_cast<char*>(text.data()), text.size()};
    const auto io = line.write({&piece, 1});
    ASSERT_NE(io.outcome, Line::Outcome::closed);
    if (io.outcome == Line::Outcome::done) {
      text.remove_prefix(io.bytes);
      continue;
    }
    pollfd event{line.fd(),
                 static_cast<short>(io.outcome == Line::Outcome::want_read ? POLLIN : POLLOUT), 0};
    ASSERT_GT(::poll(&event, 1, 60'000), 0);
  }
}

// A server that hands every connection that asks for /line over to the test.
class Handing : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    ServerOptions options;
    if (GetParam()) {
      const std::array names{std::string("127.0.0.1")};
      const auto own = self_signed(names, 2).value();
      options.tls = ServerTls{own.certificate_pem, own.key_pem};
      client_.pinned_sha256 = fingerprint(own.certificate_pem).value();
    }
    server_ = Server::start(options, [this](Request request, Reply reply) {
                if (request.path != "/line")
                  return reply.send({.status = 404, .content_type = "text/plain", .body = "none"});
                reply.hand_over({.status = 101, .headers = {{"Upgrade", "souk"}}},
                                [this](std::unique_ptr<Line> line) {
                                  const std::lock_guard lock(mutex_);
                                  line_ = std::move(line);
                                  ++taken_;
                                  there_.notify_all();
                                });
              }).value();
    client_.base_url = std::string(GetParam() ? "https" : "http") +
                       "://127.0.0.1:" + std::to_string(server_->port());
  }
  std::unique_ptr<Line> taken() {
    std::unique_lock lock(mutex_);
    there_.wait_for(lock, testing::kPatience, [this] { return taken_ > 0; });
    return std::move(line_);
  }

  ClientOptions client_;
  std::mutex mutex_;
  std::condition_variable there_;
  std::unique_ptr<Line> line_;
  int taken_ = 0;
  std::unique_ptr<Server> server_;
};
INSTANTIATE_TEST_SUITE_P(Over, Handing, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "tls" : "tcp"; });

TEST_P(Handing, BytesGoBothWaysAfterTheLastAnswer) {
  auto dialled = dial(client_, "/line", {{"Authorization", "Bearer x"}});
  ASSERT_TRUE(dialled) << dialled.error().message;
  ASSERT_TRUE(dialled->line);
  auto theirs = taken();
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->plain(), !GetParam());
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 991) large[i] = static_cast<char>('a' + i % 26);
  std::thread writer([&] { say(*dialled->line, large); });
  EXPECT_EQ(hears(*theirs, large.size()), large);
  writer.join();
  say(*theirs, "answer");
  EXPECT_EQ(hears(*dialled->line, 6), "answer");
  EXPECT_EQ(server_->counters().open, 1u) << "it is counted while it lives";
  theirs->finish();
  EXPECT_EQ(hears(*dialled->line, 1), "");
  theirs.reset();
  EXPECT_EQ(server_->counters().open, 0u);
}

TEST_P(Handing, AnOrdinaryAnswerIsOne) {
  const auto dialled = dial(client_, "/other", {});
  ASSERT_TRUE(dialled);
  EXPECT_FALSE(dialled->line);
  EXPECT_EQ(dialled->answer.status, 404);
  EXPECT_EQ(dialled->answer.body, "none");
}

TEST_P(Handing, ALineOutlivesTheServersStop) {
  auto dialled = dial(client_, "/line", {});
  ASSERT_TRUE(dialled && dialled->line);
  auto theirs = taken();
  ASSERT_TRUE(theirs);
  server_->stop(base::Duration());
  say(*theirs, "still");
  EXPECT_EQ(hears(*dialled->line, 5), "still");
}

TEST(HandingOver, WhatWasSentTooEarlyIsNotLostAndOldHttpIsRefused) {
  std::mutex mutex;
  std::condition_variable there;
  std::unique_ptr<Line> line;
  int calls = 0;
  const auto server = Server::start({}, [&](Request, Reply reply) {
                        reply.hand_over({.status = 101}, [&](std::unique_ptr<Line> l) {
                          const std::lock_guard lock(mutex);
                          line = std::move(l);
                          ++calls;
                          there.notify_all();
                        });
                      }).value();
  testing::RawSocket early(server->port());
  early.send("GET /line HTTP/1.1\r\nHost: x\r\n\r\nearly");
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(there.wait_for(lock, testing::kPatience, [&] { return calls == 1; }));
  }
  ASSERT_TRUE(line);
  EXPECT_EQ(hears(*line, 5), "early");
  testing::RawSocket old(server->port());
  old.send("GET /line HTTP/1.0\r\n\r\n");
  {
    std::unique_lock lock(mutex);
    ASSERT_TRUE(there.wait_for(lock, testing::kPatience, [&] { return calls == 2; }));
  }
  EXPECT_FALSE(line);
}

}  // namespace
}  // namespace souk::net
