#include "relay/relay.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"
#include "base/testing/eventually.h"
#include "relay/joiner.h"

namespace souk::relay {
namespace {

using base::Fd;

Fd connect_to(std::uint16_t port) {
  Fd fd(::socket(AF_INET, SOCK_STREAM, 0));
  const timeval limit{60, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  return fd;
}

// So many bytes, or all that comes until the other side closes.
std::string read_some(const Fd& fd, std::size_t most) {
  std::string out, piece(65536, '\0');
  while (out.size() < most) {
    const auto n = ::recv(fd.get(), piece.data(), std::min(piece.size(), most - out.size()), 0);
    EXPECT_FALSE(n < 0 && errno == EAGAIN) << "nothing came, and it was not closed";
    if (n <= 0) break;
    out.append(piece, 0, static_cast<std::size_t>(n));
  }
  return out;
}
std::string read_all(const Fd& fd) { return read_some(fd, std::string::npos); }

void send_text(const Fd& fd, std::string_view text) {
  ASSERT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(text.size()));
}

// Until so much came; it is left to be read.
void wait_for(const Fd& fd, const std::string& text) {
  std::string got(text.size(), '\0');
  ASSERT_EQ(::recv(fd.get(), got.data(), got.size(), MSG_PEEK | MSG_WAITALL), std::ssize(text));
  EXPECT_EQ(got, text);
}

// A server that sends back what it got, once the client has ended.
class Echo {
 public:
  Echo() : listener_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(listener_.get(), 16), 0);
    socklen_t size = sizeof address;
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port = ntohs(address.sin_port);
    thread_ = std::thread([this] {
      while (true) {
        const Fd fd(::accept(listener_.get(), nullptr, nullptr));
        if (!fd) return;
        const auto all = read_all(fd);
        ::send(fd.get(), all.data(), all.size(), MSG_NOSIGNAL);
      }
    });
  }
  ~Echo() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::uint16_t port = 0;

 private:
  Fd listener_;
  std::thread thread_;
};

class RelayTest : public ::testing::Test {
 protected:
  void begin(RelayOptions options = {}) {
    options.host = "127.0.0.1";
    options.port = echo_.port;
    auto made = Relay::open(options);
    ASSERT_TRUE(made) << made.error().message;
    relay_ = *std::move(made);
    thread_ = std::thread([this] { relay_->run(); });
  }
  void TearDown() override {
    relay_->stop();
    thread_.join();
  }
  std::string ask(std::string_view text) {
    const auto fd = connect_to(relay_->port());
    send_text(fd, text);
    ::shutdown(fd.get(), SHUT_WR);
    return read_all(fd);
  }

  Echo echo_;
  std::unique_ptr<Relay> relay_;
  std::thread thread_;
};

