#include "lab/worlds/agenda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/random.h"

namespace souk::lab::sim {
namespace {

TEST(Agenda, EverythingComesAtItsTimeAndInTheOrderInWhichItWasPlanned) {
  base::Random random(1);
  Agenda agenda;
  std::vector<Planned> waiting;
  std::uint64_t order = 0;
  double now = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (waiting.empty() || random.between(0, 2) > 0) {
      const auto act = static_cast<Act>(random.between(0, static_cast<int>(kActs) - 1));
      // Some of a fixed delay, some of any; times are often the same.
      const auto at = now + (act == Act::beat ? 5 : static_cast<double>(random.between(0, 20)));
      agenda.add(at, act, order + 7, 0);
      waiting.push_back({at, ++order, order + 6, 0, act});
    } else {
      const auto first = std::ranges::min_element(
          waiting, [](const Planned& a, const Planned& b) { return b > a; });
      ASSERT_EQ(agenda.next()->order, first->order);
      const auto taken = agenda.take();
      ASSERT_EQ(taken.order, first->order);
      ASSERT_EQ(taken.id, first->id);
      now = taken.at;
      waiting.erase(first);
    }
  }
  for (auto left = waiting.size(); left > 0; --left) agenda.take();
  EXPECT_EQ(agenda.next(), nullptr);
}

}  // namespace
}  // namespace souk::lab::sim
