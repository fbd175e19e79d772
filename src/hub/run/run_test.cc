#include "hub/run/run.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <limits>
#include <set>

#include "blob/folder.h"
#include "hub/testing/runs.h"
#include "train/pull.h"
#include "wire/safetensors.h"

namespace souk::hub {
namespace {

namespace fs = std::filesystem;
using base::LeaseId;

using HubRun = testing::RunTest;

TEST_F(HubRun, AnUpdateChangesTheParametersOnce) {
  begin();
  const auto unit = ask(ann_);
  const auto done = done_of(unit);
  EXPECT_TRUE(tell(ann_, unit, done, std::vector<float>(11, 0.25f)).accepted);
  EXPECT_EQ(values(), std::vector<float>(11, 1.25f));
  const auto again = run_->complete(ann_, unit.id, done);  // Its answer was lost on the way.
  ASSERT_TRUE(again);
  EXPECT_TRUE(again->accepted);        // It gets the first verdict,
  EXPECT_EQ(run_->owed().size(), 2u);  // and is paid once, as the first parameters are.
  EXPECT_EQ(values(), std::vector<float>(11, 1.25f));
}

TEST_F(HubRun, AfterACrashNothingIsFoldedTwiceAndNothingSavedIsLost) {
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);  // The second one since the last snapshot: saved.
  const auto late = ask(ann_);
  const auto done = done_of(late);
  open();
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));
  EXPECT_EQ(run_->view().useful_steps, 40);
  // What was under way at the crash counts for nothing.
  EXPECT_FALSE(run_->receive(ann_, late.id, 0, "bytes"));
  const auto judged = run_->complete(ann_, late.id, done);
  ASSERT_TRUE(judged);
  EXPECT_FALSE(judged->accepted);
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));
}

TEST_F(HubRun, WhatIsNotAnUpdateIsRejectedAndItsUnitGivenOutAgain) {
  begin();
  // Who is refused waits before the next.
  const auto later = [&] {
    EXPECT_EQ(ask(ann_).kind, base::UnitKind::wait);
    clock_.advance(base::minutes(2));
  };
  const auto nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(train(ann_, nan).accepted);
  later();
  EXPECT_FALSE(train(ann_, std::numeric_limits<float>::infinity()).accepted);
  later();
  auto unit = ask(ann_);
  EXPECT_FALSE(tell(ann_, unit, done_of(unit), std::vector<float>(10)).accepted);
  later();
  unit = ask(ann_);
  EXPECT_FALSE(tell(ann_, unit, done_of(unit), {}).accepted);
  later();
  unit = ask(ann_);
  auto boast = done_of(unit);
  boast.steps += 1;
  EXPECT_FALSE(tell(ann_, unit, boast, std::vector<float>(11)).accepted);
  later();
  unit = ask(ann_);
  auto future = done_of(unit);
  future.base += 1;
  EXPECT_FALSE(tell(ann_, unit, future, std::vector<float>(11, 0.1f)).accepted);
  EXPECT_EQ(values(), std::vector<float>(11, 1.0f));
  EXPECT_EQ(run_->view().by_worker.front().rejected, 6);
  EXPECT_EQ(ask(bob_).first_step, unit.first_step);
}

TEST_F(HubRun, AMeasuringRunTriesSmallerBatchesAndTellsWhatTheyTook) {
  spec_.measure = true;
  spec_.shards = {{"a", 2'000}};
  open();
  begin();
  auto unit = ask(ann_);
  std::set<std::int32_t> batches;
  for (int i = 0; i < 4; ++i) {
    ASSERT_EQ(unit.kind, base::UnitKind::train);
    batches.insert(unit.batch);
    ASSERT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 0.25f)).accepted);
    const auto next = run_->next(ann_, {}, wire::TimeSpent{.compute = base::seconds(unit.batch)});
    ASSERT_TRUE(next);
    unit = *next;
  }
  EXPECT_EQ(batches, (std::set{2, 5, 10}));
  const auto view = run_->view();
  ASSERT_EQ(view.by_batch.size(), 3u);
  EXPECT_EQ(view.by_batch[0].compute, base::seconds(2));
  EXPECT_EQ(view.by_batch[2].compute, base::seconds(20));
  EXPECT_EQ(view.by_batch[2].steps, 40);
  EXPECT_EQ(view.folds, 4);
}

