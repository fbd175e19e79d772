#include "fuzz/target.h"
#include "net/http.h"
#include "server/http/session_cookie.h"

// What a request proves itself with: the first line is its method, the others are headers. A cookie
// alone changes nothing: without the header of our own pages it is refused.

using namespace souk;

SOUK_FUZZ(cookie, .input_bytes = 1024, .malloc_mb = 1) {
  net::Request http{.method = std::string(fuzz::take_line(input))};
  while (!input.empty()) {
    const auto line = fuzz::take_line(input);
    const auto colon = line.find(": ");
    if (colon == std::string_view::npos) continue;
    http.headers.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
  const auto credential = server::credential_of(http);
  if (credential && credential->cookie) {
    CHECK(credential->token.has_value());
    CHECK(http.method == "GET" || http.method == "HEAD" || server::wants_cookie(http));
    CHECK(!net::equal_ignoring_case(http.header("Sec-Fetch-Site"), "cross-site"));
  }
  (void)server::came_securely(http, false);
}
