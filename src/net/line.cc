#include "net/line.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace souk::net {
namespace {

class SocketLine final : public Line {
 public:
  SocketLine(base::Fd socket, std::string unread, std::shared_ptr<void> held)
      : held_(std::move(held)), socket_(std::move(socket)), unread_(std::move(unread)) {}

  int fd() const override { return socket_.get(); }
  bool plain() const override { return unread_.empty(); }

  Io read(std::span<char> into) override {
    if (!unread_.empty()) {
      const auto n = std::min(into.size(), unread_.size());
      std::memcpy(into.data(), unread_.data(), n);
      unread_.erase(0, n);
      return {Outcome::done, n};
    }
    const auto n = ::recv(socket_.get(), into.data(), into.size(), 0);
    if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
    return {n < 0 && again() ? Outcome::want_read : Outcome::closed};
  }

  Io write(std::span<const iovec> from) override {
    msghdr message{};
    message.msg_iov = const_cast<iovec*>(from.data());
    message.msg_iovlen = from.size();
    const auto n = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
    if (n > 0) return {Outcome::done, static_cast<std::size_t>(n)};
    return {n < 0 && again() ? Outcome::want_write : Outcome::closed};
  }

  void finish() override { ::shutdown(socket_.get(), SHUT_WR); }

 private:
  static bool again() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

  std::shared_ptr<void> held_;
  base::Fd socket_;
  std::string unread_;
};

}  // namespace

std::unique_ptr<Line> line_of(base::Fd socket, std::string unread, std::shared_ptr<void> held) {
  return std::make_unique<SocketLine>(std::move(socket), std::move(unread), std::move(held));
}

}  // namespace souk::net