TEST_F(HubRun, AStepIsDividedAmongTheWorkersAndCountedWhole) {
  spec_.batch = 20;
  spec_.local_batch = 10;
  spec_.local_steps = 5;
  open();
  begin();
  const auto unit = ask(ann_);  // Two workers are wanted.
  EXPECT_EQ(unit.batch, 10);
  EXPECT_EQ(unit.steps, 10);
  EXPECT_TRUE(tell(ann_, unit, done_of(unit), std::vector<float>(11, 0.25f)).accepted);
  EXPECT_EQ(run_->view().useful_steps, 5);
  EXPECT_EQ(run_->view().samples, 100);
  ask(bob_);
  const auto stopped = ask(ann_);
  EXPECT_EQ(stopped.first_step % 10, 0);
  auto done = done_of(stopped);
  done.steps = 7;  // Three whole ones and a half.
  done.samples = 70;
  EXPECT_TRUE(tell(ann_, stopped, done, std::vector<float>(11, 0.25f)).accepted);
  EXPECT_EQ(run_->view().useful_steps, 8);
  EXPECT_EQ(run_->view().samples, 160);
}

TEST_F(HubRun, StepsThatNobodyAskedForAreRefusedHoweverMany) {
  spec_.batch = 1'000'000;
  spec_.local_batch = 8;
  open();
  begin();
  for (const auto steps : {std::numeric_limits<std::int64_t>::max(),
                           std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}}) {
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, base::UnitKind::train);
    auto done = done_of(unit);
    done.steps = done.samples = steps;
    EXPECT_FALSE(tell(ann_, unit, done, std::vector<float>(11, 0.25f)).accepted);
    clock_.advance(base::minutes(10));
  }
  EXPECT_EQ(run_->view().useful_steps, 0);
}

TEST_F(HubRun, StateIsKeptUnlessAUnitMayBeDoneAgain) {
  begin();
  EXPECT_TRUE(ask(ann_).keep);
  spec_.replicate = 0.5;
  open();
  EXPECT_FALSE(ask(ann_).keep);
  spec_.replicate = 0;
  spec_.local_state = wire::LocalState::fresh;
  open();
  EXPECT_FALSE(ask(ann_).keep);
}

// Whoever could tell what will be compared would lie about the rest.
TEST_F(HubRun, AmongStrangersStateIsKeptByNobodyUnlessTheJobSaysSo) {
  begin();
  run_->next(bob_, {}, std::nullopt, 2);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(run_->next(ann_, {}, std::nullopt, 1)->keep);
  spec_.local_state = wire::LocalState::keep;
  open();
  run_->next(bob_, {}, std::nullopt, 2);
  EXPECT_TRUE(run_->next(ann_, {}, std::nullopt, 1)->keep);
}

TEST_F(HubRun, NobodyPushesForAnother) {
  begin();
  const auto unit = ask(ann_);
  EXPECT_FALSE(run_->receive(bob_, unit.id, 0, "bytes"));
  const auto judged = run_->complete(bob_, unit.id, done_of(unit));
  ASSERT_TRUE(judged);
  EXPECT_FALSE(judged->accepted);
  EXPECT_FALSE(run_->receive(ann_, unit.id, 5, "a gap"));
}

TEST_F(HubRun, APullBringsOnlyWhatChanged) {
  begin();
  const auto version = run_->view().version;
  const auto nothing = run_->pull(ann_, {version, std::nullopt});
  ASSERT_TRUE(nothing);
  EXPECT_LE(nothing->size(), 32u);
  EXPECT_TRUE(train(ann_, 0.5f).accepted);
  const auto changed = run_->pull(ann_, {version, std::nullopt});
  ASSERT_TRUE(changed);
  EXPECT_GE(changed->size(), 11 * sizeof(float));
}

