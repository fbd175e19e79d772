#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "base/random.h"
#include "hub/testing/runs.h"
#include "train/aggregators/aggregator.h"

namespace souk::hub {
namespace {

using base::LeaseId;
using base::UnitKind;

// Thirty-two honest workers of unequal speed who come, leave with a word, die without one, and come
// back, under a clock that jumps. Whatever the aggregator, the training must end.
class RunCrowd : public testing::RunTest {
 protected:
  struct Member {
    std::optional<wire::Unit> unit = {};
    std::int64_t base = 0;
    base::Time ready;  // Its unit is done, or it is back.
    LeaseId lease;
    bool away = false;
  };

  bool ended() {
    const auto end = run_->ended();
    EXPECT_TRUE(end) << end.error().message;
    return end && end->has_value();
  }

  void come(Member& m) { m = {.ready = clock_.now(), .lease = LeaseId{next_lease_++}}; }

  void go(Member& m, bool with_a_word) {
    if (with_a_word) run_->gone(m.lease);
    m.away = true;
    m.unit.reset();
    m.ready = clock_.now() + base::seconds(random_.between(1, 20));
  }

  void take(Member& m, std::size_t who) {
    const auto unit = run_->next(m.lease, {}, std::nullopt, 1 + who);
    ASSERT_TRUE(unit) << unit.error().message;
    if (unit->id == 0) return;
    m.unit = *unit;
    m.base = unit->version;
    if (unit->kind == UnitKind::train && m.base == 0) {
      const auto bytes = run_->pull(m.lease, {-1, std::nullopt});
      ASSERT_TRUE(bytes) << bytes.error().message;
      std::vector<float> pulled(11);
      m.base = *train::unpack_changed(bytes->joined(), pulled);
    }
    m.ready = clock_.now() + base::milliseconds(random_.between(500, 4'000) * (who % 4 + 1));
  }

  void report(Member& m) {
    const auto unit = *std::exchange(m.unit, std::nullopt);
    const wire::UnitDone done{.base = m.base,
                              .steps = unit.steps,
                              .samples = unit.kind == UnitKind::evaluate ? 100 : unit.steps * 10,
                              .loss = 0.5,
                              .metrics = {{"accuracy", 0.5}},
                              .tensors = {{"w", {2, 5}}, {"b", {1}}}};
    std::vector<float> sent;
    if (unit.kind == UnitKind::init) sent.assign(11, 1.0f);
    if (unit.kind == UnitKind::train) {
      if (unit.send == train::Sends::weights) sent = values();
      sent.resize(11);
      for (auto& v : sent) v += static_cast<float>(random_.between(-100, 100)) / 10'000;
    }
    if (!sent.empty() && !run_->receive(m.lease, unit.id, 0, packed(sent))) return;  // Too late.
    const auto verdict = run_->complete(m.lease, unit.id, done);
    EXPECT_TRUE(verdict) << verdict.error().message;
  }

  // How many things happened until it ended.
  int play(int most) {
    std::vector<Member> crowd(32);
    for (auto& m : crowd) come(m);
    for (int i = 0; i < most; ++i) {
      if (i % 32 == 0 && ended()) return i;
      clock_.advance(base::milliseconds(50));
      const auto who = random_.below(crowd.size());
      auto& m = crowd[who];
      if (clock_.now() < m.ready) continue;
      const auto luck = random_.below(100);
      if (m.away)
        come(m);
      else if (luck < 4)
        go(m, luck < 2);
      else if (m.unit)
        report(m);
      else
        take(m, who);
    }
    return most;
  }

  base::Random random_{1};
  std::uint64_t next_lease_ = 100;
};

TEST_F(RunCrowd, EveryAggregatorComesToItsEnd) {
  constexpr int most = 60'000;  // Fifty minutes of the crowd's clock.
  for (const auto& row : train::aggregators()) {
    SCOPED_TRACE(row.name);
    spec_.rule = row.name;
    spec_.rule_params = {};
    spec_.local_steps = 2;
    spec_.epochs = 3;
    workers_ = 32;
    pointer_ = std::string(row.name);
    open();
    EXPECT_LT(play(most), most) << run_->view().useful_steps << " steps of 120";
  }
}

}  // namespace
}  // namespace souk::hub
