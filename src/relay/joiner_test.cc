#include "relay/joiner.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/testing/eventually.h"

namespace souk::relay {
namespace {

using base::Fd;

struct LineEnds {
  Fd mine;
  std::unique_ptr<net::Line> line;
};

LineEnds ends(std::string unread = {}) {
  int fds[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
  ::fcntl(fds[1], F_SETFL, O_NONBLOCK);
  const timeval limit{60, 0};
  ::setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  return {Fd(fds[0]), net::line_of(Fd(fds[1]), std::move(unread))};
}

void say(const Fd& fd, std::string_view text) {
  while (!text.empty()) {
    const auto n = ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
    ASSERT_GT(n, 0);
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::string hears(const Fd& fd, std::size_t size) {
  std::string out(size, '\0');
  std::size_t at = 0;
  while (at < size) {
    const auto n = ::recv(fd.get(), out.data() + at, size - at, 0);
    EXPECT_FALSE(n < 0 && errno == EAGAIN) << "nothing came, and it was not closed";
    if (n <= 0) break;
    at += static_cast<std::size_t>(n);
  }
  return out.substr(0, at);
}

class JoinerTest : public ::testing::Test {
 protected:
  std::unique_ptr<Carrier> carrier = Carrier::start({.most_pairs = 4}).value();
  Joiner joiner{*carrier};
};

TEST_F(JoinerTest, TwoSidesOfAMeetingTalkAndOthersDoNot) {
  auto a = ends(), b = ends(), c = ends();
  joiner.bring("l1-l2", 0, std::move(a.line));
  joiner.bring("l1-l3", 1, std::move(c.line));
  say(a.mine, "early");
  EXPECT_EQ(joiner.waiting(), 2u);
  joiner.bring("l1-l2", 1, std::move(b.line));
  EXPECT_EQ(hears(b.mine, 5), "early");
  say(b.mine, "answer");
  EXPECT_EQ(hears(a.mine, 6), "answer");
  EXPECT_EQ(joiner.waiting(), 1u);
  joiner.close();
  EXPECT_EQ(hears(c.mine, 1), "") << "nobody came";
}

TEST_F(JoinerTest, WhoComesAgainTakesTheOldPlace) {
  auto a = ends(), again = ends(), b = ends();
  joiner.bring("m", 0, std::move(a.line));
  joiner.bring("m", 0, std::move(again.line));
  EXPECT_EQ(hears(a.mine, 1), "") << "closed";
  joiner.bring("m", 1, std::move(b.line));
  say(b.mine, "x");
  EXPECT_EQ(hears(again.mine, 1), "x");
}

TEST_F(JoinerTest, WhoHasLeftIsNotJoined) {
  auto a = ends(), b = ends(), c = ends();
  joiner.bring("m", 0, std::move(a.line));
  a.mine.reset();
  joiner.bring("m", 1, std::move(b.line));
  joiner.bring("m", 0, std::move(c.line));
  say(c.mine, "x");
  EXPECT_EQ(hears(b.mine, 1), "x");
}

TEST_F(JoinerTest, WhoHasLeftTakesNoPlace) {
  for (int i = 0; i < 300; ++i) joiner.bring("m" + std::to_string(i), 0, ends().line);
  auto stays = ends();
  joiner.bring("stays", 0, std::move(stays.line));
  EXPECT_TRUE(base::testing::eventually([&] {
    joiner.tidy();
    return joiner.waiting() == 1;
  }));
}

TEST_F(JoinerTest, WhatWasReadAheadGoesFirst) {
  auto a = ends("first "), b = ends();
  joiner.bring("m", 0, std::move(a.line));
  joiner.bring("m", 1, std::move(b.line));
  say(a.mine, "then");
  EXPECT_EQ(hears(b.mine, 10), "first then");
}

TEST_F(JoinerTest, ManyBytesGoBothWaysAtOnceAndEndsArePassedOn) {
  auto a = ends(), b = ends();
  joiner.bring("m", 0, std::move(a.line));
  joiner.bring("m", 1, std::move(b.line));
  std::string large(5'000'000, 'x');
  for (std::size_t i = 0; i < large.size(); i += 997) large[i] = static_cast<char>('a' + i % 26);
  std::thread one([&] {
    say(a.mine, large);
    ::shutdown(a.mine.get(), SHUT_WR);
  });
  std::thread two([&] { say(b.mine, large); });
  std::string at_a, at_b;
  std::thread three([&] { at_a = hears(a.mine, large.size()); });
  at_b = hears(b.mine, large.size() + 1);
  for (auto* thread : {&one, &two, &three}) thread->join();
  EXPECT_EQ(at_b, large);
  EXPECT_EQ(at_a, large);
}

TEST_F(JoinerTest, PairsAreBounded) {
  std::vector<Fd> kept;
  for (int i = 0; i < 5; ++i) {
    auto a = ends(), b = ends();
    const auto name = "m" + std::to_string(i);
    joiner.bring(name, 0, std::move(a.line));
    joiner.bring(name, 1, std::move(b.line));
    if (i == 4) {
      EXPECT_EQ(hears(a.mine, 1), "") << "too many";
    }
    kept.push_back(std::move(a.mine));
    kept.push_back(std::move(b.mine));
  }
  EXPECT_EQ(carrier->counters().pairs, 4u);
}

TEST(MeetingTickets, AreGoodForOneSideOfOneMeetingUntilTheyExpire) {
  const base::Digest key = base::blake2b("key"), other = base::blake2b("other");
  const base::Time now(1'000'000);
  const auto text = sign({.meeting = "l1-l2", .side = 1, .until = now + base::seconds(5)}, key);
  const auto read = read_meeting_ticket(text, key, now);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->meeting, "l1-l2");
  EXPECT_EQ(read->side, 1);
  EXPECT_FALSE(read_meeting_ticket(text, key, now + base::seconds(5)));
  EXPECT_FALSE(read_meeting_ticket(text, other, now));
  for (std::size_t i = 0; i < text.size(); ++i) {
    auto changed = text;
    changed[i] = changed[i] == 'a' ? 'b' : 'a';
    EXPECT_FALSE(read_meeting_ticket(changed, key, now)) << i;
  }
  for (const std::string nonsense : {"", "////", "a/b/c/d", "l1/2/9/00"})
    EXPECT_FALSE(read_meeting_ticket(nonsense, key, now));
  EXPECT_FALSE(read_meeting_ticket(std::string(100'000, 'a'), key, now));
}

}  // namespace
}  // namespace souk::relay