TEST_F(HubRun, ACheckSeesTheVersionOfItsMomentAndTheEndBringsTheModel) {
  begin();
  spec_.epochs = 1;
  fs::remove(folder_ / "pointer");
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);  // The epoch is over.
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.kind, base::UnitKind::evaluate);
  const auto bytes = run_->pull(ann_, {-1, unit.version});
  ASSERT_TRUE(bytes);
  std::vector<float> seen(11);
  ASSERT_TRUE(train::unpack_changed(bytes->joined(), seen));
  EXPECT_EQ(seen, std::vector<float>(11, 1.5f));
  EXPECT_FALSE(run_->pull(ann_, {-1, unit.version + 1}));
  EXPECT_TRUE(tell(ann_, unit, {.samples = 100, .loss = 0.2, .metrics = {{"accuracy", 0.75}}}, {})
                  .accepted);
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::finish);
  auto ended = run_->ended();
  ASSERT_TRUE(ended && *ended);
  EXPECT_EQ((*ended)->reason, "all epochs are done");
  open();  // A hub that crashed before it could tell ends the same way.
  ended = run_->ended();
  ASSERT_TRUE(ended && *ended);
  const auto manifest = blob::read_manifest(*blob::parse_digest((*ended)->result), *blobs_);
  ASSERT_TRUE(manifest);
  const auto model = blob::read_file(*manifest, "model.safetensors", *blobs_, 1 << 20);
  ASSERT_TRUE(model);
  const auto tensors = wire::read_safetensors(*model, model->size());
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->tensors.size(), 2u);
  float first = 0;
  std::memcpy(&first, model->data() + tensors->data, sizeof first);
  EXPECT_EQ(first, 1.5f);
  const auto csv = blob::read_file(*manifest, "metrics.csv", *blobs_, 1 << 20);
  ASSERT_TRUE(csv);
  EXPECT_NE(csv->find("1,"), std::string::npos);
  EXPECT_NE(csv->find("0.75"), std::string::npos);
}

TEST_F(HubRun, WhatATrainerMeasuresIsSeenAndSurvivesTheHub) {
  spec_.epochs = 2;
  spec_.target = wire::TrainTarget{.metric = "f1", .at_least = 0.9};
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.kind, base::UnitKind::evaluate);
  EXPECT_EQ(run_->view().figure->name, "f1");
  EXPECT_FALSE(run_->view().figure->value);
  ASSERT_TRUE(
      tell(ann_, unit, {.samples = 100, .loss = 0.2, .metrics = {{"f1", 0.5}, {"mae", 3}}}, {})
          .accepted);
  EXPECT_TRUE(train(ann_, 0.25f).accepted);  // Enough for a snapshot.
  open();
  const auto view = run_->view();
  EXPECT_FALSE(view.accuracy) << "nobody measured it";
  EXPECT_EQ(view.target, 0.9);
  EXPECT_EQ(view.figure->value, 0.5);
  EXPECT_FALSE(view.reached());
  ASSERT_EQ(view.rows.size(), 1u);
  EXPECT_FALSE(view.rows[0].accuracy);
  EXPECT_EQ(view.rows[0].metrics, (std::map<std::string, double>{{"f1", 0.5}, {"mae", 3}}));
  EXPECT_EQ(view.rows[0].mean, 0.5);
}

TEST_F(HubRun, MetricsThatCannotBeShownOrAveragedAreRefused) {
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  std::map<std::string, double> many;
  for (int i = 0; i < 17; ++i) many["m" + std::to_string(i)] = 1;
  const std::vector<std::map<std::string, double>> lies{
      many, {{"\x1b[2J", 1}}, {{"x", 1e300}}, {{"accuracy", 2}}};
  for (const auto& lie : lies) {
    clock_.advance(base::minutes(2));
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, base::UnitKind::evaluate);
    const auto verdict = tell(ann_, unit, {.samples = 100, .loss = 0.2, .metrics = lie}, {});
    EXPECT_FALSE(verdict.accepted);
    EXPECT_NE(verdict.reason, "");
  }
  EXPECT_TRUE(run_->view().rows.empty());
}

TEST_F(HubRun, AReplicatedUnitIsFoldedAndPaidOnlyWhenAnotherComesToTheSame) {
  spec_.replicate = 1;
  spec_.shards = {{"a", 2'000}, {"b", 2'000}};
  open();
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);  // Alone there is nobody to check it.
  const auto push = [&](LeaseId worker, float delta) {
    const auto unit = ask(worker);
    EXPECT_EQ(unit.kind, base::UnitKind::train);
    EXPECT_TRUE(run_->pull(worker, {-1, std::nullopt}));
    const auto codec = train::make_codec("fp32");
    const auto body = train::pack(std::vector<float>(11, delta), **codec, {});
    EXPECT_TRUE(run_->receive(worker, unit.id, 0, body));
    auto done = done_of(unit);
    if (unit.version > 0) done.base = unit.version;
    clock_.advance(base::seconds(1));
    auto judged = run_->complete(worker, unit.id, done);
    EXPECT_TRUE(judged);
    return std::pair(unit, *judged);
  };
  const auto paid = [&] {
    const auto owed = run_->owed();
    if (!owed.empty()) run_->acknowledge(owed.back().number);
    return owed.size();
  };
  EXPECT_EQ(paid(), 2u);
  const auto [asked, held] = push(bob_, 0.25f);
  EXPECT_TRUE(held.accepted);
  EXPECT_EQ(paid(), 0u);
  EXPECT_EQ(values(), std::vector<float>(11, 1.25f));  // Not yet.
  const auto [again, same] = push(ann_, 0.25f);
  EXPECT_EQ(again.first_step, asked.first_step);
  EXPECT_EQ(again.shard, asked.shard);
  EXPECT_EQ(again.version, 1);
  EXPECT_TRUE(same.accepted);
  EXPECT_EQ(paid(), 2u);
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));  // Once.
  EXPECT_TRUE(push(bob_, 0.25f).second.accepted);
  const auto lie = push(ann_, -0.25f).second;
  EXPECT_FALSE(lie.accepted);
  EXPECT_EQ(paid(), 0u);
  EXPECT_EQ(values(), std::vector<float>(11, 1.5f));
  // A unit that nobody checks for too long counts without: bob's, when the next one comes.
  clock_.advance(base::minutes(3));
  EXPECT_TRUE(push(bob_, 0.25f).second.accepted);
}

