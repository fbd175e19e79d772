#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "net/http.h"

namespace souk::net {

// Bytes waiting to be written to one connection, as the pieces they came in, so that a head and its
// body leave in one gathered write and shared buffers are never copied. Internal to src/net.
class Outbox {
 public:
  bool empty() const { return first_ == pieces_.size(); }
  void push(std::string head, std::string body, std::vector<SharedBytes> parts = {});
  // `data` between `before` and, if `crlf`, a line break: one chunk of a chunked body.
  void push(std::string before, std::shared_ptr<const std::string> data, bool crlf);
  // Fills `out` with the next unwritten bytes and returns how many entries it used.
  std::size_t gather(std::span<iovec> out) const;
  void consume(std::size_t bytes);
  void clear();

 private:
  struct Piece {
    std::string head;
    std::string body;
    std::vector<SharedBytes> parts;
    std::shared_ptr<const std::string> shared;
    bool crlf = false;

    std::size_t size() const;
  };

  std::vector<Piece> pieces_;
  std::size_t first_ = 0;    // The first piece not fully written ...
  std::size_t written_ = 0;  // ... and how much of it is.
};

}  // namespace souk::net
