#include "net/tls.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

#include "net/client.h"
#include "net/server.h"
#include "net/testing/raw_socket.h"

namespace souk::net {
namespace {

const std::vector<std::string> kNames = {"localhost", "127.0.0.1", "::1"};

struct TlsServer {
  Certificate certificate = *self_signed(kNames, 30);
  std::unique_ptr<Server> server =
      *Server::start({.tls = ServerTls{certificate.certificate_pem, certificate.key_pem}},
                     [](Request request, Reply reply) {
                       if (request.path == "/stream") {
                         const Stream stream = reply.stream({.content_type = "text/plain"});
                         stream.write(std::make_shared<std::string>("part 1, "));
                         stream.write(std::make_shared<std::string>("part 2"));
                         stream.close();
                       } else {
                         reply.send({.body = request.method + " " + request.body});
                       }
                     });

  ClientOptions client_options(std::string host = "127.0.0.1") const {
    return {.base_url = "https://" + host + ":" + std::to_string(server->port())};
  }
};

TEST(Tls, APinnedSelfSignedServerIsReached) {
  const TlsServer s;
  auto options = s.client_options();
  options.pinned_sha256 = *fingerprint(s.certificate.certificate_pem);
  auto client = Client::make(options);
  ASSERT_TRUE(client);
  const std::string big(900'000, 'x');
  for (int i = 0; i < 3; ++i) {
    const auto got = client->send("POST", "/", {}, big);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(got->body, "POST " + big);
  }
  EXPECT_EQ(s.server->counters().accepted, 1U) << "the connection is reused";
  std::string streamed;
  ASSERT_TRUE(client->stream("/stream", {}, [&](std::string_view chunk) {
    streamed += chunk;
    return true;
  }));
  EXPECT_EQ(streamed, "part 1, part 2");
}

TEST(Tls, AnImpostorWithAnotherCertificateNeverSeesTheRequest) {
  const TlsServer s;
  auto options = s.client_options();
  options.pinned_sha256 = *fingerprint(self_signed(kNames, 30)->certificate_pem);
  const auto got = Client::make(options)->send("GET", "/", {{"Authorization", "secret-token"}});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, base::Code::unavailable);
  EXPECT_NE(got.error().hint.find("pinned"), std::string::npos);
  EXPECT_EQ(got.error().message.find("secret-token"), std::string::npos);
  EXPECT_EQ(s.server->counters().requests, 0U);
}

TEST(Tls, WithoutAPinASelfSignedServerIsRefusedUnlessItsFileIsTrusted) {
  const TlsServer s;
  EXPECT_FALSE(Client::make(s.client_options())->send("GET", "/"));
  const std::string file = ::testing::TempDir() + "souk_ca_" + std::to_string(::getpid()) + ".pem";
  std::ofstream(file) << s.certificate.certificate_pem;
  for (const auto* host : {"127.0.0.1", "localhost"}) {
    auto options = s.client_options(host);
    options.ca_file = file;
    const auto got = Client::make(options)->send("GET", "/");
    EXPECT_TRUE(got) << got.error().message;
  }
  std::remove(file.c_str());
}

TEST(Tls, PlainHttpSentToATlsPortIsClosedAndOthersGoOn) {
  const TlsServer s;
  testing::RawSocket raw(s.server->port());
  raw.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  raw.read_to_end();
  auto options = s.client_options();
  options.pinned_sha256 = *fingerprint(s.certificate.certificate_pem);
  EXPECT_TRUE(Client::make(options)->send("GET", "/"));
}

TEST(Tls, MistakesInCertificatesAreNamedAtTheStart) {
  const auto ignore = [](Request, Reply) {};
  const auto a = *self_signed(kNames, 30);
  const auto b = *self_signed(kNames, 30);
  const auto mixed = Server::start({.tls = ServerTls{a.certificate_pem, b.key_pem}}, ignore);
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().code, base::Code::invalid);
  EXPECT_FALSE(Server::start({.tls = ServerTls{"nonsense", b.key_pem}}, ignore));
  EXPECT_FALSE(self_signed({}, 30));
  EXPECT_FALSE(self_signed(std::vector<std::string>{"a,DNS:evil"}, 30));
  EXPECT_FALSE(self_signed(kNames, 0));
  EXPECT_FALSE(fingerprint("nonsense"));
  EXPECT_FALSE(Client::make({.base_url = "https://h", .pinned_sha256 = "abcd"}));
}

TEST(Tls, FingerprintsAreAcceptedAsOpensslPrintsThem) {
  const TlsServer s;
  auto options = s.client_options();
  for (const char c : *fingerprint(s.certificate.certificate_pem)) {
    if (options.pinned_sha256.size() % 3 == 2) options.pinned_sha256 += ':';
    options.pinned_sha256 += static_cast<char>(std::toupper(c));
  }
  EXPECT_TRUE(Client::make(options)->send("GET", "/"));
}

}  // namespace
}  // namespace souk::net
