#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/testing/eventually.h"

namespace souk::net::testing {

using base::testing::eventually;
using base::testing::kPatience;

// A peer that sends and receives exactly the bytes a test wants, on loopback.
class RawSocket {
 public:
  // A small `receive_buffer` makes a consumer that is soon full.
  explicit RawSocket(std::uint16_t port, int receive_buffer = 0) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(fd_ >= 0);
    const int on = 1;  // A request cut in two must not wait for an acknowledgement.
    ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (receive_buffer > 0)
      ::setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof receive_buffer);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(::connect(fd_, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0);
  }
  RawSocket(RawSocket&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), buffer_(std::move(other.buffer_)) {}
  ~RawSocket() {
    if (fd_ >= 0) ::close(fd_);
  }

  // False once the server has closed the connection.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  // Everything up to and including `mark`; what there was, on a close or after kPatience.
  std::string read_until(std::string_view mark) {
    auto end = buffer_.find(mark);
    while (end == buffer_.npos && receive()) end = buffer_.find(mark);
    const auto size = end == buffer_.npos ? buffer_.size() : end + mark.size();
    return take(size);
  }

  std::string read_bytes(std::size_t n) {
    while (buffer_.size() < n && receive()) {
    }
    return take(std::min(n, buffer_.size()));
  }

  // One response with a Content-Length, head and body.
  std::string read_response() {
    std::string head = read_until("\r\n\r\n");
    constexpr std::string_view name = "Content-Length: ";
    const auto at = head.find(name);
    return at == head.npos ? head : head + read_bytes(std::stoul(head.substr(at + name.size())));
  }

  std::string read_to_end() {
    while (receive()) {
    }
    return take(buffer_.size());
  }

  // The server has closed and nothing unread is left.
  bool ended() { return read_to_end().empty() && closed_; }

 private:
  bool receive() {
    pollfd ready{.fd = fd_, .events = POLLIN, .revents = 0};
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(kPatience).count();
    if (::poll(&ready, 1, static_cast<int>(ms)) != 1) return false;
    std::array<char, 65536> chunk;
    const auto n = ::recv(fd_, chunk.data(), chunk.size(), 0);
    closed_ = n <= 0;
    if (n > 0) buffer_.append(chunk.data(), static_cast<std::size_t>(n));
    return n > 0;
  }

  std::string take(std::size_t n) {
    std::string out = buffer_.substr(0, n);
    buffer_.erase(0, n);
    return out;
  }

  int fd_ = -1;
  std::string buffer_;
  bool closed_ = false;
};

}  // namespace souk::net::testing
