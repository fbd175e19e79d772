#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/http.h"

// What an agent fetches from others than the market: layers of images and packages, known by their
// SHA-256. Blocking; any thread; each call stands alone.

namespace souk::agent {

// "https://files.example:8443/a/b?c" in its parts. Nothing but http and https, no user names.
struct WebAddress {
  bool plain = false;  // By http.
  std::string host;    // With its port, in lower case: "files.example:8443".
  std::string path;    // "/a/b?c", as given.
  [[nodiscard]] std::string origin() const { return (plain ? "http://" : "https://") + host; }
  [[nodiscard]] std::string text() const { return origin() + path; }
};
[[nodiscard]] base::Result<WebAddress> parse_web_address(std::string_view url);

// One that a lender allows, and how it may be asked.
struct WebHost {
  std::string host;    // "files.example", with a port where there is one.
  bool plain = false;  // By http.
};
[[nodiscard]] bool among(std::span<const WebHost> hosts, const WebAddress& address);

struct WebRequest {
  WebAddress address;
  net::Headers headers = {};  // Not sent on to other hosts by a redirect.
  // May this address be asked? Called for the first and for each that a redirect names. A redirect
  // from https to http is never followed, whatever this says.
  std::function<bool(const WebAddress&)> allowed = [](const WebAddress&) { return true; };
  std::function<bool()> give_up = [] { return false; };
};

// GETs a document of at most `most_bytes`, in memory. Any status but redirects is an answer.
//   too_large, forbidden (a redirect that is not allowed), unavailable
[[nodiscard]] base::Result<net::Response> web_get(const WebRequest& request,
                                                  std::size_t most_bytes);

// "https://... answers 404 Not Found", as an error.
[[nodiscard]] base::Error refusal(const WebAddress& address, int status);

// A file that is known before it is fetched.
struct WantedFile {
  std::string sha256;            // 64 hex digits; empty: whoever asks will look.
  std::int64_t size = kAnySize;  // In bytes; more are not taken, fewer are not enough.
  static constexpr std::int64_t kAnySize = -1;
};

using OnBytes = std::function<base::Result<>(std::int64_t)>;

// Fetches it into the new file `path`, which is there afterwards only if all of it is right. Goes
// on where it stopped when the line breaks, a few times. `on_bytes` hears of each piece before it
// is written, may refuse it, and is told a negative number when the file begins anew.
//   damaged      it is another one, or has another size
//   unavailable  it cannot be had now
[[nodiscard]] base::Result<> web_fetch(const WebRequest& request, const WantedFile& wanted,
                                       const std::string& path, const OnBytes& on_bytes);

}  // namespace souk::agent
