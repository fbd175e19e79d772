#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/fd.h"

namespace souk::net {

// A connection that has become a plain stream of bytes in both directions: what is left of a
// request that was answered with 101 (Reply::hand_over), what dial() gives, or a socket. Never
// blocks. For one thread at a time, but for a plain() one: there one thread may read while another
// writes. Destroying it closes the connection.
class Line {
 public:
  enum class Outcome { done, want_read, want_write, closed };
  struct Io {
    Outcome outcome = Outcome::closed;
    std::size_t bytes = 0;  // With done: at least one.
  };

  virtual ~Line() = default;
  // To wait for, as want_read and want_write say.
  [[nodiscard]] virtual int fd() const = 0;
  // What is on the descriptor is what the peer says: no TLS, and nothing was read ahead.
  [[nodiscard]] virtual bool plain() const = 0;
  [[nodiscard]] virtual Io read(std::span<char> into) = 0;
  // After want_*, the next write must begin with the same bytes.
  [[nodiscard]] virtual Io write(std::span<const iovec> from) = 0;
  // Nothing more will be written.
  virtual void finish() = 0;
};

// A connected, non-blocking socket. `unread` came before what is on it. `held` goes with it.
[[nodiscard]] std::unique_ptr<Line> line_of(base::Fd socket, std::string unread = {},
                                            std::shared_ptr<void> held = {});

// What becomes of a connection that was handed over; null: it is gone.
using LineTaker = std::move_only_function<void(std::unique_ptr<Line>)>;

}  // namespace souk::net
