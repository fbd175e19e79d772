#include <gtest/gtest.h>

#include <map>

#include "hub/run/run.h"
#include "hub/testing/runs.h"
#include "hub/testing/stores.h"
#include "train/aggregators/aggregator.h"

// Accepted work is paid exactly once: what is owed is the time of the accepted units, to the
// microsecond, whatever fails after a unit was accepted.

namespace souk::hub {
namespace {

using base::Duration;
using base::LeaseId;
using testing::fails_once;

using Times = std::map<LeaseId, Duration>;

class RunWages : public testing::RunTest {
 protected:
  std::unique_ptr<ParameterStore> store() override {
    return std::make_unique<testing::HookedStore>(make_memory_store(), hooks_);
  }

  // Reports what was asked for, as a worker does.
  base::Result<wire::UnitVerdict> report(LeaseId worker, const wire::Unit& unit,
                                         std::int64_t base) {
    if (unit.kind == base::UnitKind::init) {
      EXPECT_TRUE(run_->receive(worker, unit.id, 0, packed(std::vector<float>(11, 1.0f))));
      return run_->complete(worker, unit.id, {.epoch = 3, .tensors = {{"w", {2, 5}}, {"b", {1}}}});
    }
    if (unit.kind == base::UnitKind::evaluate)
      return run_->complete(
          worker, unit.id,
          {.epoch = 3, .samples = 100, .loss = 0.2, .metrics = {{"accuracy", 0.75}}});
    const auto value = unit.send == base::Sends::weights ? 1.01f : 0.01f;
    EXPECT_TRUE(run_->receive(worker, unit.id, 0, packed(std::vector<float>(11, value))));
    return run_->complete(
        worker, unit.id,
        {.epoch = 3, .base = base, .steps = unit.steps, .samples = unit.steps * 10, .loss = 0.5});
  }