TEST_F(RelayTest, CarriesBytesBothWays) {
  begin();
  std::string large(3'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 997) large[i] = static_cast<char>('a' + i % 26);
  const auto fd = connect_to(relay_->port());
  std::thread writer([&] {
    std::string_view left = large;
    while (!left.empty()) {
      const auto n = ::send(fd.get(), left.data(), left.size(), MSG_NOSIGNAL);
      ASSERT_GT(n, 0);
      left.remove_prefix(static_cast<std::size_t>(n));
    }
    ::shutdown(fd.get(), SHUT_WR);
  });
  const auto back = read_all(fd);
  writer.join();
  EXPECT_EQ(back, large);
}

TEST_F(RelayTest, ConnectLeadsToTheOneServer) {
  begin();
  const auto said =
      ask("CONNECT 127.0.0.1:" + std::to_string(echo_.port) + " HTTP/1.1\r\nHost: x\r\n\r\nhello");
  EXPECT_EQ(said, "HTTP/1.1 200 Connection established\r\n\r\nhello");
}

TEST_F(RelayTest, IsNoOpenProxy) {
  begin();
  for (const auto* target :
       {"example.com:443", "127.0.0.1:1", "127.0.0.1", "", "169.254.169.254:80"})
    EXPECT_TRUE(ask(std::string("CONNECT ") + target + " HTTP/1.1\r\n\r\nhello")
                    .starts_with("HTTP/1.1 403"))
        << target;
  // What looks like a request to a proxy goes to the one server as it is.
  EXPECT_EQ(ask("GET http://example.com/ HTTP/1.1\r\n\r\n"),
            "GET http://example.com/ HTTP/1.1\r\n\r\n");
}

TEST_F(RelayTest, MachinesOfAGangMeetWithTicketsOfTheMarketAlone) {
  const auto key = base::blake2b("of the relay");
  const base::SystemClock clock;
  begin({.ticket_key = key, .clock = &clock});
  const auto ticket = [&](int side, const base::Digest& with) {
    return "GET /tunnel HTTP/1.1\r\nauthorization: Bearer " +
           sign({.meeting = "l1-l2", .side = side, .until = clock.now() + base::minutes(1)}, with) +
           "\r\n\r\n";
  };
  const std::string yes =
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: souk\r\n\r\n";
  EXPECT_TRUE(ask(ticket(0, base::blake2b("another"))).starts_with("HTTP/1.1 403"));
  EXPECT_TRUE(ask("GET /tunnel HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 403"));
  const auto a = connect_to(relay_->port()), b = connect_to(relay_->port());
  send_text(a, ticket(0, key) + "early");
  send_text(b, ticket(1, key) + "bird");
  // Who ends before the other came has left.
  wait_for(b, yes + "early");
  ::shutdown(a.get(), SHUT_WR);
  ::shutdown(b.get(), SHUT_WR);
  EXPECT_EQ(read_all(a), yes + "bird");
  EXPECT_EQ(read_all(b), yes + "early");
}

// A worker asks for a meeting, and the other was reached without one.
TEST_F(RelayTest, MeetingsToWhichOneSideCameAloneDoNotFillIt) {
  const auto key = base::blake2b("of the relay");
  const base::SystemClock clock;
  begin({.most_connections = 4, .ticket_key = key, .clock = &clock});
  const auto ask_for = [&](const std::string& meeting, int side) {
    auto fd = connect_to(relay_->port());
    // Closed at once while it is full: then nothing can be said.
    const auto text =
        "GET /tunnel HTTP/1.1\r\nAuthorization: Bearer " +
        sign({.meeting = meeting, .side = side, .until = clock.now() + base::minutes(5)}, key) +
        "\r\n\r\n";
    ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    return fd;
  };
  const auto answered = [](const Fd& fd) {
    char first = 0;
    return ::recv(fd.get(), &first, 1, MSG_PEEK) == 1;
  };
  for (int i = 0; i < 4; ++i) {
    const auto alone = ask_for("alone-" + std::to_string(i), 0);
    ASSERT_TRUE(answered(alone));
  }
  Fd a, b;
  EXPECT_TRUE(base::testing::eventually([&] {
    a = ask_for("l1-l2", 0);
    return answered(a);
  }));
  EXPECT_TRUE(base::testing::eventually([&] {
    b = ask_for("l1-l2", 1);
    return answered(b);
  }));
  send_text(a, "there");
  wait_for(b,
           "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: souk\r\n\r\nthere");
}

TEST_F(RelayTest, WithoutAKeyNobodyMeets) {
  begin();
  EXPECT_TRUE(
      ask("GET /tunnel HTTP/1.1\r\nAuthorization: Bearer x\r\n\r\n").starts_with("HTTP/1.1 403"));
}

TEST_F(RelayTest, AHeadThatNeverEndsIsGivenUp) {
  begin();
  EXPECT_EQ(ask("CONNECT " + std::string(9'000, 'a')), "");
}

TEST_F(RelayTest, ConnectionsAreBounded) {
  begin({.most_connections = 1});
  const auto first = connect_to(relay_->port());
  send_text(first, "hel");
  const auto second = connect_to(relay_->port());
  EXPECT_EQ(read_all(second), "");
  send_text(first, "lo");
  ::shutdown(first.get(), SHUT_WR);
  EXPECT_EQ(read_all(first), "hello");
}

TEST_F(RelayTest, AQuietConnectionIsClosed) {
  begin({.idle = base::milliseconds(100)});
  const auto fd = connect_to(relay_->port());
  EXPECT_EQ(read_all(fd), "");
}

}  // namespace
}  // namespace souk::relay
