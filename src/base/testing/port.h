#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>

#include "base/check.h"
#include "base/fd.h"

namespace souk::base::testing {

// A port of loopback that stays the test's own: it is bound, so the kernel gives it to nobody else,
// and nobody listens there. A server that sets SO_REUSEADDR, as most do, can be started on it.
class Port {
 public:
  Port() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int on = 1;
    sockaddr_in address{.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    CHECK(::setsockopt(fd_.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
          ::bind(fd_.get(), any, size) == 0 && ::getsockname(fd_.get(), any, &size) == 0);
    number_ = ntohs(address.sin_port);
  }
  [[nodiscard]] std::uint16_t number() const { return number_; }

 private:
  Fd fd_;
  std::uint16_t number_ = 0;
};

}  // namespace souk::base::testing
