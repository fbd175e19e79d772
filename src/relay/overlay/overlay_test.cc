#include "relay/overlay/overlay.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <vector>

#include "base/testing/eventually.h"
#include "relay/overlay/addresses.h"
#include "relay/overlay/packet.h"

namespace souk::relay {
namespace {

using base::Fd;
using base::testing::eventually;

std::pair<Fd, Fd> pair_of(int type) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
  return {Fd(ends[0]), Fd(ends[1])};
}

std::string packet(std::uint32_t from, std::uint32_t to, std::string_view text) {
  std::string out(20 + text.size(), '\0');
  out[0] = 0x45;
  out[2] = static_cast<char>(out.size() >> 8);
  out[3] = static_cast<char>(out.size());
  out[9] = 99;
  for (int i = 0; i < 4; ++i) {
    out[static_cast<std::size_t>(12 + i)] = static_cast<char>(from >> (24 - 8 * i));
    out[static_cast<std::size_t>(16 + i)] = static_cast<char>(to >> (24 - 8 * i));
  }
  std::memcpy(out.data() + 20, text.data(), text.size());
  return out;
}

// A worker whose device is a socket of whole messages.
struct Worker {
  Fd device;
  KeyPair keys = KeyPair::make();
  std::unique_ptr<Overlay> overlay;

  Worker(std::int32_t worker, std::int32_t workers, bool fast_aes = true,
         base::Duration to_verify = base::minutes(10)) {
    auto [ours, theirs] = pair_of(SOCK_SEQPACKET);
    device = std::move(ours);
    overlay = std::make_unique<Overlay>(OverlayOptions{.worker = worker,
                                                       .workers = workers,
                                                       .tun = std::move(theirs),
                                                       .keys = keys,
                                                       .fast_aes = fast_aes,
                                                       .to_verify = to_verify});
  }
  void say(const std::string& text) const {
    std::string out(sizeof(VirtioHeader), '\0');
    out += text;
    ASSERT_EQ(::send(device.get(), out.data(), out.size(), 0), std::ssize(out));
  }
  std::string hears() const {
    pollfd event{device.get(), POLLIN, 0};
    if (::poll(&event, 1, 60'000) <= 0) return "(nothing)";
    std::string out(70'000, '\0');
    const auto n = ::recv(device.get(), out.data(), out.size(), 0);
    out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return out.substr(std::min(out.size(), sizeof(VirtioHeader)));
  }
};

void know(Worker& a, std::int32_t an, Worker& b, std::int32_t bn, bool fast_aes = true) {
  ASSERT_TRUE(a.overlay->set_peer(bn, b.keys.public_key, fast_aes));
  ASSERT_TRUE(b.overlay->set_peer(an, a.keys.public_key, fast_aes));
}

void connect(Worker& a, std::int32_t an, Worker& b, std::int32_t bn,
             PathKind kind = PathKind::relay) {
  auto [one, other] = pair_of(SOCK_STREAM);
  a.overlay->add_line(bn, net::line_of(std::move(one)), kind);
  b.overlay->add_line(an, net::line_of(std::move(other)), kind);
}

class OverlayTest : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Ciphers, OverlayTest, ::testing::Bool(),
                         [](const auto& row) { return row.param ? "aes" : "chacha"; });

TEST_P(OverlayTest, PacketsGoBothWaysWholeAndLarge) {
  Worker a(0, 3), b(2, 3);
  know(a, 0, b, 2, GetParam());
  connect(a, 0, b, 2);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(2) && b.overlay->reaches(0); }));
  const auto there = packet(address_of(0), address_of(2), "hello");
  const auto back = packet(address_of(2), address_of(0), std::string(65'000, 'x'));
  a.say(there);
  EXPECT_EQ(b.hears(), there);
  for (int i = 0; i < 20; ++i) {
    b.say(back);
    EXPECT_EQ(a.hears(), back);
  }
  EXPECT_EQ(a.overlay->sent_bytes(), std::ssize(there));
  // It is counted when it has been delivered.
  EXPECT_TRUE(eventually([&] { return a.overlay->received_bytes() >= 20 * std::ssize(back); }));
  EXPECT_EQ(a.overlay->received_bytes(), 20 * std::ssize(back));
}

TEST_P(OverlayTest, NobodySpeaksForAnotherOrToTheOutside) {
  Worker a(0, 3), b(1, 3);
  know(a, 0, b, 1, GetParam());
  connect(a, 0, b, 1);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && b.overlay->reaches(0); }));
  a.say(packet(address_of(2), address_of(1), "from somebody else"));
  a.say(packet(address_of(0), address_of(2), "to one who is not there"));
  a.say(packet(address_of(0), 0x08080808, "to the internet"));
  a.say(packet(address_of(0), 0x7f000001, "to the owner"));
  a.say("no packet at all");
  const auto good = packet(address_of(0), address_of(1), "good");
  a.say(good);
  EXPECT_EQ(b.hears(), good) << "nothing else came before it";
}

