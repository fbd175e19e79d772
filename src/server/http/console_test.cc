#include "server/http/console.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/market.h"

namespace souk::server {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr ConsoleFile kFiles[] = {{"/index.html", "<!doctype html>", "packed page"},
                                  {"/favicon.svg", "<svg/>", ""},
                                  {"/assets/index-a1b2.js", "console.log(1)", "packed script"},
                                  {"/assets/font-c3d4.woff2", "wOF2", ""}};

net::Response ask(const Console& console, std::string path, net::Headers headers = {}) {
  return console.answer(
      {.method = "GET", .target = path, .path = path, .headers = std::move(headers)});
}

TEST(Console, EveryPathOfThePageIsThePage) {
  const Console console(kFiles);
  for (const auto* path : {"/", "/index.html", "/jobs", "/jobs/j1", "/a.b/c", "/assets"}) {
    const auto page = ask(console, path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_EQ(page.body, "<!doctype html>") << path;
    EXPECT_EQ(page.content_type, "text/html; charset=utf-8") << path;
    EXPECT_EQ(page.header("Cache-Control"), "no-cache") << path;
  }
}

TEST(Console, FilesHaveTheirTypes) {
  const Console console(kFiles);
  EXPECT_EQ(ask(console, "/favicon.svg").content_type, "image/svg+xml");
  EXPECT_EQ(ask(console, "/assets/index-a1b2.js").content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(ask(console, "/assets/font-c3d4.woff2").content_type, "font/woff2");
}

TEST(Console, AFileThatIsGoneIsNotThePage) {
  const Console console(kFiles);
  for (const auto* path : {"/assets/index-old.js", "/robots.txt", "/../etc/passwd.txt",
                           "/%2e%2e/secret.pem", "/index.html.", "/.git"})
    EXPECT_EQ(ask(console, path).status, 404) << path;
}

TEST(Console, WhatIsNamedByItsContentIsKeptForGood) {
  const Console console(kFiles);
  EXPECT_EQ(ask(console, "/assets/index-a1b2.js").header("Cache-Control"),
            "public, max-age=31536000, immutable");
  EXPECT_EQ(ask(console, "/favicon.svg").header("Cache-Control"), "no-cache");
}

TEST(Console, AnUnchangedFileIsNotSentAgain) {
  const Console console(kFiles);
  const std::string etag(ask(console, "/").header("ETag"));
  EXPECT_THAT(etag, StartsWith("\""));
  for (const auto& tags : {etag, "\"x\", W/" + etag, std::string("*")}) {
    const auto again = ask(console, "/", {{"If-None-Match", tags}});
    EXPECT_EQ(again.status, 304) << tags;
    EXPECT_EQ(again.body, "") << tags;
    EXPECT_EQ(again.header("ETag"), etag);
    EXPECT_THAT(again.header("Content-Security-Policy"), HasSubstr("script-src 'self'"));
  }
  EXPECT_EQ(ask(console, "/", {{"If-None-Match", "\"x\""}}).status, 200);
  EXPECT_NE(ask(console, "/favicon.svg").header("ETag"), etag);
  const auto packed = ask(console, "/", {{"Accept-Encoding", "gzip"}, {"If-None-Match", etag}});
  EXPECT_EQ(packed.status, 200) << "another encoding is another thing";
}

TEST(Console, TextTravelsCompressedToThoseWhoTakeIt) {
  const Console console(kFiles);
  const struct {
    std::string accepted;
    bool gzip;
  } rows[] = {{"", false},    {"gzip", true}, {"br, gzip;q=0.5", true}, {"gzip;q=0", false},
              {"GZIP", true}, {"br", false},  {"gzip; q=0", false},     {"x-gzip, br", false}};
  for (const auto& row : rows) {
    const auto page = ask(console, "/", {{"Accept-Encoding", row.accepted}});
    EXPECT_EQ(page.body, row.gzip ? "packed page" : "<!doctype html>") << row.accepted;
    EXPECT_EQ(page.header("Content-Encoding"), row.gzip ? "gzip" : "") << row.accepted;
    EXPECT_EQ(page.header("Vary"), "Accept-Encoding");
  }
  const auto icon = ask(console, "/favicon.svg", {{"Accept-Encoding", "gzip"}});
  EXPECT_EQ(icon.body, "<svg/>");
  EXPECT_EQ(icon.header("Content-Encoding"), "");
}

TEST(Console, NoAnswerCanBeFramedOrRunWhatIsNotOurs) {
  const Console console(kFiles);
  for (const auto* path : {"/", "/assets/index-a1b2.js", "/gone.js"}) {
    const auto answer = ask(console, path);
    EXPECT_EQ(answer.header("Content-Security-Policy"),
              "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
              "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; frame-src 'self'; "
              "manifest-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
        << path;
    EXPECT_EQ(answer.header("X-Content-Type-Options"), "nosniff") << path;
    EXPECT_EQ(answer.header("Referrer-Policy"), "no-referrer") << path;
    EXPECT_EQ(answer.header("Cross-Origin-Opener-Policy"), "same-origin") << path;
  }
}

TEST(Console, AProgramWithoutOneSaysHowToBuildIt) {
  const Console none({});
  const auto page = ask(none, "/");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  EXPECT_THAT(page.body, HasSubstr("SOUK_CONSOLE"));
  EXPECT_EQ(ask(none, "/assets/index-a1b2.js").status, 404);
}

TEST(Console, IsServedBesideTheApiAndNotInItsPlace) {
  testing::Market market;
  for (const auto* path : {"/", "/jobs/j1", "/v2/jobs"}) {
    const auto page = market.get(path);
    EXPECT_EQ(page.status, 200) << path;
    EXPECT_THAT(page.type, StartsWith("text/html")) << path;
    EXPECT_EQ(net::find_header(page.headers, "X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(net::find_header(page.headers, "Cache-Control"), "no-cache");
  }
  for (const auto* path : {"/v1", "/v1/nowhere", "/v1/jobs/"})
    EXPECT_EQ(market.get(path).status, 404) << path;
  const auto head = market.caller().http().send("HEAD", "/");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->status, 200);
  EXPECT_EQ(head->body, "");
  const auto post = market.call("POST", "/jobs/j1");
  EXPECT_EQ(post.status, 405);
  EXPECT_EQ(net::find_header(post.headers, "Allow"), "GET, HEAD");
  EXPECT_EQ(market.get("/healthz").type, "application/json");
}

// Whichever console this program was built with, all of it can be had.
TEST(Console, TheBuiltInOneIsWhole) {
  testing::Market market;
  for (const auto& file : built_in_console()) {
    const auto answer = market.get(std::string(file.path));
    EXPECT_EQ(answer.status, 200) << file.path;
    EXPECT_EQ(answer.body, file.bytes) << file.path;
  }
}

}  // namespace
}  // namespace souk::server
