#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <optional>
#include <thread>

#include "hub/run/run.h"
#include "hub/testing/runs.h"
#include "hub/testing/stores.h"

// What several threads do to one training at the same time.

namespace souk::hub {
namespace {

using base::Code;
using base::LeaseId;

class RunThreads : public testing::RunTest {
 protected:
  std::unique_ptr<ParameterStore> store() override {
    return std::make_unique<testing::HookedStore>(make_memory_store(), hooks_);
  }
  void fresh() {
    run_.reset();
    std::filesystem::remove(folder_ / "pointer");
    open();
  }
  // Runs `act` while the store is in the middle of `hook`, called by `work`.
  template <class Work, class Act>
  void while_in_store(testing::StoreHooks::Hook& hook, const Work& work, const Act& act) {
    std::latch inside(1), go_on(1);
    std::atomic<bool> first = true;
    hook = [&]() -> base::Result<> {
      if (!first.exchange(false)) return {};
      inside.count_down();
      go_on.wait();
      return {};
    };
    std::thread worker(work);
    inside.wait();
    auto acted = std::async(std::launch::async, act);
    // It waits for nobody; should it do so after all, this fails rather than hangs.
    EXPECT_EQ(acted.wait_for(std::chrono::seconds(30)), std::future_status::ready);
    go_on.count_down();
    worker.join();
    acted.get();
    hook = testing::StoreHooks::nothing;
  }
  // What the server calls on its core thread.
  void look() {
    (void)run_->progress();
    run_->gone(bob_);
    (void)run_->owed();
    run_->acknowledge(0);
  }

  testing::StoreHooks hooks_;
};

TEST_F(RunThreads, TheCoreThreadWaitsForNoStore) {
  const wire::UnitDone done{.tensors = {{"w", {2, 5}}, {"b", {1}}}};
  const auto first = ask(ann_);
  while_in_store(
      hooks_.load, [&] { EXPECT_TRUE(tell(ann_, first, done, std::vector<float>(11)).accepted); },
      [&] { look(); });
  const auto unit = ask(ann_);
  const auto push = [&] {
    EXPECT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 0.25f)).accepted);
  };
  while_in_store(hooks_.fold, push, [&] { look(); });
  const auto second = ask(ann_);
  const auto push_second = [&] {
    EXPECT_TRUE(tell(ann_, second, done_of(second), std::vector<float>(11, 0.25f)).accepted);
  };
  while_in_store(hooks_.save, push_second, [&] { look(); });
  while_in_store(hooks_.take, [&] { EXPECT_TRUE(run_->end("by its owner")); }, [&] { look(); });
}

TEST_F(RunThreads, TheFirstUnitStaysItsWorkersWhileItsParametersAreStored) {
  const wire::UnitDone done{.tensors = {{"w", {2, 5}}, {"b", {1}}}};
  const auto unit = ask(ann_);
  while_in_store(
      hooks_.load,
      [&] { EXPECT_TRUE(tell(ann_, unit, done, std::vector<float>(11, 1.0f)).accepted); },
      [&] {
        EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
        EXPECT_EQ(ask(bob_).kind, base::UnitKind::wait);
        EXPECT_EQ(run_->complete(ann_, unit.id, done).error().code, Code::unavailable);
        EXPECT_EQ(run_->receive(ann_, unit.id, 0, "x").error().code, Code::unavailable);
        run_->gone(ann_);
      });
  EXPECT_EQ(run_->owed().size(), 1u);
  EXPECT_EQ(values(), std::vector<float>(11, 1.0f));
}