TEST(Overlay, ALineOfSomebodyWithAnotherKeyIsClosedAndCarriesNothing) {
  Worker a(0, 2), b(1, 2), eve(1, 2);
  know(a, 0, b, 1);
  ASSERT_TRUE(eve.overlay->set_peer(0, a.keys.public_key, true));  // She knows who a is.
  auto [one, other] = pair_of(SOCK_STREAM);
  eve.overlay->add_line(0, net::line_of(std::move(one)), PathKind::relay);
  const Fd watched(::dup(other.get()));
  a.overlay->add_line(1, net::line_of(std::move(other)), PathKind::relay);
  EXPECT_TRUE(eventually([&] { return !eve.overlay->reaches(0); }));
  EXPECT_FALSE(a.overlay->reaches(1));
  connect(a, 0, b, 1);
  EXPECT_TRUE(eventually([&] { return a.overlay->reaches(1); }));
}

TEST(Overlay, NonsenseOnALineEndsThatLineAlone) {
  Worker a(0, 2), b(1, 2);
  know(a, 0, b, 1);
  connect(a, 0, b, 1);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && b.overlay->reaches(0); }));
  for (const auto& text :
       {std::string("GET / HTTP/1.1\r\n\r\n"), Overlay::head_of(1, 0) + std::string(4, '\xff'),
        Overlay::head_of(1, 0) + std::string("\x20\0\0\0", 4) + std::string(32, 'x')}) {
    auto [one, other] = pair_of(SOCK_STREAM);
    ASSERT_EQ(::send(one.get(), text.data(), text.size(), 0), std::ssize(text));
    a.overlay->add_line(1, net::line_of(std::move(other)), PathKind::direct);
    // Its own hello came; then it hangs up.
    EXPECT_TRUE(eventually([&] {
      char piece[256];
      return ::recv(one.get(), piece, sizeof piece, 0) == 0;
    }));
  }
  const auto good = packet(address_of(0), address_of(1), "good");
  a.say(good);
  EXPECT_EQ(b.hears(), good);
}

TEST(Overlay, TheBestLineIsUsedAndAnotherWhenItBreaks) {
  Worker a(0, 2), b(1, 2);
  know(a, 0, b, 1);
  connect(a, 0, b, 1, PathKind::server);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1); }));
  auto [one, other] = pair_of(SOCK_STREAM);
  const Fd cut(::dup(one.get()));
  a.overlay->add_line(1, net::line_of(std::move(one)), PathKind::direct);
  b.overlay->add_line(0, net::line_of(std::move(other)), PathKind::direct);
  ASSERT_TRUE(eventually([&] { return a.overlay->peers()[0].path == PathKind::direct; }));
  ASSERT_TRUE(eventually([&] { return b.overlay->peers()[0].path == PathKind::direct; }));
  ::shutdown(cut.get(), SHUT_RDWR);
  ASSERT_TRUE(eventually([&] { return a.overlay->peers()[0].path == PathKind::server; }));
  const auto text = packet(address_of(0), address_of(1), "still there");
  a.say(text);
  EXPECT_EQ(b.hears(), text);
}

TEST(Overlay, AWorkerThatWasReplacedIsReachedUnderItsNewKeyOnly) {
  Worker a(0, 2);
  auto b = std::make_unique<Worker>(1, 2);
  know(a, 0, *b, 1);
  connect(a, 0, *b, 1);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && b->overlay->reaches(0); }));
  Worker again(1, 2);
  know(a, 0, again, 1);
  EXPECT_TRUE(eventually([&] { return !b->overlay->reaches(0); })) << "its line was closed";
  connect(a, 0, again, 1);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && again.overlay->reaches(0); }));
  const auto text = packet(address_of(1), address_of(0), "new");
  again.say(text);
  EXPECT_EQ(a.hears(), text);
}