  // Two workers in turn until the training is over. Gives the time of their accepted units.
  Times work_until_the_end() {
    struct WorkerState {
      std::optional<wire::Unit> unit = {};
      base::Time since;
      std::int64_t base = 0;
    };
    std::map<LeaseId, WorkerState> workers = {{ann_, {}}, {bob_, {}}};
    Times accepted;
    for (int i = 0; i < 1'000; ++i)
      for (auto& [worker, state] : workers) {
        clock_.advance(base::microseconds(123'457 + 31 * i));
        if (!state.unit) {
          const auto unit = ask(worker);
          if (unit.kind == base::UnitKind::finish) return accepted;
          if (unit.kind == base::UnitKind::wait) continue;
          state = {unit, clock_.now(), unit.version};
          if (unit.kind == base::UnitKind::train && unit.version == 0) {
            state.base = run_->view().version;
            EXPECT_TRUE(run_->pull(worker, {-1, std::nullopt}));
          }
          continue;
        }
        const auto verdict = report(worker, *state.unit, state.base);
        EXPECT_TRUE(verdict) << verdict.error().message;
        if (verdict && verdict->accepted)
          accepted[worker] = accepted[worker] + (clock_.now() - state.since);
        state.unit.reset();
      }
    ADD_FAILURE() << "the training did not end";
    return accepted;
  }
  // By worker; checks the numbers on the way.
  Times owed() {
    Times out;
    std::int64_t number = 0;
    for (const auto& wage : run_->owed()) {
      EXPECT_EQ(wage.number, ++number);
      EXPECT_EQ(wage.epoch, 3);
      out[wage.lease] = out[wage.lease] + wage.worked;
    }
    return out;
  }

  testing::StoreHooks hooks_;
};

TEST_F(RunWages, AreTheTimeOfWhatWasAcceptedForEveryAggregator) {
  for (const auto& row : train::aggregators()) {
    SCOPED_TRACE(row.name);
    spec_.rule = row.name;
    spec_.rule_params.clear();
    std::filesystem::remove(folder_ / "pointer");
    open();
    const auto accepted = work_until_the_end();
    EXPECT_EQ(accepted.size(), 2u);
    EXPECT_EQ(owed(), accepted);
    EXPECT_EQ(run_->view().useful_steps, 80);
    EXPECT_TRUE(*run_->ended());
  }
}

TEST_F(RunWages, AreTheTimeOfWhatWasAcceptedWhereUnitsAreDoneTwice) {
  spec_.replicate = 1;
  spec_.shards = {{"a", 2'000}};
  open();
  const auto accepted = work_until_the_end();
  EXPECT_EQ(owed(), accepted);
  EXPECT_GT(run_->owed().size(), 23u);  // More than the units, the checks and the first parameters.
}

TEST_F(RunWages, AreOwedWhenFoldsAndSavesFailNowAndThen) {
  int calls = 0;
  const auto often = [&calls]() -> base::Result<> {
    if (++calls % 3 == 0) return {};
    return testing::store_down();
  };
  hooks_ = {.save = often, .fold = often};
  spec_.shards = {{"a", 2'000}};
  open();
  const auto accepted = work_until_the_end();
  EXPECT_EQ(owed(), accepted);
  EXPECT_EQ(run_->view().useful_steps, 400);
}

TEST_F(RunWages, ASaveThatFailsDoesNotUndoTheVerdictAndIsTriedAgain) {
  pointer_ = "missing/pointer";
  open();
  begin();
  EXPECT_TRUE(run_->trouble());
  EXPECT_EQ(run_->owed().size(), 1u);
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(run_->trouble());
  std::filesystem::create_directories(folder_ / "missing");
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  EXPECT_FALSE(run_->trouble());
  open();
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));
  EXPECT_EQ(run_->owed().size(), 3u);
}

TEST_F(RunWages, TheUnitThatEndsTheTrainingIsOwedWhenItsSaveFails) {
  spec_.epochs = 1;
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  hooks_.save = fails_once();
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.kind, base::UnitKind::evaluate);
  EXPECT_TRUE(report(ann_, unit, 0)->accepted);
  EXPECT_TRUE(run_->trouble());
  ASSERT_TRUE(*run_->ended());
  EXPECT_EQ(run_->owed().size(), 4u);
  // Saved when somebody asks: a hub that crashes now ends the same way, and owes the same.
  clock_.advance(base::seconds(1));
  EXPECT_EQ(ask(bob_).kind, base::UnitKind::finish);
  EXPECT_FALSE(run_->trouble());
  open();
  EXPECT_TRUE(*run_->ended());
  EXPECT_EQ(run_->owed().size(), 4u);
}

TEST_F(RunWages, WorkThatWaitsForAComparisonIsPaidWhenTheTrainingEnds) {
  spec_.replicate = 1;
  spec_.shards = {{"a", 2'000}};
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  const auto unit = ask(bob_);
  EXPECT_TRUE(run_->pull(bob_, {-1, std::nullopt}));
  clock_.advance(base::seconds(1));
  EXPECT_TRUE(report(bob_, unit, run_->view().version)->accepted);
  EXPECT_EQ(run_->owed().size(), 2u);
  ASSERT_TRUE(run_->end("by its owner"));
  ASSERT_EQ(run_->owed().size(), 3u);
  EXPECT_EQ(run_->owed()[2].lease, bob_);
}

TEST_F(RunWages, WorkThatNobodyComparesIsPaidWhenItsWorkerAsksForMore) {
  spec_.replicate = 1;
  spec_.epochs = 1;
  spec_.shards = {{"a", 400}};
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  const auto unit = ask(bob_);
  EXPECT_TRUE(run_->pull(bob_, {-1, std::nullopt}));
  clock_.advance(base::seconds(1));
  EXPECT_TRUE(report(bob_, unit, run_->view().version)->accepted);
  run_->gone(ann_);  // Nobody is left to compare.
  EXPECT_EQ(ask(bob_).kind, base::UnitKind::wait);
  clock_.advance(base::minutes(2));
  EXPECT_EQ(ask(bob_).kind, base::UnitKind::wait);
  EXPECT_EQ(run_->owed().size(), 3u);
  EXPECT_EQ(ask(bob_).kind, base::UnitKind::evaluate);
}

TEST_F(RunWages, WhatWasSavedIsPaidAfterACrashAndNothingTwice) {
  spec_.shards = {{"a", 2'000}};
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);  // Saved, with the wages 1 to 3.
  const auto before = run_->owed();
  ASSERT_EQ(before.size(), 3u);
  struct {
    std::int64_t paid_through;
    std::size_t owed;
    std::int64_t next;
  } const rows[] = {{0, 3, 4}, {2, 1, 4}, {3, 0, 4}, {7, 0, 8}};
  const auto saved = folder_ / "saved";
  std::filesystem::copy_file(folder_ / "pointer", saved);
  for (const auto& row : rows) {
    SCOPED_TRACE(row.paid_through);
    std::filesystem::copy_file(saved, folder_ / "pointer",
                               std::filesystem::copy_options::overwrite_existing);
    paid_through_ = row.paid_through;
    open();
    auto owed = run_->owed();
    ASSERT_EQ(owed.size(), row.owed);
    EXPECT_TRUE(
        std::equal(owed.begin(), owed.end(), before.end() - static_cast<std::ptrdiff_t>(row.owed)));
    ASSERT_TRUE(train(ann_, 0.25f).accepted);
    EXPECT_EQ(run_->owed().back().number, row.next);
  }
}

TEST_F(RunWages, WhatIsAcknowledgedIsNotOwed) {
  paid_through_ = 10;
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  ASSERT_EQ(run_->owed().size(), 2u);
  EXPECT_EQ(run_->owed()[0].number, 11);
  run_->acknowledge(11);
  ASSERT_EQ(run_->owed().size(), 1u);
  EXPECT_EQ(run_->owed()[0].number, 12);
  EXPECT_EQ(run_->owed()[0].worked, base::seconds(1));
}

TEST_F(RunWages, ARepeatedReportGetsTheFirstVerdictAlsoARefusal) {
  begin();
  const auto good = ask(ann_);
  const auto done = done_of(good);
  EXPECT_TRUE(tell(ann_, good, done, std::vector<float>(11, 0.25f)).accepted);
  const auto bad = ask(bob_);
  const auto refused = tell(bob_, bad, done_of(bad), std::vector<float>(10));
  EXPECT_FALSE(refused.accepted);
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run_->complete(ann_, good.id, done)->accepted);
    EXPECT_EQ(run_->complete(bob_, bad.id, done_of(bad))->reason, refused.reason);
    EXPECT_FALSE(run_->complete(bob_, good.id, done)->accepted);  // It is not bob's.
  }
  EXPECT_EQ(run_->owed().size(), 2u);
  EXPECT_EQ(run_->view().by_worker[1].rejected, 1);
  EXPECT_EQ(values(), std::vector<float>(11, 1.25f));
}

}  // namespace
}  // namespace souk::hub
