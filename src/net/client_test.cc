#include "net/client.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>

#include "base/fd.h"
#include "base/testing/port.h"
#include "net/server.h"
#include "net/testing/raw_socket.h"
#include "net/testing/serve.h"

namespace souk::net {
namespace {

using testing::serve;

ClientOptions to(const Server& server) {
  return {.base_url = "http://127.0.0.1:" + std::to_string(server.port()) + "/"};
}

TEST(Client, AServerThatIsNotThereIsNamedWithAHint) {
  const base::testing::Port nobody;
  const ClientOptions options{.base_url = fmt::format("http://127.0.0.1:{}/", nobody.number())};
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

// Answers one request of each connection as if more could follow, then closes it without a word, as
// a server does with one that has been idle for too long.
class HangsUp {
 public:
  HangsUp() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    CHECK(::bind(listener_.get(), any, size) == 0 && ::listen(listener_.get(), 16) == 0 &&
          ::getsockname(listener_.get(), any, &size) == 0);
    url = fmt::format("http://127.0.0.1:{}/", ntohs(address.sin_port));
    thread_ = std::thread([this] {
      while (true) {
        base::Fd fd(::accept(listener_.get(), nullptr, nullptr));
        if (!fd) return;
        std::string request, piece(1'000, '\0');
        while (!request.ends_with("\r\n\r\n")) {
          const auto n = ::recv(fd.get(), piece.data(), piece.size(), 0);
          if (n <= 0) break;
          request.append(piece, 0, static_cast<std::size_t>(n));
        }
        constexpr std::string_view answer = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nk";
        ::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        fd.reset();
        ++closed;
      }
    });
  }
  ~HangsUp() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string url;
  std::atomic<int> closed = 0;

 private:
  base::Fd listener_;
  std::thread thread_;
};

TEST(Client, AMoveGoesOnAfterItsConnectionWasClosedForBeingIdle) {
  HangsUp server;
  auto client = *Client::make({.base_url = server.url});
  for (int i = 1; i <= 3; ++i) {
    const auto got = client.move("GET", "/", {}, {}, {});
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->body, "k");
    ASSERT_TRUE(testing::eventually([&] { return server.closed == i; }));
  }
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
