#include "server/http/session_cookie.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>

#include "server/http/secrets.h"
#include "server/testing/market.h"

namespace souk::server {
namespace {

using testing::Answer;
using testing::Fair;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// --- Which requests a cookie may make ------------------------------------------------------------

net::Request request(std::string method, net::Headers headers) {
  return {.method = std::move(method), .headers = std::move(headers)};
}

TEST(SessionCookie, CountsOnlyWithSignsThatAPageOfThisServerAsked) {
  const std::pair<std::string, std::string> cookie{"Cookie", "theme=dark; souk_session=souk_x"},
      mark{"Souk-Session", "cookie"}, host{"Host", "market.example:7443"};
  const struct {
    std::string method;
    net::Headers headers;
    std::string refused;  // The header that is wrong; empty: it counts.
  } rows[] = {
      {"GET", {cookie, host}, ""},
      {"HEAD", {cookie, host}, ""},
      {"GET", {cookie, host, {"Sec-Fetch-Site", "same-origin"}}, ""},
      {"GET", {cookie, host, {"Sec-Fetch-Site", "none"}}, ""},
      {"GET", {cookie, host, {"Sec-Fetch-Site", "cross-site"}}, "Sec-Fetch-Site"},
      {"POST", {cookie, host}, "Souk-Session"},
      {"DELETE", {cookie, host, {"Souk-Session", "yes"}}, "Souk-Session"},
      {"POST", {cookie, host, mark}, ""},
      {"POST", {cookie, host, mark, {"Sec-Fetch-Site", "cross-site"}}, "Sec-Fetch-Site"},
      {"POST", {cookie, host, mark, {"Origin", "https://market.example:7443"}}, ""},
      {"POST", {cookie, host, mark, {"Origin", "https://Market.Example:7443"}}, ""},
      {"POST", {cookie, host, mark, {"Origin", "https://market.example"}}, "Origin"},
      {"POST", {cookie, host, mark, {"Origin", "https://evil.example:7443"}}, "Origin"},
      {"POST", {cookie, host, mark, {"Origin", "https://evil-market.example:7443"}}, "Origin"},
      {"POST", {cookie, host, mark, {"Origin", "null"}}, "Origin"},
      {"POST", {cookie, {"Host", "m"}, mark, {"Origin", "https://m"}}, ""},
      {"POST", {cookie, {"Host", "m:443"}, mark, {"Origin", "https://m"}}, ""},
      {"POST", {cookie, {"Host", "m:80"}, mark, {"Origin", "https://m"}}, "Origin"},
  };
  for (const auto& row : rows) {
    std::string text = row.method;
    for (const auto& [name, value] : row.headers) text += fmt::format(" {}: {}", name, value);
    const auto found = credential_of(request(row.method, row.headers));
    EXPECT_EQ(found ? "" : found.error().field, row.refused) << text;
    if (found) EXPECT_TRUE(found->cookie && found->token == token_digest("souk_x")) << text;
    if (!found) EXPECT_EQ(found.error().code, base::Code::forbidden) << text;
  }
}

TEST(SessionCookie, ABearerTokenComesFirstAndNeedsNoSigns) {
  const auto found = credential_of(
      request("POST", {{"Authorization", "Bearer souk_b"}, {"Cookie", "souk_session=souk_x"}}));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->token, token_digest("souk_b"));
  EXPECT_FALSE(found->cookie);
}

TEST(SessionCookie, OtherCookiesAreNobodysSession) {
  for (const auto* value : {"", "theme=dark", "my_souk_session=souk_x", "souk_session", "=; ;"}) {
    const auto found = credential_of(request("POST", {{"Cookie", value}}));
    ASSERT_TRUE(found) << value;
    EXPECT_FALSE(found->token) << value;
  }
}

TEST(SessionCookie, ScriptsAndOtherSitesCannotHaveIt) {
  EXPECT_EQ(session_cookie("souk_x", base::hours(1), false),
            "souk_session=souk_x; Path=/; HttpOnly; SameSite=Strict; Max-Age=3600");
  EXPECT_EQ(session_cookie("souk_x", base::hours(1), true),
            "souk_session=souk_x; Path=/; HttpOnly; SameSite=Strict; Max-Age=3600; Secure");
  EXPECT_EQ(no_session_cookie(false),
            "souk_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
}

TEST(SessionCookie, IsSecureBehindAProxyThatSpeaksTls) {
  EXPECT_FALSE(came_securely(request("GET", {}), false));
  EXPECT_TRUE(came_securely(request("GET", {}), true));
  EXPECT_TRUE(came_securely(request("GET", {{"X-Forwarded-Proto", "https"}}), false));
  EXPECT_TRUE(came_securely(request("GET", {{"X-Forwarded-Proto", "https, http"}}), false));
  EXPECT_FALSE(came_securely(request("GET", {{"X-Forwarded-Proto", "http"}}), false));
}

// --- A browser and a market ----------------------------------------------------------------------

// Keeps its cookie as a browser does, and sends what the console sends.
class Browser {
 public:
  explicit Browser(testing::Market& market) : caller_(market.another()) {}

  Answer call(std::string_view method, const std::string& path, std::string_view body = "",
              net::Headers headers = {{"Souk-Session", "cookie"}}) {
    if (!cookie_.empty()) headers.emplace_back("Cookie", "souk_session=" + cookie_);
    auto answer = caller_.call(method, path, "", body, std::move(headers));
    const auto set = std::string(net::find_header(answer.headers, "Set-Cookie"));
    if (!set.empty()) {
      EXPECT_THAT(set, StartsWith("souk_session="));
      cookie_ = set.substr(13, set.find(';') - 13);
    }
    return answer;
  }
  Answer log_in(const std::string& name, std::string_view more = "", net::Headers headers = {}) {
    headers.emplace_back("Souk-Session", "cookie");
    return call("POST", "/v1/login",
                fmt::format(R"({{"name":"{}","password":"{}"{}}})", name, testing::kPassword, more),
                std::move(headers));
  }
  [[nodiscard]] const std::string& cookie() const { return cookie_; }
  void set_cookie(std::string value) { cookie_ = std::move(value); }
  net::Client& http() { return caller_.http(); }

 private:
  testing::Caller caller_;
  std::string cookie_;
};

TEST(BrowserSession, LivesInTheCookieAndNowhereElse) {
  Fair fair;
  Browser browser(fair);
  const auto session = browser.log_in("lena", R"(,"expires_in":"2h")");
  EXPECT_EQ(session.status, 201);
  EXPECT_EQ(session.at("token"), "") << "a script could steal it";
  EXPECT_THAT(net::find_header(session.headers, "Set-Cookie"), HasSubstr("; Max-Age=7200"));
  EXPECT_THAT(browser.cookie(), StartsWith("souk_"));
  EXPECT_EQ(browser.call("GET", "/v1/me").at("name"), "lena");
  EXPECT_EQ(browser.call("POST", "/v1/feedback", R"({"category":"idea","text":"x"})").status, 201);
  Browser newcomer(fair);
  const auto made = newcomer.call("POST", "/v1/accounts", testing::Market::sign_up_body("carol"));
  EXPECT_EQ(made.at("token"), "");
  EXPECT_EQ(newcomer.call("GET", "/v1/me").at("name"), "carol");
}

TEST(BrowserSession, IsNotGivenToThoseWhoDidNotAskForIt) {
  Fair fair;
  const auto session = fair.must("POST", "/v1/login", "", testing::Market::sign_up_body("lena"));
  EXPECT_EQ(net::find_header(session.headers, "Set-Cookie"), "");
  EXPECT_THAT(session.at("token"), StartsWith("souk_"));
}

TEST(BrowserSession, NeverTravelsInTheClearOnceItCameOverTls) {
  Fair fair;
  Browser browser(fair);
  const auto plain = browser.log_in("lena");
  EXPECT_THAT(net::find_header(plain.headers, "Set-Cookie"), Not(HasSubstr("Secure")));
  const auto proxied = browser.log_in("lena", "", {{"X-Forwarded-Proto", "https"}});
  EXPECT_THAT(net::find_header(proxied.headers, "Set-Cookie"), HasSubstr("; Secure"));
  auto options = testing::in_memory();
  options.self_signed = true;
  testing::Market market(options);
  const auto direct = market.must("POST", "/v1/accounts", "", testing::Market::sign_up_body("ada"),
                                  {{"Souk-Session", "cookie"}});
  EXPECT_THAT(net::find_header(direct.headers, "Set-Cookie"), HasSubstr("; Secure"));
}

TEST(BrowserSession, APageOfAnotherSiteChangesAndLearnsNothing) {
  Fair fair;
  Browser browser(fair);
  browser.log_in("lena");
  const std::string body = R"({"category":"idea","text":"forged"})";
  const auto forged = browser.call("POST", "/v1/feedback", body, {});
  EXPECT_EQ(forged.status, 403);
  EXPECT_EQ(forged.at("field"), "Souk-Session");
  EXPECT_THAT(forged.at("hint"), HasSubstr("Souk-Session: cookie"));
  const auto foreign =
      browser.call("POST", "/v1/feedback", body,
                   {{"Souk-Session", "cookie"}, {"Origin", "http://evil.example"}});
  EXPECT_EQ(foreign.status, 403);
  EXPECT_THAT(foreign.at("detail"), HasSubstr("evil.example"));
  const auto read = browser.call("GET", "/v1/me", "", {{"Sec-Fetch-Site", "cross-site"}});
  EXPECT_EQ(read.status, 403);
  EXPECT_EQ(browser.call("GET", "/v1/feedback").count(), 0u);
  const auto own = fair.server().url();
  EXPECT_EQ(
      browser.call("POST", "/v1/feedback", body, {{"Souk-Session", "cookie"}, {"Origin", own}})
          .status,
      201);
}

TEST(BrowserSession, LoggingOutEndsThatTokenAndNoOther) {
  Fair fair;
  Browser browser(fair), other(fair);
  browser.log_in("lena");
  other.log_in("lena");
  const auto kept = browser.cookie();
  const auto out = browser.call("POST", "/v1/logout");
  EXPECT_EQ(out.status, 200);
  EXPECT_THAT(net::find_header(out.headers, "Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(browser.cookie(), "");
  EXPECT_EQ(fair.get("/v1/me", kept).status, 401) << "a copy of the cookie still works";
  EXPECT_EQ(other.call("GET", "/v1/me").status, 200);
  const auto bearer = fair.must("POST", "/v1/logout", fair.lender.token);
  EXPECT_EQ(net::find_header(bearer.headers, "Set-Cookie"), "");
  EXPECT_EQ(fair.get("/v1/me", fair.lender.token).status, 401);
  EXPECT_EQ(other.call("GET", "/v1/me").status, 200);
}

TEST(BrowserSession, ACookieThatIsNoLongerGoodIsTakenAway) {
  Fair fair;
  Browser browser(fair);
  browser.log_in("lena");
  fair.must("DELETE", "/v1/tokens", fair.lender.token);
  const auto refused = browser.call("GET", "/v1/me");
  EXPECT_EQ(refused.status, 401);
  EXPECT_THAT(net::find_header(refused.headers, "Set-Cookie"), HasSubstr("Max-Age=0"));
  EXPECT_EQ(browser.cookie(), "");
}

TEST(BrowserSession, AMistypedPasswordDoesNotEndIt) {
  Fair fair;
  Browser browser(fair);
  browser.log_in("lena");
  const auto wrong = browser.call("POST", "/v1/me/password",
                                  R"({"old_password":"mistyped","password":"a better one"})");
  EXPECT_EQ(wrong.status, 401);
  EXPECT_EQ(net::find_header(wrong.headers, "Set-Cookie"), "");
  EXPECT_EQ(browser.call("GET", "/v1/me").status, 200);
}

TEST(BrowserSession, AnOldCookieKeepsNobodyFromComingBack) {
  Fair fair;
  Browser browser(fair);
  browser.set_cookie("souk_long_gone");
  EXPECT_EQ(browser.call("POST", "/v1/accounts", testing::Market::sign_up_body("carol")).status,
            201);
  EXPECT_EQ(browser.call("GET", "/v1/me").at("name"), "carol");
  browser.set_cookie("souk_long_gone");
  EXPECT_EQ(browser.log_in("lena").status, 201);
  EXPECT_EQ(browser.call("GET", "/v1/me").at("name"), "lena");
}

// An EventSource sends cookies and can send no headers.
TEST(BrowserSession, EventsComeWithTheCookieAndStopWhenItEnds) {
  Fair fair;
  Browser browser(fair);
  browser.log_in("lena");
  const net::Headers headers{{"Cookie", "souk_session=" + browser.cookie()},
                             {"Accept", "text/event-stream"},
                             {"Sec-Fetch-Site", "same-origin"}};
  auto reader = fair.another();
  std::promise<void> opened;
  std::string seen;
  auto stream = std::async(std::launch::async, [&] {
    return reader.http().stream("/v1/events", headers, [&](std::string_view bytes) {
      if (seen.empty()) opened.set_value();
      seen += bytes;
      return true;
    });
  });
  opened.get_future().wait();
  fair.offer(fair.agent, fair.box);
  browser.call("POST", "/v1/logout");
  ASSERT_EQ(stream.wait_for(std::chrono::seconds(20)), std::future_status::ready);
  EXPECT_EQ(stream.get()->status, 200);
  EXPECT_THAT(seen, HasSubstr("event: OfferPosted"));
  const auto again = reader.http().send("GET", "/v1/events", headers);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->status, 401);
}

TEST(ApiAnswers, AreKeptByNoCacheAndTakenForNothingElse) {
  Fair fair;
  for (const auto& answer : {fair.get("/v1/me", fair.lender.token), fair.get("/v1/me"),
                             fair.get("/v1/nowhere"), fair.get("/v1/faq")}) {
    EXPECT_EQ(net::find_header(answer.headers, "Cache-Control"), "no-store") << answer;
    EXPECT_EQ(net::find_header(answer.headers, "X-Content-Type-Options"), "nosniff") << answer;
  }
}

}  // namespace
}  // namespace souk::server
