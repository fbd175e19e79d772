#include <gtest/gtest.h>

#include "codec/events.h"
#include "codec/snapshot.h"
#include "market/testing/checked_run.h"
#include "market/testing/history.h"

namespace souk::codec {
namespace {

using market::CreateAccount;
using market::Request;
using market::State;
using market::testing::CheckedRun;
using market::testing::HistoryMaker;

// What the market would do, as bytes: events or the refusal.
base::Bytes answer(const State& state, const Request& r) {
  const auto decision = market::decide(state, r);
  if (!decision) return "refused: " + decision.error().message;
  EventWriter writer;
  for (const auto& event : decision->events) writer.add(decision->at, event);
  return writer.bytes();
}

// A history that is journalled as it happens, in batches.
struct Journalled {
  explicit Journalled(std::uint64_t seed) : maker(seed) {
    run.on_event = [this](Time at, const Event& event) {
      maker.observe(event, at);
      writer.add(at, event);
    };
  }
  void step() {
    request = maker.next(run.state);
    ASSERT_EQ(run.step(request), "") << market::testing::describe(request);
    if (writer.count() < 100) return;
    batches.push_back(writer.bytes());
    writer.clear();
  }

  HistoryMaker maker;
  CheckedRun run;
  Request request;
  EventWriter writer;
  std::vector<base::Bytes> batches;
};

TEST(Replay, ARestartFromTheJournalFindsTheSameMarket) {
  for (const std::uint64_t seed : {11, 12}) {
    Journalled live(seed);
    for (int i = 0; i < 25'000 && !::testing::Test::HasFailure(); ++i) live.step();
    live.batches.push_back(live.writer.bytes());

    State replayed;
    for (const auto& event : market::founding_events()) market::apply(replayed, Time(), event);
    for (const auto& batch : live.batches)
      ASSERT_TRUE(read_events(batch, replayed.events + 1, [&](Time at, const Event& event) {
        market::apply(replayed, at, event);
      }));
    EXPECT_EQ(to_string(state_hash(replayed)), to_string(state_hash(live.run.state)));
  }
}

TEST(Replay, ARestartFromASnapshotDecidesAsIfNothingHadHappened) {
  for (const std::uint64_t seed : {21, 22}) {
    Journalled live(seed);
    std::optional<State> twin;
    for (int i = 1; i <= 20'000; ++i) {
      if (twin) {  // The maker's next request, put to both.
        auto ahead = live.maker;
        const auto request = ahead.next(live.run.state);
        ASSERT_EQ(base::to_hex(answer(*twin, request)),
                  base::to_hex(answer(live.run.state, request)))
            << market::testing::describe(request);
        if (!request.actor.account || twin->accounts.find(request.actor.account))
          (void)market::execute(*twin, request);
      }
      live.step();
      if (::testing::Test::HasFailure()) return;
      if (i % 1'000 != 0) continue;
      const auto bytes = encode_state(live.run.state);
      if (twin) ASSERT_TRUE(encode_state(*twin) == bytes) << "command " << i << ", seed " << seed;
      twin = decode_state(bytes);
      ASSERT_TRUE(twin) << "a snapshot of our own is not read";
      ASSERT_TRUE(encode_state(*twin) == bytes) << "a snapshot changes when it is read";
    }
  }
}

TEST(Replay, ARefusedCommandLeavesNoTrace) {
  Journalled live(31);
  int refused = 0;
  for (int i = 1; i <= 20'000; ++i) {
    auto ahead = live.maker;
    const auto request = ahead.next(live.run.state);
    const bool sampled = i % 20 == 0 && !market::decide(live.run.state, request);
    const auto before = sampled ? encode_state(live.run.state) : base::Bytes();
    live.step();
    if (::testing::Test::HasFailure()) return;
    if (!sampled) continue;
    ++refused;
    ASSERT_TRUE(encode_state(live.run.state) == before) << market::testing::describe(request);
  }
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace souk::codec
