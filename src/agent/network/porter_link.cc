#include "agent/network/porter_link.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "agent/sandbox/keeper.h"
#include "agent/sandbox/porter.h"

namespace souk::agent {
namespace {

using base::Code;
using base::fail;
using base::Fd;

constexpr auto kToConnect = base::seconds(5);

struct Answer {
  PorterReport report;
  Fd fd;
};

// Nothing: the porter is gone, or does not answer.
std::optional<Answer> receive(int socket, base::Duration timeout) {
  pollfd event{socket, POLLIN, 0};
  int got = 0;
  do got = ::poll(&event, 1, static_cast<int>(timeout.us / 1000));
  while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  Answer out;
  iovec part{&out.report, sizeof out.report};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != static_cast<ssize_t>(sizeof out.report))
    return std::nullopt;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message);
      header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
    out.fd = Fd(fd);
  }
  return out;
}

bool order(int socket, PorterOrder what) {
  return ::send(socket, &what, sizeof what, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what);
}

}  // namespace

base::Result<std::unique_ptr<PorterLink>> PorterLink::make() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Code::exhausted, "cannot make a socket for the program's network");
  return std::unique_ptr<PorterLink>(new PorterLink(Fd(ends[0]), Fd(ends[1])));
}

base::Result<Fd> PorterLink::await_network(base::Duration timeout) {
  const std::lock_guard lock(mutex_);
  auto answer = receive(ours_.get(), timeout);
  if (!answer) return fail(Code::unavailable, "the program's network was not made");
  const auto& report = answer->report;
  if (report.error != 0)
    return std::unexpected(explain({Word::failed, report.step, report.error, 0}));
  return std::move(answer->fd);
}

void PorterLink::go() {
  const std::lock_guard lock(mutex_);
  (void)order(ours_.get(), {.what = 'g'});
}

base::Result<Fd> PorterLink::connect(std::uint16_t port) {
  const std::lock_guard lock(mutex_);
  if (!order(ours_.get(), {.what = 'c', .port = port, .number = ++number_}))
    return fail(Code::unavailable, "the program has ended");
  auto answer = receive(ours_.get(), kToConnect);
  // That of a question that was given up came late.
  while (answer && answer->report.number != number_) answer = receive(ours_.get(), kToConnect);
  if (!answer) return fail(Code::unavailable, "the program has ended");
  if (answer->report.error != 0)
    return fail(Code::unavailable, fmt::format("the program does not listen at port {}: {}", port,
                                               std::strerror(answer->report.error)));
  return std::move(answer->fd);
}

}  // namespace souk::agent
