#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"
#include "net/line.h"

struct ssl_ctx_st;
struct ssl_st;

namespace souk::net {

// A server's certificate and key, ready for connections. Shared by all of them.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<const TlsContext>> make(std::string_view certificate_pem,
                                                              std::string_view key_pem);
  explicit TlsContext(ssl_ctx_st* context) : context_(context) {}
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;
  ssl_ctx_st* get() const { return context_; }

 private:
  ssl_ctx_st* context_;
};

// Non-blocking reads and writes on a connected socket, in the clear or through TLS (whose handshake
// happens inside the first of them). Does not own the descriptor. Internal to src/net.
class Transport {
 public:
  Transport(int fd, std::shared_ptr<const TlsContext> tls);  // Null: in the clear.
  Transport(Transport&& other) noexcept;
  ~Transport();
  Transport& operator=(Transport&&) = delete;

  enum class Outcome { done, want_read, want_write, closed };
  struct Io {
    Outcome outcome = Outcome::closed;
    std::size_t bytes = 0;  // With done: at least one.
  };
  Io read(std::span<char> into);
  // After want_*, the next write must begin with the same bytes (TLS demands it).
  Io write(std::span<const iovec> from);
  // Tells the peer that nothing more will come.
  void shut_down_writing();
  // Of so many bytes that will come we want to be told when there are some, not of each packet.
  // More must not be expected than will come.
  void expect(std::size_t bytes);
  // Whether one read may leave bytes behind that no readiness event will announce.
  bool buffers_input() const { return ssl_ != nullptr; }
  bool encrypts() const { return ssl_ != nullptr; }

 private:
  Io tls_outcome(int returned);
  Io tls_write(std::span<const iovec> from);

  int fd_;
  std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_ = nullptr;
  int low_water_ = 1;
};

// What is left of a connection when HTTP is over: `socket` is the one of `transport`.
[[nodiscard]] std::unique_ptr<Line> line_of(base::Fd socket, Transport transport,
                                            std::string unread, std::shared_ptr<void> held);

}  // namespace souk::net
