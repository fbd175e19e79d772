#include "server/http/session_cookie.h"

#include <fmt/format.h>

#include "base/text.h"
#include "server/http/secrets.h"

namespace souk::server {
namespace {

using base::Code;
using base::fail;

constexpr std::string_view kCookie = "souk_session";
constexpr std::string_view kHeader = "Souk-Session";

std::string_view bearer(const net::Request& http) {
  constexpr std::string_view scheme = "Bearer ";
  const auto header = http.header("Authorization");
  return header.starts_with(scheme) ? base::trim(header.substr(scheme.size())) : "";
}

// "a=1; souk_session=souk_x" -> "souk_x"
std::string_view cookie(const net::Request& http) {
  for (const auto pair : base::split(http.header("Cookie"), ';')) {
    const auto equals = pair.find('=');
    if (equals != pair.npos && pair.substr(0, equals) == kCookie) return pair.substr(equals + 1);
  }
  return "";
}

// Host and port, without the port that the scheme implies.
std::string_view authority(std::string_view host, std::string_view scheme) {
  const std::string_view implied = scheme == "https" ? ":443" : ":80";
  if (host.ends_with(implied)) host.remove_suffix(implied.size());
  return host;
}

base::Result<> check_signs(const net::Request& http) {
  if (net::equal_ignoring_case(http.header("Sec-Fetch-Site"), "cross-site"))
    return fail(Code::forbidden, "the session cookie came with a request of another site's page",
                "open the console itself, or use a token", "Sec-Fetch-Site");
  if (http.method == "GET" || http.method == "HEAD") return {};
  if (!wants_cookie(http))
    return fail(Code::forbidden, "a change with the session cookie needs a header of its own",
                "send Souk-Session: cookie, or use a token", std::string(kHeader));
  const auto origin = http.header("Origin"), host = http.header("Host");
  if (!origin.empty() && !is_same_site(origin, host))
    return fail(Code::forbidden,
                fmt::format("a page of {} cannot use the session of {}", origin.substr(0, 200),
                            host.substr(0, 200)),
                "open the console at the market's own address; a proxy must pass Host on",
                "Origin");
  return {};
}

std::string cookie_text(std::string_view value, std::int64_t max_age_s, bool secure) {
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict; Max-Age={}{}", kCookie, value,
                     max_age_s, secure ? "; Secure" : "");
}

}  // namespace

bool is_same_site(std::string_view origin, std::string_view host) {
  const auto end = origin.find("://");
  if (end == origin.npos) return false;  // "null": a page that hides where it is from.
  const auto scheme = origin.substr(0, end);
  return net::equal_ignoring_case(authority(origin.substr(end + 3), scheme),
                                  authority(host, scheme));
}

base::Result<Credential> credential_of(const net::Request& http) {
  if (const auto token = bearer(http); !token.empty()) return Credential{token_digest(token)};
  const auto token = cookie(http);
  if (token.empty()) return Credential{};
  SOUK_TRY(check_signs(http));
  return Credential{token_digest(token), true};
}

bool wants_cookie(const net::Request& http) {
  return net::equal_ignoring_case(http.header(kHeader), "cookie");
}

bool came_securely(const net::Request& http, bool tls) {
  // Proxies in a row append to it; the first spoke to the browser.
  const auto first = base::split(http.header("X-Forwarded-Proto"), ',').front();
  return tls || net::equal_ignoring_case(first, "https");
}

std::string session_cookie(std::string_view token, base::Duration lasts, bool secure) {
  return cookie_text(token, lasts.us / 1'000'000, secure);
}

std::string no_session_cookie(bool secure) { return cookie_text("", 0, secure); }

}  // namespace souk::server