TEST(Overlay, AWorkerThatLeftTheGangIsHeardNoMore) {
  Worker a(0, 3), b(1, 3), c(2, 3);
  know(a, 0, b, 1);
  know(a, 0, c, 2);
  connect(a, 0, b, 1);
  connect(a, 0, c, 2);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && a.overlay->reaches(2); }));
  a.overlay->drop_peer(1);
  EXPECT_TRUE(eventually([&] { return !b.overlay->reaches(0); })) << "its line was closed";
  connect(a, 0, b, 1);
  EXPECT_FALSE(a.overlay->reaches(1));
  ASSERT_EQ(a.overlay->peers().size(), 1u);
  EXPECT_EQ(a.overlay->peers()[0].worker, 2);
  EXPECT_TRUE(a.overlay->reaches(2));
  // The market had only lost sight of it.
  ASSERT_TRUE(a.overlay->set_peer(1, b.keys.public_key, true));
  connect(a, 0, b, 1);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && b.overlay->reaches(0); }));
  const auto text = packet(address_of(1), address_of(0), "again");
  b.say(text);
  EXPECT_EQ(a.hears(), text);
}

// All that arrives up to the end of the line; nothing while it is open.
bool hung_up(const Fd& fd) {
  char piece[256];
  ssize_t n = 0;
  while ((n = ::recv(fd.get(), piece, sizeof piece, MSG_DONTWAIT)) > 0) {
  }
  return n == 0 || errno == ECONNRESET;
}

TEST(Overlay, StrangersThatSayWhoTheyAreHoldFewLinesAndNotForLong) {
  Worker a(0, 2, true, base::seconds(1)), b(1, 2);
  know(a, 0, b, 1);
  ASSERT_TRUE(eventually([&] {  // Again, should this machine take longer than that.
    connect(a, 0, b, 1);
    return eventually([&] { return a.overlay->reaches(1) && b.overlay->reaches(0); },
                      std::chrono::seconds(5));
  }));
  std::vector<Fd> strangers;
  const auto open = [&] {
    return std::ranges::count_if(strangers, [](const Fd& fd) { return !hung_up(fd); });
  };
  for (int i = 0; i < 50; ++i) {
    auto [one, other] = pair_of(SOCK_STREAM);
    a.overlay->add_line(1, net::line_of(std::move(other)), PathKind::direct, true);
    strangers.push_back(std::move(one));
  }
  EXPECT_TRUE(eventually([&] { return open() <= Overlay::kMostUnverified; }));
  EXPECT_TRUE(eventually([&] { return open() == 0; })) << "they never showed anything";
  const auto good = packet(address_of(1), address_of(0), "good");
  b.say(good);
  EXPECT_EQ(a.hears(), good) << "the line of the worker itself stays";
}

// Else each line would need room for one.
TEST(Overlay, ALineThatBeginsWithALargeRecordIsNotHeardOut) {
  Worker a(0, 2), b(1, 2);
  know(a, 0, b, 1);
  auto [one, other] = pair_of(SOCK_STREAM);
  a.overlay->add_line(1, net::line_of(std::move(other)), PathKind::direct);
  const auto text = Overlay::head_of(1, 0) + std::string("\x00\x10\0\0", 4);
  ASSERT_EQ(::send(one.get(), text.data(), text.size(), 0), std::ssize(text));
  EXPECT_TRUE(eventually([&] { return hung_up(one); }));
}

// What does not fit is lost, and others are served.
TEST(Overlay, AWorkerThatTakesNothingDoesNotHoldUpTheOthers) {
  Worker a(0, 3), b(1, 3), c(2, 3);
  know(a, 0, b, 1);
  know(a, 0, c, 2);
  connect(a, 0, b, 1);
  connect(a, 0, c, 2);
  ASSERT_TRUE(eventually([&] { return a.overlay->reaches(1) && a.overlay->reaches(2); }));
  ASSERT_TRUE(eventually([&] { return b.overlay->reaches(0) && c.overlay->reaches(0); }));
  const auto large = packet(address_of(0), address_of(1), std::string(60'000, 'x'));
  const auto note = packet(address_of(0), address_of(2), "note");
  for (int i = 0; i < 60; ++i) {  // Nobody reads b's device: its socket fills up.
    std::string out(sizeof(VirtioHeader), '\0');
    out += large;
    pollfd event{a.device.get(), POLLOUT, 0};
    ASSERT_GT(::poll(&event, 1, 60'000), 0);
    ::send(a.device.get(), out.data(), out.size(), 0);
  }
  a.say(note);
  EXPECT_EQ(c.hears(), note);
}

TEST(Overlay, TheHeadOfALineNamesBothEnds) {
  EXPECT_EQ(Overlay::read_head(Overlay::head_of(300, 7), 7), 300);
  EXPECT_EQ(Overlay::read_head(Overlay::head_of(300, 7), 8), -1);
  EXPECT_EQ(Overlay::read_head("SKG1", 0), -1);
  EXPECT_EQ(Overlay::read_head("XXXXXXXX", 0), -1);
}

}  // namespace
}  // namespace souk::relay