TEST_F(HubRun, AnOddUpdateIsBelievedWhenAnotherWorkerComesToIt) {
  spec_.shards = {{"a", 4'000}};
  open();
  begin();
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(train(ann_, 0.1f).accepted);
    EXPECT_TRUE(train(bob_, 0.1f).accepted);
  }
  EXPECT_FALSE(train(ann_, 5).accepted);  // Fifty times the usual.
  EXPECT_TRUE(train(bob_, 5).accepted);   // So it is the unit, not ann.
  EXPECT_FALSE(train(bob_, 500).accepted);
}

TEST_F(HubRun, ATrainingThatTheMarketEndsGivesWhatThereIs) {
  EXPECT_FALSE(run_->end("cancelled"));  // There is nothing yet.
  begin();
  EXPECT_TRUE(train(ann_, 0.25f).accepted);
  const auto ended = run_->end("by its owner");
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_EQ(ended->reason, "by its owner");
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::finish);
}

TEST_F(HubRun, ACodecThatSendsChangesDoesNotGoWithARuleThatNeedsWeights) {
  spec_.rule = "vc-asgd";
  spec_.rule_params.clear();
  spec_.codec = "top-k";
  const auto opened = hub::Run::open(
      spec_, 2, *blobs_, clock_, {.pointer = (folder_ / "other").string()}, make_memory_store());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().field, "codec");
}

// Its parameters were pulled before the update of the unit before it arrived.
TEST_F(HubRun, AUnitThatWasFetchedWhileAnotherWasComputedHasItsOwnBase) {
  spec_.rule = "dc-asgd";
  spec_.rule_params = {};
  pointer_ = "second";
  open();
  begin();
  const auto a = ask(ann_);
  ASSERT_TRUE(run_->pull(ann_, {-1, std::nullopt}));
  const auto first = run_->view().version;
  ASSERT_TRUE(run_->pull(bob_, {-1, std::nullopt}));
  EXPECT_TRUE(train(bob_, 0.25f).accepted);
  const auto b = run_->next(ann_, {}, {}, 0, a.id);
  ASSERT_TRUE(b);
  ASSERT_EQ(b->kind, base::UnitKind::train);
  ASSERT_TRUE(run_->pull(ann_, {-1, std::nullopt}));
  const auto second = run_->view().version;
  ASSERT_NE(first, second);
  for (const auto& [unit, base] : {std::pair(a, first), std::pair(*b, second)}) {
    auto done = done_of(unit);
    done.base = base;
    const auto verdict = tell(ann_, unit, done, std::vector<float>(11, 0.25f));
    EXPECT_TRUE(verdict.accepted) << verdict.reason;
  }
}

TEST_F(HubRun, AUnitThatWasNotBegunGoesBackAndIsNobodysFault) {
  begin();
  const auto owed = run_->owed().size();
  const auto unit = ask(ann_);
  const auto verdict = run_->complete(ann_, unit.id, {});
  ASSERT_TRUE(verdict) << verdict.error().message;
  EXPECT_FALSE(verdict->accepted);
  EXPECT_EQ(run_->owed().size(), owed);
  EXPECT_EQ(run_->view().wasted_steps, 0);
  const auto again = ask(bob_);
  EXPECT_EQ(again.first_step, unit.first_step);
  EXPECT_EQ(again.shard, unit.shard);
  EXPECT_EQ(ask(ann_).kind, base::UnitKind::train) << "and need not wait for the next";
}

}  // namespace
}  // namespace souk::hub
