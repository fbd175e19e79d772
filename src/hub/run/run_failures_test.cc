#include <gtest/gtest.h>

#include <stdexcept>

#include "base/check.h"
#include "hub/hub.h"
#include "hub/run/run.h"
#include "hub/testing/runs.h"
#include "hub/testing/stores.h"

// What goes wrong inside one training is its own failure: never the process, never another's.

namespace souk::hub {
namespace {

using base::Code;
using base::JobId;
using base::UnitKind;

class RunFailures : public testing::RunTest {
 protected:
  std::unique_ptr<ParameterStore> store() override {
    return std::make_unique<testing::HookedStore>(make_memory_store(), hooks_);
  }
  // As `tell`, where the report may be refused as a whole.
  base::Result<wire::UnitVerdict> report(base::LeaseId worker, const wire::Unit& unit) {
    EXPECT_TRUE(run_->receive(worker, unit.id, 0, packed(std::vector<float>(11, 0.25f))));
    return run_->complete(worker, unit.id, done_of(unit));
  }
  testing::StoreHooks hooks_;
};

TEST_F(RunFailures, WhatIsThrownEndsTheTrainingAndWhatWasAcceptedStaysOwed) {
  const testing::StoreHooks::Hook throwers[] = {
      []() -> base::Result<> { throw std::runtime_error("it broke"); },
      []() -> base::Result<> { throw std::bad_alloc(); },
      []() -> base::Result<> {
        CHECK(2 < 1);
        return {};
      }};
  const std::string reasons[] = {"it broke", "no memory left", "CHECK(2 < 1) failed"};
  for (std::size_t i = 0; i < 3; ++i) {
    std::filesystem::remove(folder_ / "pointer");
    open();
    begin();
    ASSERT_TRUE(train(ann_, 0.25f).accepted);
    EXPECT_FALSE(run_->failure());
    const auto unit = ask(bob_);
    hooks_.fold = throwers[i];
    const auto judged = report(bob_, unit);
    hooks_.fold = testing::StoreHooks::nothing;
    ASSERT_FALSE(judged);
    EXPECT_NE(judged.error().message.find(reasons[i]), std::string::npos) << judged.error().message;
    ASSERT_TRUE(run_->failure());
    EXPECT_GE(run_->owed().size(), 2u);
    // It is of no more use, and still harms nobody.
    EXPECT_FALSE(run_->next(ann_, {}));
    EXPECT_FALSE(run_->pull(ann_, {-1, std::nullopt}));
    EXPECT_FALSE(run_->end("by its owner"));
    run_->gone(ann_);
    run_->seal(bob_);
    (void)run_->view();
    EXPECT_GE(run_->progress(), 0);
  }
}

TEST_F(RunFailures, AnotherTrainingDoesNotNotice) {
  const auto broken = std::move(run_);
  pointer_ = "other";
  open();
  begin();
  (void)broken->next(ann_, {});
  hooks_.load = []() -> base::Result<> { throw std::runtime_error("it broke"); };
  EXPECT_TRUE(
      broken->receive(ann_, (std::int64_t{1} << 32) + 1, 0, packed(std::vector<float>(11, 1.0f))));
  EXPECT_FALSE(broken->complete(ann_, (std::int64_t{1} << 32) + 1,
                                {.tensors = {{"w", {2, 5}}, {"b", {1}}}}));
  EXPECT_TRUE(broken->failure());
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_FALSE(run_->failure());
}

TEST_F(RunFailures, AModelLargerThanItsBudgetIsNotUnpackedAndEndsTheTrainingAtLast) {
  base::Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                      {.each = 1 << 20, .all = 1 << 20});
  auto opened = Run::open(
      spec_, 2, *blobs_, clock_,
      {.pointer = (folder_ / "small").string(), .memory = &budget, .owner = "a1"}, store());
  ASSERT_TRUE(opened);
  run_ = *std::move(opened);
  const auto bomb = packed(std::vector<float>(std::size_t{1} << 22));  // 16 MiB of zeros.
  ASSERT_LT(bomb.size(), std::size_t{1} << 16);
  for (int i = 0; i < 5; ++i) {
    ASSERT_FALSE(run_->failure());
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, UnitKind::init) << i;
    ASSERT_TRUE(run_->receive(ann_, unit.id, 0, bomb));
    const auto verdict =
        run_->complete(ann_, unit.id, {.tensors = {{"w", {std::int64_t{1} << 22}}}});
    ASSERT_TRUE(verdict);
    EXPECT_FALSE(verdict->accepted);
    EXPECT_LT(budget.used_in_all(), 1u << 20);
    clock_.advance(base::minutes(5));
  }
  ASSERT_TRUE(run_->failure());
  EXPECT_NE(run_->failure()->find("training-bytes"), std::string::npos);
  run_.reset();
  EXPECT_EQ(budget.used_in_all(), 0u);
}

