#include "server/files/agent_bundle.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "server/testing/market.h"

namespace souk::server {
namespace {

using testing::Folder;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kBytes = 1'500'000;

std::string bundle_in(const Folder& folder) {
  const auto path = folder / "souk.tar.gz";
  std::ofstream(path, std::ios::binary) << "\x1f\x8b\x08" << std::string(kBytes, 'x');
  return path;
}

TEST(AgentBundle, IsKnownByItsSha256) {
  const Folder folder;
  const auto bundle = AgentBundle::open(bundle_in(folder));
  ASSERT_TRUE(bundle) << bundle.error().message;
  EXPECT_EQ((*bundle)->sha256(),
            "91614a80c62fa95772312dec45d09dcf608729261d961cc250bdf7a89c64d25c");
  EXPECT_EQ((*bundle)->bytes(), kBytes + 3);
}

TEST(AgentBundle, StaysWhatItWasWhenItsFileIsReplaced) {
  const Folder folder;
  const auto path = bundle_in(folder);
  const auto bundle = AgentBundle::open(path);
  ASSERT_TRUE(bundle);
  std::ofstream(path, std::ios::trunc) << "another";
  std::size_t bytes = 0;
  for (const auto& piece : (*bundle)->pieces()) bytes += piece->size();
  EXPECT_EQ(bytes, kBytes + 3);
}

TEST(AgentBundle, OtherFilesAreRefusedWithTheirNames) {
  const Folder folder;
  EXPECT_THAT(AgentBundle::open(folder / "none").error().message, HasSubstr("/none"));
  const auto path = folder / "text";
  std::ofstream(path) << "a text";
  const auto text = AgentBundle::open(path);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("/text is not a bundle"));
  EXPECT_THAT(text.error().hint, HasSubstr("make package"));
}

TEST(MarketAddress, IsANameOrAnAddressWithAPort) {
  for (const auto* host : {"market.example", "market.example:7443", "127.0.0.1:7070", "[::1]:7070",
                           "[2001:db8::1]", "a-b.c", "localhost"}) {
    const auto address = address_of(host, true);
    ASSERT_TRUE(address) << host;
    EXPECT_EQ(*address, std::string("https://") + host);
  }
  EXPECT_EQ(*address_of("localhost:1", false), "http://localhost:1");
}

TEST(MarketAddress, CarriesNothingThatAShellOrACurlWouldRead) {
  for (const auto* host : {"",         "x'; rm -rf ~; '",
                           "$(id)",    "`id`",
                           "a b",      "a\nb",
                           "a;b",      "a|b",
                           "a/b",      "a?b",
                           "a#b",      "user@host",
                           "x:80:90",  "x:",
                           "x:123456", "x:8o",
                           "[::1",     "::1]",
                           "[]",       "-oProxy",
                           "a\\b",     "\xc3\xa4",
                           "a\"b",     "a&b",
                           "[::1]x",   "x,y",
                           "*"})
    EXPECT_FALSE(address_of(host, true)) << host;
  EXPECT_FALSE(address_of(std::string(300, 'a'), true));
}

TEST(PublicUrl, IsCheckedAsHostsAre) {
  for (const auto* url :
       {"https://market.example", "http://10.0.0.1:7070", "https://m.example/souk"})
    EXPECT_TRUE(check_public_url(url)) << url;
  for (const auto* url : {"market.example", "ftp://m", "https://", "https://m/", "https://m/$(id)",
                          "https://m'/x", "https://u@m", "https://m?x"})
    EXPECT_FALSE(check_public_url(url)) << url;
}

TEST(LendScript, NamesTheMarketTheVersionAndTheHashAsOneWordEach) {
  const Folder folder;
  const auto bundle = AgentBundle::open(bundle_in(folder));
  ASSERT_TRUE(bundle);
  const auto script = lend_script(bundle->get(), "https://m.example");
  EXPECT_THAT(script, HasSubstr("\nmarket='https://m.example'\n"));
  EXPECT_THAT(script, HasSubstr("\nsha256='" + (*bundle)->sha256() + "'"));
  EXPECT_THAT(script, HasSubstr("\nversion='"));
  EXPECT_THAT(script, Not(HasSubstr("@MARKET@")));
  EXPECT_EQ(shell_word("it's $(x)"), "'it'\\''s $(x)'");
}

TEST(LendScript, WithoutABundleSaysSoAndFails) {
  const auto script = lend_script(nullptr, "https://m.example");
  EXPECT_THAT(script, HasSubstr("no bundle"));
  EXPECT_TRUE(script.ends_with("\nexit 1\n"));
}

struct Lending {
  explicit Lending(std::string public_url = "") : market(options(std::move(public_url))) {}
  Options options(std::string public_url) const {
    auto out = testing::in_memory();
    out.bundle = bundle_in(folder);
    out.public_url = std::move(public_url);
    return out;
  }
  Folder folder;
  testing::Market market;
};

TEST(LendRoutes, TheBundleIsTheOneThatTheScriptAndTheApiAnnounce) {
  Lending lending;
  auto& market = lending.market;
  const auto about = market.call("GET", "/v1/agent");
  EXPECT_EQ(about.at("available"), "true");
  const auto hash = about.at("sha256");
  EXPECT_THAT(market.call("GET", "/lend").body, HasSubstr(hash));
  const auto bundle = market.call("GET", "/v1/agent/bundle");
  EXPECT_EQ(bundle.status, 200);
  EXPECT_EQ(bundle.type, "application/gzip");
  EXPECT_EQ(std::to_string(bundle.body.size()), about.at("bytes"));
  EXPECT_EQ(net::find_header(bundle.headers, "ETag"), "\"" + hash + "\"");
  const auto again =
      market.call("GET", "/v1/agent/bundle", "", "", {{"If-None-Match", "\"" + hash + "\""}});
  EXPECT_EQ(again.status, 304);
}

TEST(LendRoutes, TheScriptIsForWhoeverAskedAndIsKeptByNoCache) {
  Lending lending;
  const auto ask = [&](const char* host) {
    return lending.market.call("GET", "/lend", "", "", {{"Host", host}});
  };
  const auto script = ask("market.example:7443");
  EXPECT_THAT(script.body, HasSubstr("\nmarket='http://market.example:7443'\n"));
  EXPECT_EQ(net::find_header(script.headers, "Cache-Control"), "no-store");
  const auto secure = lending.market.call(
      "GET", "/lend", "", "", {{"Host", "market.example"}, {"X-Forwarded-Proto", "https"}});
  EXPECT_THAT(secure.body, HasSubstr("\nmarket='https://market.example'\n"));
  EXPECT_EQ(ask("x'$(id)'").status, 400);
}

TEST(LendRoutes, TheOperatorsWordIsStrongerThanAnyHost) {
  Lending lending("https://real.example");
  const auto script = lending.market.call("GET", "/lend", "", "", {{"Host", "evil.example"}});
  EXPECT_THAT(script.body, HasSubstr("\nmarket='https://real.example'\n"));
  EXPECT_THAT(script.body, Not(HasSubstr("evil")));
  EXPECT_EQ(lending.market.call("GET", "/v1/agent").at("public_url"), "https://real.example");
}

TEST(LendRoutes, AMarketWithoutABundleSaysSo) {
  testing::Market market;
  EXPECT_EQ(market.call("GET", "/v1/agent").at("available"), "false");
  EXPECT_EQ(market.call("GET", "/v1/agent/bundle").status, 404);
  EXPECT_THAT(market.call("GET", "/lend").body, HasSubstr("exit 1"));
}

}  // namespace
}  // namespace souk::server