// As a hostile worker would: it reports the first unit, and asks for another while the report waits
// for its turn.
TEST_F(RunThreads, AWorkerThatAsksForAnotherUnitDuringItsReportEndsNoProcess) {
  const wire::UnitDone done{.tensors = {{"w", {2, 5}}, {"b", {1}}}};
  const auto unit = ask(ann_);
  ASSERT_TRUE(run_->receive(ann_, unit.id, 0, packed(std::vector<float>(11, 1.0f))));
  std::optional<std::thread> reporting;
  while_in_store(
      hooks_.take, [&] { EXPECT_FALSE(run_->end("too early")); },
      [&] {
        reporting.emplace([&] { EXPECT_TRUE(run_->complete(ann_, unit.id, done)->accepted); });
        // Until the report is being judged.
        while (run_->receive(ann_, unit.id, 0, "")) std::this_thread::yield();
        EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
        run_->gone(ann_);
      });
  reporting->join();
  EXPECT_EQ(run_->owed().size(), 1u);
  EXPECT_EQ(values(), std::vector<float>(11, 1.0f));
}

TEST_F(RunThreads, RequestsThatRaceForTheFirstUnitEndNoProcess) {
  const wire::UnitDone done{.tensors = {{"w", {2, 5}}, {"b", {1}}}};
  for (int i = 0; i < 100; ++i) {
    fresh();
    const auto unit = ask(ann_);
    ASSERT_TRUE(run_->receive(ann_, unit.id, 0, packed(std::vector<float>(11))));
    std::latch together(2);
    std::thread other([&] {
      together.arrive_and_wait();
      (void)run_->next(ann_, {});
      run_->gone(ann_);
    });
    together.arrive_and_wait();
    const auto verdict = run_->complete(ann_, unit.id, done);
    other.join();
    ASSERT_TRUE(verdict);
    EXPECT_EQ(run_->owed().size(), verdict->accepted ? 1u : 0u);
  }
}

TEST_F(RunThreads, TwoReportsOfOneUnitAtOnceGiveOneFoldOneWageAndOneVerdict) {
  spec_.shards = {{"a", 40'000}};
  fresh();
  begin();
  for (int i = 1; i <= 50; ++i) {
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, base::UnitKind::train);
    const auto done = done_of(unit);
    ASSERT_TRUE(run_->receive(ann_, unit.id, 0, packed(std::vector<float>(11, 0.25f))));
    std::latch together(2);
    const auto insist = [&] {
      together.arrive_and_wait();
      auto verdict = run_->complete(ann_, unit.id, done);
      while (!verdict && verdict.error().code == Code::unavailable)
        verdict = run_->complete(ann_, unit.id, done);
      return verdict;
    };
    auto other = std::async(std::launch::async, insist);
    const auto mine = insist();
    const auto theirs = other.get();
    ASSERT_TRUE(mine && theirs);
    EXPECT_TRUE(mine->accepted && theirs->accepted);
    EXPECT_EQ(std::ssize(run_->owed()), i + 1);
    EXPECT_EQ(run_->view().version, i);
  }
  EXPECT_EQ(values(), std::vector<float>(11, 1 + 50 * 0.25f));
}

TEST_F(RunThreads, ManyWorkersAtOnceAreEachPaidForWhatTheyDid) {
  spec_.shards = {{"a", 40'000}};
  fresh();
  begin();
  std::atomic<int> accepted = 0;
  std::vector<std::thread> workers;
  for (std::uint64_t w = 0; w < 4; ++w)
    workers.emplace_back([&, lease = LeaseId(10 + w)] {
      for (int i = 0; i < 25; ++i) {
        const auto unit = run_->next(lease, {});
        if (unit->kind != base::UnitKind::train) continue;
        EXPECT_TRUE(run_->receive(lease, unit->id, 0, packed(std::vector<float>(11, 0.25f))));
        const auto verdict = run_->complete(lease, unit->id,
                                            {.base = run_->view().version,
                                             .steps = unit->steps,
                                             .samples = unit->steps * 10,
                                             .loss = 0.5});
        EXPECT_TRUE(verdict);
        if (verdict && verdict->accepted) ++accepted;
        (void)run_->progress();
      }
    });
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(std::ssize(run_->owed()), accepted + 1);
  EXPECT_EQ(run_->view().version, accepted.load());
  EXPECT_EQ(values(), std::vector<float>(11, 1 + 0.25f * static_cast<float>(accepted)));
}

}  // namespace
}  // namespace souk::hub
