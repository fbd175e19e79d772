#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

// Sessions of browsers. The console never sees its token: the browser keeps it in a cookie that
// scripts cannot read and that no other site's pages can use.
//
// A browser sends a cookie along with whatever asks for it, so a cookie alone proves nothing about
// who wrote the request. It counts only together with signs that a page of this very server did:
//   - Sec-Fetch-Site, where the browser sends it, is not cross-site;
//   - for anything but GET and HEAD, the header `Souk-Session: cookie` is there, which another
//     site's page cannot send without a preflight that this server never answers, and
//   - then Origin, where there is one, names the host that the request was sent to.
// SameSite=Strict says the same to the browser; this is for browsers and proxies that fail to obey.

namespace souk::server {

// What a request proves itself with.
struct Credential {
  std::optional<base::Digest> token;  // Of the bearer token, else of the cookie.
  bool cookie = false;                // It was the cookie's.
};

// Forbidden: a cookie that came without those signs. A bearer token needs none, and comes first.
[[nodiscard]] base::Result<Credential> credential_of(const net::Request& http);

// Is `origin` (the header) the site that a request to `host` (the header) was sent to?
[[nodiscard]] bool is_same_site(std::string_view origin, std::string_view host);

// Did the caller ask for its session as a cookie?
[[nodiscard]] bool wants_cookie(const net::Request& http);

// Did it come over TLS: to this server, as `tls` says, or to the proxy before it?
[[nodiscard]] bool came_securely(const net::Request& http, bool tls);

// Values of Set-Cookie. A `secure` cookie is never sent in the clear.
[[nodiscard]] std::string session_cookie(std::string_view token, base::Duration lasts, bool secure);
[[nodiscard]] std::string no_session_cookie(bool secure);

}  // namespace souk::server
