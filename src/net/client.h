#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"
#include "net/http.h"

namespace souk::net {

struct ClientOptions {
  std::string base_url;  // "https://market.example:8443"; http or https.
  base::Duration connect_timeout = base::seconds(10);
  base::Duration total_timeout = base::seconds(60);  // Of one send(), connecting included.
  // A stream() in which nothing arrives for this long has lost its peer.
  base::Duration stream_silence_timeout = base::minutes(2);
  std::size_t max_response_bytes = 256 * 1024 * 1024;  // Of one send().
  std::string ca_file = {};  // PEM; empty: the system's certificate authorities.
  // SHA-256 of the server's certificate in hex, colons allowed (see tls.h). When set it alone
  // decides: authorities, names and dates are not looked at. For self-signed servers.
  std::string pinned_sha256 = {};
  std::string user_agent = "souk";
  std::uint16_t local_port = 0;  // To connect from, shared with other sockets of ours; 0: any.
};

// 128 random bits in hex, new at every call. For Idempotency-Key headers.
std::string fresh_key();

// A synchronous HTTP client of one server; keeps its connection open between calls. Use it from
// one thread at a time; only cancel() may be called from another. Redirects are answers, not
// followed. It logs nothing, and its errors never contain header values.
class Client {
 public:
  // Fails for a URL or pin that cannot be right. Connects to nothing yet.
  static base::Result<Client> make(ClientOptions options);
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  // `path` is encoded and begins with '/'. Any status is a Response; a server that cannot be
  // reached, trusted or understood is Error{unavailable} with a hint.
  base::Result<Response> send(std::string_view method, std::string_view path,
                              const Headers& headers = {}, std::string_view body = {});

  // As send(), for large bodies to and from our own servers: `body` is sent from where it lies, and
  // the answer's is read into `memory`, which is only worth something if it was an answer's before.
  base::Result<Response> move(std::string_view method, std::string_view path,
                              const Headers& headers, std::string_view body, std::string memory);

  // GETs a body of any length and passes on its pieces as they arrive, until it ends or `on_chunk`
  // returns false. A status other than 2xx is returned with its body and no call of on_chunk.
  base::Result<Response> stream(std::string_view path, const Headers& headers,
                                const std::function<bool(std::string_view)>& on_chunk);

  // Makes the call under way, and all later ones, fail within about a second. From any thread.
  void cancel();

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::net
