#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/http.h"

namespace souk::net {

struct ParserLimits {
  std::size_t header_bytes;
  std::size_t body_bytes;
};

// Reads one request from bytes cut anywhere (Beast underneath). Bodies come by Content-Length or
// chunked; a message whose length two readers could understand differently is refused. Internal to
// src/net.
class RequestParser {
 public:
  explicit RequestParser(ParserLimits limits);
  ~RequestParser();

  // Takes bytes from the front of `data` and returns how many. Those not taken must be the front
  // of the next call's data. Takes none beyond the end of the request, nor of a body before
  // read_body().
  std::size_t feed(std::string_view data);

  // The head is there, a body follows, and nobody has said yet that it is to be read.
  bool wants_body() const;
  const Request& head(const Peer& peer);            // Then; with the peer put in.
  std::optional<std::uint64_t> body_bytes() const;  // As the head says.
  // Now it is, up to `limit` bytes; else it fails with 413. Into `place`, if there is one of the
  // length that the head says.
  void read_body(std::size_t limit, std::shared_ptr<base::Buffer> place = {});

  // Where the rest of a large body belongs: bytes that the caller puts there and feeds are not
  // copied. Empty: feed from anywhere.
  std::span<char> room();
  // What is there of a body that is read so.
  std::string_view so_far() const;

  bool done() const;
  // The peer waits for "100 Continue" before it sends the body. True once.
  bool wants_continue();
  // 0, or the status to refuse the request with: 400, 413, 431.
  int failure() const;
  const std::string& failure_message() const;

  // Once done():
  bool keep_alive() const;
  bool http_1_1() const;
  Request take();  // Without peer.

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace souk::net
