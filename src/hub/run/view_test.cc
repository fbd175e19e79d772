#include "hub/run/view.h"

#include <gtest/gtest.h>

#include "hub/run/plan.h"

namespace souk::hub {
namespace {

TEST(View, SaysHowFarTheTrainingIsAndWhatEachWorkerDid) {
  wire::Train spec{.rule = "downpour", .epochs = 2, .batch = 10, .local_steps = 20};
  spec.shards = {{"a", 400}};
  auto session = *train::Session::make(session_of(spec, 2));
  TimeBook times;
  const base::Time start(1'000'000);
  EXPECT_EQ(view_of(spec, session, 0, times, start).state, wire::TrainingState::waiting);
  auto& training = session.training();
  training.initialised(training.next(7, start).id, start);
  const auto unit = training.next(7, start);
  const auto later = start + base::seconds(10);
  training.accept(unit.id, unit.steps, 200, 0.5, later);
  times.add(base::LeaseId(7), {.compute = base::seconds(4)});
  const auto view = view_of(spec, session, 1, times, later);
  EXPECT_EQ(view.state, wire::TrainingState::training);
  EXPECT_EQ(view.rule, "downpour");
  EXPECT_EQ(view.version, 1);
  EXPECT_EQ(view.useful_steps, 20);
  EXPECT_DOUBLE_EQ(view.progress, 0.25);
  EXPECT_EQ(view.left, base::seconds(30));
  ASSERT_EQ(view.by_worker.size(), 1u);
  EXPECT_EQ(view.by_worker[0].worker, "l7");
  EXPECT_EQ(view.by_worker[0].steps_per_second, 2);
  EXPECT_EQ(view.by_worker[0].spent.compute, base::seconds(4));
  training.finish("by its owner", 1);
  const auto end = view_of(spec, session, 1, times, later);
  EXPECT_EQ(end.state, wire::TrainingState::finished);
  EXPECT_EQ(end.reason, "by its owner");
  EXPECT_FALSE(end.left);
}

}  // namespace
}  // namespace souk::hub
