#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "net/client.h"
#include "net/server.h"
#include "net/sse.h"
#include "net/testing/raw_socket.h"

namespace souk::net {
namespace {

using testing::eventually;
using testing::RawSocket;

// A server of endless streams that collects them.
struct Broadcaster {
  explicit Broadcaster(ServerOptions options = {}) {
    auto started = Server::start(std::move(options), [this](Request, Reply reply) {
      Stream stream = reply.stream({.content_type = std::string(kEventStream)});
      stream.on_close([this] { ++closed; });
      const std::lock_guard lock(mutex);
      streams.push_back(std::move(stream));
    });
    EXPECT_TRUE(started) << started.error().message;
    server = *std::move(started);
  }
  // How many took it.
  std::size_t write(const std::shared_ptr<const std::string>& data) {
    const std::lock_guard lock(mutex);
    std::size_t taken = 0;
    for (const Stream& stream : streams) taken += stream.write(data) ? 1 : 0;
    return taken;
  }
  bool has(std::size_t n) {
    return eventually([&] {
      const std::lock_guard lock(mutex);
      return streams.size() == n;
    });
  }
  RawSocket subscribe(int receive_buffer = 0) {
    RawSocket raw(server->port(), receive_buffer);
    raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    return raw;
  }

  std::mutex mutex;
  std::vector<Stream> streams;
  std::atomic<int> closed = 0;
  std::unique_ptr<Server> server;
};

std::shared_ptr<const std::string> buffer(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(Stream, AThousandSubscribersGetAnEventFromOneBuffer) {
  Broadcaster b({.threads = 2});
  std::vector<RawSocket> peers;
  for (int i = 0; i < 1000; ++i) peers.push_back(b.subscribe());
  ASSERT_TRUE(b.has(1000));
  const auto event = buffer(format_event({"1", "tick", "hello"}));
  EXPECT_EQ(b.write(event), 1000U);
  for (auto& peer : peers) {
    const std::string got = peer.read_until("hello\n\n\r\n");
    EXPECT_NE(got.find("Transfer-Encoding: chunked"), got.npos);
    EXPECT_TRUE(got.ends_with("\r\n\r\n1f\r\nid: 1\nevent: tick\ndata: hello\n\n\r\n")) << got;
  }
  EXPECT_TRUE(eventually([&] { return event.use_count() == 1; })) << "nothing kept or copied";
}

TEST(Stream, ASlowConsumerIsDroppedAndOthersMissNothing) {
  Broadcaster b({.stream_queue_bytes = 1'000'000});
  RawSocket slow = b.subscribe(4096);
  RawSocket good = b.subscribe();
  ASSERT_TRUE(b.has(2));
  const auto block = buffer(std::string(100'000, 'x'));
  int blocks = 0;
  std::atomic<std::size_t> received = 0;
  std::jthread reader([&] {
    while (true) {
      const auto n = good.read_bytes(100'000).size();
      if (n == 0) break;
      received += n;
    }
  });
  while (b.write(block) == 2 && ++blocks < 1000)
    ASSERT_TRUE(eventually([&] { return received + 100'000 >= 100'000U * blocks; }));
  EXPECT_LT(blocks, 1000) << "the slow one was never cut";
  EXPECT_TRUE(eventually([&] { return b.closed == 1; }));
  EXPECT_EQ(b.write(block), 1U) << "the good one stays";
  b.server->stop(base::seconds(10));
  reader.join();
  EXPECT_GT(received, 100'000U * (blocks + 2));
}

TEST(Stream, AQueueOfTooManySmallWritesIsCutToo) {
  Broadcaster b({.stream_queue_bytes = 100'000'000, .stream_queue_count = 10});
  RawSocket slow = b.subscribe(4096);
  ASSERT_TRUE(b.has(1));
  const auto block = buffer(std::string(1'000'000, 'x'));
  int written = 0;
  while (b.write(block) == 1 && ++written < 100) {
  }
  EXPECT_LT(written, 100);
  EXPECT_TRUE(eventually([&] { return b.closed == 1 && b.server->counters().open == 0; }));
}

TEST(Stream, AConsumerThatStopsReadingIsCutByTimeout) {
  Broadcaster b({.stream_queue_bytes = 100'000'000, .write_timeout = base::milliseconds(100)});
  RawSocket slow = b.subscribe(4096);
  RawSocket quiet = b.subscribe();
  ASSERT_TRUE(b.has(2));
  b.streams[0].write(buffer(std::string(20'000'000, 'x')));
  EXPECT_TRUE(eventually([&] { return b.closed == 1; }));
  EXPECT_EQ(b.write(buffer("x")), 1U) << "a stream with nothing to say has no timeout";
}

TEST(Stream, ASubscriberThatLeavesIsForgotten) {
  Broadcaster b;
  {
    RawSocket raw = b.subscribe();
    ASSERT_TRUE(b.has(1));
  }
  EXPECT_TRUE(eventually([&] { return b.closed == 1; }));
  EXPECT_EQ(b.write(buffer("x")), 0U);
}

TEST(Stream, ClosingSendsWhatIsQueuedAndKeepsTheConnection) {
  Broadcaster b;
  RawSocket raw = b.subscribe();
  ASSERT_TRUE(b.has(1));
  EXPECT_TRUE(b.streams[0].write(buffer("one")));
  EXPECT_TRUE(b.streams[0].write(buffer("")));
  EXPECT_TRUE(b.streams[0].write(buffer("two")));
  b.streams[0].close();
  EXPECT_FALSE(b.streams[0].write(buffer("late")));
  EXPECT_TRUE(raw.read_until("0\r\n\r\n").ends_with("\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return b.closed == 1; }));
  raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(b.has(2));
  EXPECT_EQ(b.server->counters().accepted, 1U);
}

TEST(Stream, OldClientsAndHeadRequestsAreUnderstood) {
  Broadcaster b;
  RawSocket head(b.server->port());
  head.send("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(head.read_to_end().ends_with("\r\n\r\n"));
  EXPECT_TRUE(eventually([&] { return b.closed == 1; }));
  RawSocket old(b.server->port());
  old.send("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(b.has(2));
  b.streams[1].write(buffer("plain"));
  b.streams[1].close();
  EXPECT_TRUE(old.read_to_end().ends_with("\r\n\r\nplain"));
}

TEST(Stream, ManyWritersAndADyingConnectionDoNotRace) {
  Broadcaster b({.threads = 2});
  std::vector<RawSocket> peers;
  for (int i = 0; i < 20; ++i) peers.push_back(b.subscribe());
  ASSERT_TRUE(b.has(20));
  const auto line = buffer("x\n");
  {
    std::vector<std::jthread> writers;
    for (int t = 0; t < 4; ++t)
      writers.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) b.streams[(t + i) % 20].write(line);
      });
    while (peers.size() > 10) peers.pop_back();
  }
  EXPECT_TRUE(eventually([&] { return b.closed == 10; }));
}

TEST(Stream, TheClientReadsEventsUntilItHasSeenEnough) {
  Broadcaster b;
  auto client = *Client::make({.base_url = "http://127.0.0.1:" + std::to_string(b.server->port())});
  std::jthread writer([&] {
    if (!b.has(1)) return;
    for (int i = 0; b.write(buffer(format_event({std::to_string(i), "n", "x"}))) == 1 && i < 1000;)
      ++i;
  });
  EventParser parser;
  int seen = 0;
  const auto got = client.stream("/", {}, [&](std::string_view chunk) {
    return parser.feed(chunk, [&](const Event&) { return ++seen < 3; }).value_or(false);
  });
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->status, 200);
  EXPECT_EQ(seen, 3);
}

TEST(Stream, ACancelledClientStopsWaitingForAQuietStream) {
  Broadcaster b;
  auto client = *Client::make({.base_url = "http://127.0.0.1:" + std::to_string(b.server->port())});
  std::jthread canceller([&] {
    b.has(1);
    client.cancel();
  });
  EXPECT_FALSE(client.stream("/", {}, [](std::string_view) { return true; }));
}

TEST(Stream, TellsWhenAllHasLeftSoThatASlowReaderHoldsOnePieceOnly) {
  Broadcaster b;
  RawSocket slow = b.subscribe(4096);
  ASSERT_TRUE(b.has(1));
  const Stream stream = b.streams[0];
  std::atomic<int> sent = 0;
  stream.when_sent([&] { ++sent; });
  EXPECT_EQ(sent, 1) << "nothing was written";
  int written = 0;
  // Until the system's buffers are full.
  while (sent == written + 1) {
    ++written;
    ASSERT_TRUE(stream.write(buffer(std::string(900'000, 'x'))));
    stream.when_sent([&] { ++sent; });
    const bool left = base::testing::eventually([&] { return sent == written + 1; },
                                                std::chrono::milliseconds(300));
    if (!left) break;
    ASSERT_LT(written, 100);
  }
  const auto got = slow.read_bytes(static_cast<std::size_t>(written) * 900'000);
  EXPECT_TRUE(eventually([&] { return sent == written + 1; }));
  stream.write(buffer("the end"));
  stream.close();
  EXPECT_TRUE(slow.read_until("0\r\n\r\n").ends_with("the end\r\n0\r\n\r\n"));
}

TEST(Stream, ABodyThatIsCutIsSeenNotToBeWhole) {
  Broadcaster b;
  RawSocket peer = b.subscribe();
  ASSERT_TRUE(b.has(1));
  b.streams[0].write(buffer("half"));
  EXPECT_TRUE(peer.read_until("half\r\n").ends_with("4\r\nhalf\r\n"));
  std::atomic<int> sent = 0;
  b.streams[0].cut();
  b.streams[0].when_sent([&] { ++sent; });
  EXPECT_EQ(peer.read_to_end().find("0\r\n\r\n"), std::string::npos);
  EXPECT_TRUE(eventually([&] { return sent == 1; }));
  EXPECT_FALSE(b.streams[0].open());
}

}  // namespace
}  // namespace souk::net
