#include "hub/folding/folding.h"

#include <gtest/gtest.h>

#include "hub/testing/runs.h"
#include "hub/testing/stores.h"

// What becomes of a training when its store does not answer for a while.

namespace souk::hub {
namespace {

using testing::fails_once;
using testing::store_down;

class FoldingFails : public testing::RunTest {
 protected:
  std::unique_ptr<ParameterStore> store() override {
    return std::make_unique<testing::HookedStore>(make_memory_store(), hooks_);
  }
  testing::StoreHooks hooks_;
};

TEST_F(FoldingFails, AnAcceptedUpdateIsOwedItsWageAndFoldedWithTheNext) {
  begin();
  hooks_.fold = fails_once();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_EQ(run_->owed().size(), 2u);
  ASSERT_TRUE(run_->trouble());
  EXPECT_EQ(run_->trouble()->message, "the store is down");
  EXPECT_EQ(values(), std::vector<float>(11, 1.0f));
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  EXPECT_FALSE(run_->trouble());
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));
  EXPECT_EQ(run_->owed().size(), 3u);
}

TEST_F(FoldingFails, TheLastUpdateIsFoldedWhenSomebodyAsksForWork) {
  spec_.epochs = 1;
  spec_.shards = {{"a", 200}};
  open();
  begin();
  hooks_.fold = fails_once();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::evaluate) << "of what is folded only now";
  EXPECT_EQ(values(), std::vector<float>(11, 1.25f));
}

TEST_F(FoldingFails, ACheckBeginsOnceItsParametersCanBeKept) {
  spec_.epochs = 1;
  spec_.shards = {{"a", 200}};
  open();
  begin();
  hooks_.take = [] { return store_down(); };
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
  hooks_.take = testing::StoreHooks::nothing;
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.kind, base::UnitKind::evaluate);
  EXPECT_TRUE(run_->pull(ann_, {-1, unit.version}));
}

TEST_F(FoldingFails, FirstParametersThatCouldNotBeStoredAreAskedForAgainAndNobodyIsBlamed) {
  hooks_.load = fails_once();
  const wire::UnitDone done{.tensors = {{"w", {11}}}};
  EXPECT_FALSE(tell(ann_, ask(ann_), done, std::vector<float>(11)).accepted);
  EXPECT_TRUE(run_->owed().empty());
  EXPECT_EQ(run_->view().by_worker.front().rejected, 0);
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.kind, base::UnitKind::init);
  EXPECT_TRUE(tell(ann_, unit, done, std::vector<float>(11)).accepted);
}

TEST_F(FoldingFails, AStoreThatStaysAwayStopsTheIntakeAndLosesNothing) {
  spec_.shards = {{"a", 40'000}};
  open();
  begin();
  hooks_.fold = [] { return store_down(); };
  auto unit = ask(ann_);
  float sum = 1;
  while (true) {
    clock_.advance(base::seconds(1));
    ASSERT_TRUE(run_->receive(ann_, unit.id, 0, packed(std::vector<float>(11, 0.25f))));
    const auto verdict = run_->complete(ann_, unit.id, done_of(unit));
    if (!verdict) {
      EXPECT_EQ(verdict.error().code, base::Code::unavailable);
      break;
    }
    ASSERT_TRUE(verdict->accepted) << verdict->reason;
    sum += 0.25f;
    unit = ask(ann_);
  }
  hooks_.fold = testing::StoreHooks::nothing;
  EXPECT_TRUE(run_->complete(ann_, unit.id, done_of(unit))->accepted);  // What it sent is kept.
  EXPECT_EQ(values(), std::vector<float>(11, sum + 0.25f));
}

}  // namespace
}  // namespace souk::hub