TEST_F(RunFailures, AModelThatFitsIsCountedUntilItsTrainingIsForgotten) {
  base::Budget budget("training-bytes", "of memory for trainings", base::BudgetUnit::bytes,
                      {.each = 1 << 20, .all = 1 << 20});
  Hub hub(*blobs_, clock_, (folder_ / "hub").string(), {}, {}, &budget);
  auto run = hub.open(JobId(1), spec_, 2, 0, "a1");
  ASSERT_TRUE(run);
  const auto unit = (*run)->next(ann_, {});
  ASSERT_TRUE((*run)->receive(ann_, unit->id, 0, packed(std::vector<float>(11, 1.0f))));
  EXPECT_GT(budget.used("a1"), 0u);
  ASSERT_TRUE((*run)->complete(ann_, unit->id, {.tensors = {{"w", {11}}}})->accepted);
  EXPECT_GE(budget.used("a1"), 11 * sizeof(float));
  run->reset();
  hub.forget(JobId(1));
  EXPECT_EQ(budget.used_in_all(), 0u);
}

TEST_F(RunFailures, AJobThatCannotBeOpenedIsAnErrorOfItsOwn) {
  Hub hub(*blobs_, clock_, (folder_ / "hub").string());
  auto poisoned = spec_;
  poisoned.shards.assign(4, {"a", std::int64_t{1} << 62});
  for (int i = 0; i < 2; ++i) {  // As often as somebody asks.
    const auto refused = hub.open(JobId(1), poisoned, 2);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::invalid);
    EXPECT_EQ(refused.error().field, "shards");
  }
  EXPECT_TRUE(hub.open(JobId(2), spec_, 2));
  Hub throwing(*blobs_, clock_, (folder_ / "hub").string(),
               [](JobId) -> base::Result<std::unique_ptr<ParameterStore>> {
                 throw std::runtime_error("no store");
               });
  EXPECT_EQ(throwing.open(JobId(3), spec_, 2).error().code, Code::internal);
}

// --- Owners --------------------------------------------------------------------------------------

class RunOwners : public testing::RunTest {
 protected:
  wire::Unit ask(base::LeaseId worker, std::uint64_t owner) {
    auto unit = run_->next(worker, {}, {}, owner);
    EXPECT_TRUE(unit);
    return *unit;
  }
  bool check(base::LeaseId worker, const wire::Unit& unit, double accuracy,
             std::int64_t samples = 100) {
    EXPECT_EQ(unit.kind, UnitKind::evaluate);
    return run_
        ->complete(worker, unit.id,
                   {.samples = samples, .loss = 0.2, .metrics = {{"accuracy", accuracy}}})
        ->accepted;
  }
  std::size_t wages_of(base::LeaseId worker) {
    std::size_t out = 0;
    for (const auto& wage : run_->owed()) out += wage.lease == worker ? 1 : 0;
    return out;
  }
  const base::LeaseId carol_{9};
};

TEST_F(RunOwners, AClaimThatOthersDoNotComeToIsNotPaidAndEndsNothing) {
  spec_.epochs = 50;
  spec_.target = wire::TrainTarget{0.9};
  spec_.local_steps = 40;
  spec_.shards = {{"a", 400}};
  open();
  begin();
  const auto unit = ask(ann_, 1);
  ASSERT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 0.25f)).accepted);
  const auto claimed = ask(bob_, 2);
  (void)ask(ann_, 1);
  (void)ask(carol_, 3);
  EXPECT_FALSE(check(bob_, claimed, 1.0, 7)) << "of other samples than it was asked for";
  clock_.advance(base::seconds(1));
  const auto again = ask(bob_, 2);
  EXPECT_TRUE(check(bob_, again, 1.0));
  EXPECT_EQ(wages_of(bob_), 0u);
  EXPECT_FALSE(*run_->ended());
  EXPECT_TRUE(check(ann_, ask(ann_, 1), 0.3));
  EXPECT_TRUE(check(carol_, ask(carol_, 3), 0.3));
  EXPECT_FALSE(*run_->ended());
  EXPECT_EQ(wages_of(bob_), 0u);
  EXPECT_EQ(wages_of(carol_), 1u);
  EXPECT_EQ(run_->view().accuracy, 0.3);
}

TEST_F(RunOwners, WorkUnderAuditIsComparedAndTheOddOneOutIsNeitherPaidNorFolded) {
  spec_.epochs = 1'000;
  spec_.validation.clear();
  spec_.validators = {"finite"};
  open();
  begin();
  struct Play {
    base::LeaseId worker;
    std::uint64_t owner;
    float value;
  };
  // Carol sends something that nobody else comes to.
  const Play plays[] = {{ann_, 1, 0.001f}, {bob_, 2, 0.001f}, {carol_, 3, -0.001f}};
  int carols = 0;
  for (int round = 0; round < 400; ++round)
    for (const auto& play : plays) {
      const auto unit = ask(play.worker, play.owner);
      if (unit.kind != UnitKind::train) continue;
      if (play.owner == 3) ++carols;
      EXPECT_TRUE(run_->pull(play.worker,
                             {-1, unit.version > 0 ? std::optional(unit.version) : std::nullopt}));
      auto done = done_of(unit);
      if (unit.version > 0) done.base = unit.version;
      (void)tell(play.worker, unit, done, std::vector<float>(11, play.value));
    }
  EXPECT_LT(carols, 350) << "she gets no more units once she was caught three times";
  const auto view = run_->view();
  for (const auto& w : view.by_worker)
    EXPECT_EQ(w.rejected > 0, w.worker == to_string(carol_)) << w.worker;
  EXPECT_FALSE(run_->failure());
}

}  // namespace
}  // namespace souk::hub
