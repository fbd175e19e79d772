#include "net/admission.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace souk::net {
namespace {

using Verdict = Admission::Verdict;

std::shared_ptr<Admission> admission(AdmissionLimits limits) {
  return std::make_shared<Admission>(limits);
}

// Comes in, and leaves when it must make room.
struct Guest {
  Guest(Admission& door, const std::string& address, bool local = false, bool limited = true)
      : place(std::make_unique<Admission::Place>(
            door.enter({.address = address, .local = local, .limited = limited}))) {
    if (welcome()) place->when_evicted([evicted = evicted] { *evicted = true; });
  }
  [[nodiscard]] bool welcome() const { return place->verdict() == Verdict::welcome; }

  std::unique_ptr<Admission::Place> place;
  std::shared_ptr<bool> evicted = std::make_shared<bool>(false);
};

TEST(Admission, TheOldestStrangerMakesRoom) {
  const auto door = admission({.total = 2});
  Guest a(*door, "a"), b(*door, "b"), c(*door, "c");
  EXPECT_TRUE(a.welcome() && b.welcome() && c.welcome());
  EXPECT_TRUE(*a.evicted);
  EXPECT_FALSE(*b.evicted);
  EXPECT_EQ(door->evicted(), 1U);
  EXPECT_EQ(door->open(), 3U) << "the evicted one has not gone yet";
  a.place.reset();
  EXPECT_EQ(door->open(), 2U);
}

// A flood comes faster than a busy thread begins with those let in.
TEST(Admission, AGuestNobodyHasBegunWithMakesRoomToo) {
  const auto door = admission({.total = 1});
  auto waiting = door->enter({.address = "a"});
  Guest b(*door, "b");
  EXPECT_TRUE(b.welcome());
  bool told = false;
  waiting.when_evicted([&told] { told = true; });
  EXPECT_TRUE(told);
}

TEST(Admission, AnAddressIsToldHowManyItHas) {
  const auto door = admission({.total = 10});
  Guest a(*door, "a"), b(*door, "a"), c(*door, "c");
  EXPECT_EQ(door->open_from("a"), 2U);
  b.place.reset();
  EXPECT_EQ(door->open_from("a"), 1U);
  EXPECT_EQ(door->open_from("d"), 0U);
}

TEST(Admission, WhoIsKnownMakesRoomForNobody) {
  const auto door = admission({.total = 2});
  Guest a(*door, "a"), b(*door, "b");
  a.place->is_known();
  b.place->is_known();
  EXPECT_EQ(door->strangers(), 0U);
  Guest c(*door, "c");
  EXPECT_EQ(c.place->verdict(), Verdict::refuse);
  EXPECT_FALSE(*a.evicted || *b.evicted);
  a.place.reset();
  EXPECT_TRUE(Guest(*door, "d").welcome());
}

TEST(Admission, AnAddressMakesRoomForItselfOnly) {
  const auto door = admission({.total = 10, .per_address = 2});
  Guest other(*door, "other"), a(*door, "a"), b(*door, "a"), c(*door, "a");
  EXPECT_TRUE(c.welcome());
  EXPECT_TRUE(*a.evicted);
  EXPECT_FALSE(*other.evicted);
  b.place->is_known();
  c.place->is_known();
  EXPECT_EQ(Guest(*door, "a").place->verdict(), Verdict::refuse);
  EXPECT_TRUE(Guest(*door, "a", false, false).welcome()) << "a proxy is not limited by address";
  EXPECT_TRUE(Guest(*door, "b").welcome());
}

TEST(Admission, SomeRoomIsForThisComputerAlone) {
  const auto door = admission({.total = 4, .reserved = 1});
  std::vector<Guest> others;
  for (int i = 0; i < 4; ++i) {
    others.emplace_back(*door, "far");
    if (others.back().welcome()) others.back().place->is_known();
  }
  EXPECT_EQ(others.back().place->verdict(), Verdict::refuse);
  EXPECT_TRUE(Guest(*door, "127.0.0.1", true).welcome());
}

TEST(Admission, ThoseBesideTheLimitAreFewWhateverComes) {
  const auto door = admission({.total = 1});
  Guest known(*door, "k");
  known.place->is_known();
  std::vector<Guest> flood;
  for (int i = 0; i < 1'000; ++i) flood.emplace_back(*door, "f");
  EXPECT_EQ(door->open(), 1 + Admission::kRefusalsAtOnce);
  flood.clear();
  known.place.reset();
  for (int i = 0; i < 1'000; ++i) flood.emplace_back(*door, "f");  // Nobody of them goes.
  EXPECT_LE(door->open(), 1 + kConnectionsBesideLimit);
  flood.clear();
  EXPECT_EQ(door->open(), 0U);
  EXPECT_TRUE(Guest(*door, "f").welcome());
}

TEST(Admission, WhoIsEvictedAndThenProvesItselfIsStillOut) {
  const auto door = admission({.total = 1});
  Guest a(*door, "a"), b(*door, "b");
  EXPECT_TRUE(*a.evicted);
  a.place->is_known();
  Guest c(*door, "c");
  EXPECT_TRUE(*b.evicted) << "b is the only one who has a place";
  EXPECT_TRUE(c.welcome());
}

}  // namespace
}  // namespace souk::net
