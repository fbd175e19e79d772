#include "agent/network/porter_link.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>

#include "agent/sandbox/porter.h"

namespace souk::agent {
namespace {

using base::Fd;

void answer(const Fd& porter, PorterReport report, int fd = -1) {
  iovec part{&report, sizeof report};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = space;
    message.msg_controllen = sizeof space;
    auto* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &fd, sizeof fd);
  }
  ASSERT_EQ(::sendmsg(porter.get(), &message, 0), static_cast<ssize_t>(sizeof report));
}

TEST(PorterLink, ALateAnswerIsNotTakenForThatOfTheNextQuestion) {
  const auto link = PorterLink::make().value();
  const Fd porter(::dup(link->program_end()));
  int late[2], good[2];
  ASSERT_EQ(::pipe(late), 0);
  ASSERT_EQ(::pipe(good), 0);
  const Fd late_in(late[0]), late_out(late[1]), good_in(good[0]), good_out(good[1]);
  answer(porter, {'c', Step::none, 0, 0}, late_out.get());
  answer(porter, {'c', Step::none, ECONNREFUSED, 0});
  auto asked = std::async(std::launch::async, [&] { return link->connect(80); });
  PorterOrder order;
  ASSERT_EQ(::recv(porter.get(), &order, sizeof order, 0), static_cast<ssize_t>(sizeof order));
  EXPECT_EQ(order.port, 80);
  answer(porter, {'c', Step::none, 0, order.number}, good_out.get());
  const auto connected = asked.get();
  ASSERT_TRUE(connected) << connected.error().message;
  ASSERT_EQ(::write(connected->get(), "x", 1), 1);
  char got = 0;
  // Else there is nothing in it, and nobody to write.
  ASSERT_EQ(::fcntl(good_in.get(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(::read(good_in.get(), &got, 1), 1);
}

}  // namespace
}  // namespace souk::agent
