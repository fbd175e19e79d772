#include "job/sweep/sweep_work.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "job/job_file.h"
#include "job/kinds.h"
#include "job/testing/now.h"
#include "job/train/training_file.h"

namespace souk::job {
namespace {

using ::testing::HasSubstr;
using testing::kNow;

wire::Batch training() {
  wire::Batch out{.run = "souk-torch"};
  out.train = {.epochs = 9, .shards = {{"aa", 9}}};
  return out;
}

TEST(SweepWork, ATrialHasItsSettingsAndNoSweep) {
  auto work = training();
  work.train->lr_end = 0.005;
  work.sweep = wire::Sweep{.of = "train", .metric = "loss"};
  const auto trial = trial_work(work, 7,
                                {{"lr", "0.5"},
                                 {"batch", "64"},
                                 {"rule", "\"fedbuff\""},
                                 {"rule.buffer", "4"},
                                 {"options.momentum", "0.9"},
                                 {"model.hidden", "16"},
                                 {"env.MODE", "\"fast\""}});
  ASSERT_TRUE(trial) << trial.error().message;
  EXPECT_FALSE(trial->sweep);
  EXPECT_EQ(trial->train->lr, 0.5);
  EXPECT_DOUBLE_EQ(*trial->train->lr_end, 0.05);  // In the same proportion.
  EXPECT_EQ(trial->train->batch, 64);
  EXPECT_EQ(trial->train->rule, "fedbuff");
  EXPECT_EQ(trial->train->rule_params.at("buffer"), 4);
  EXPECT_EQ(trial->train->config.at("momentum"), "0.9");
  EXPECT_EQ(trial->train->config.at("hidden"), "16");
  EXPECT_EQ(trial->env.at("MODE"), "fast");
  EXPECT_EQ(trial->env.at("SOUK_TRIAL"), "7");
}

TEST(SweepWork, SettingsOfAProgramAreItsVariables) {
  wire::Batch work{.run = "python3 train.py --lr $lr"};
  work.sweep = wire::Sweep{.of = "batch", .metric = "loss"};
  const auto trial = trial_work(work, 1, {{"lr", "0.5"}, {"opt", "\"adam\""}});
  ASSERT_TRUE(trial);
  EXPECT_EQ(trial->env.at("lr"), "0.5");
  EXPECT_EQ(trial->env.at("opt"), "adam");
}

TEST(SweepWork, AMistakeNamesTheSettingAndTheNearest) {
  auto work = training();
  const auto said = [&](const std::string& name, const std::string& json) {
    const auto set = set_parameter(work, "train", name, json);
    return set ? base::Error{} : set.error();
  };
  EXPECT_EQ(said("lrr", "1").hint, "did you mean 'lr'?");
  EXPECT_EQ(said("lrr", "1").field, "parameters.lrr");
  EXPECT_THAT(said("data", "1").message, HasSubstr("the same for all trials"));
  EXPECT_THAT(said("batch", "\"big\"").message, HasSubstr("batch is \"big\""));
  EXPECT_THAT(said("batch", "1.5").message, HasSubstr("batch is 1.5"));
  EXPECT_THAT(said("model", "\"lenett\"").hint, HasSubstr("lenet"));
  EXPECT_EQ(said("model", "\"lenet\"").message, "");
}

TEST(SweepWork, WhatIsSearchedIsBounded) {
  const wire::Sweep good{.of = "train",
                         .parameters = {{"lr", {.values = {"1", "2"}}}},
                         .trials = 2,
                         .metric = "loss",
                         .goal = wire::SweepGoal::minimize};
  EXPECT_TRUE(check_search(good));
  const std::pair<const char*, void (*)(wire::Sweep&)> rows[] = {
      {"parameters", [](wire::Sweep& s) { s.parameters.clear(); }},
      {"parameters.lr", [](wire::Sweep& s) { s.parameters["lr"].values.clear(); }},
      {"parameters.lr", [](wire::Sweep& s) { s.parameters["lr"].values = {"[1]"}; }},
      {"parameters.lr", [](wire::Sweep& s) { s.parameters["lr"].values.assign(65, "1"); }},
      {"parameters.lr",
       [](wire::Sweep& s) {
         s.parameters["lr"] = {.scale = wire::SweepScale::log, .low = 0, .high = 1};
       }},
      {"parameters.lr",
       [](wire::Sweep& s) {
         s.parameters["lr"] = {.scale = wire::SweepScale::whole, .low = 0.5, .high = 2};
       }},
      {"parameters.lr",
       [](wire::Sweep& s) {
         s.parameters["lr"] = {.scale = wire::SweepScale::uniform, .low = 2, .high = 1};
       }},
      {"trials", [](wire::Sweep& s) { s.trials = 257; }},
      {"trials", [](wire::Sweep& s) { s.trials = 3; }},  // Of two combinations.
      {"parallel", [](wire::Sweep& s) { s.parallel = 65; }},
      {"eta", [](wire::Sweep& s) { s.eta = 1; }},
      {"min_epochs", [](wire::Sweep& s) { s.min_epochs = 0; }},
      {"metric", [](wire::Sweep& s) { s.metric.clear(); }},
      {"goal", [](wire::Sweep& s) { s.goal = wire::SweepGoal::maximize; }},
      {"trial_budget", [](wire::Sweep& s) { s.trial_budget = base::Credits(0); }},
  };
  for (const auto& [field, spoil] : rows) {
    auto sweep = good;
    spoil(sweep);
    const auto checked = check_search(sweep);
    ASSERT_FALSE(checked) << field;
    EXPECT_EQ(checked.error().field, field) << checked.error().message;
    EXPECT_FALSE(checked.error().hint.empty()) << field;
  }
  auto many = good;
  many.method = wire::SweepMethod::grid;
  for (int i = 0; i < 5; ++i)
    many.parameters["p" + std::to_string(i)].values = {"1", "2", "3", "4"};
  EXPECT_THAT(check_search(many).error().message, HasSubstr("2048 combinations"));
}

// 4,000 bytes, with all that a trial may report: one that did not fit would never be begun, or
// never be noted.
TEST(SweepWork, WhatIsKeptWithATrialFits) {
  wire::Sweep sweep{.of = "batch", .trials = 1, .metric = "loss"};
  sweep.goal = wire::SweepGoal::minimize;
  for (int i = 0; i < 16; ++i)
    sweep.parameters[std::string(62, 'p') + std::to_string(i + 10)].values = {
        "\"" + std::string(120, 'v') + "\""};
  EXPECT_TRUE(check_search(sweep));
  auto longer = sweep;
  for (auto& [name, parameter] : longer.parameters)
    parameter.values = {"\"v\"", "\"" + std::string(198, 'v') + "\""};
  EXPECT_EQ(check_search(longer).error().field, "parameters");
  EXPECT_THAT(check_search(longer).error().hint, HasSubstr("4000 at most"));
  sweep.method = wire::SweepMethod::asha;  // Rungs take room, too.
  sweep.eta = 2;
  EXPECT_EQ(check_search(sweep).error().field, "parameters");
  sweep.eta = 10;
  EXPECT_TRUE(check_search(sweep));
}

TEST(SweepFile, ReadsATrainingAndAProgram) {
  const auto file = read_job_file(
      "kind: sweep\nmodel: lenet\ndata: mnist\nsweep: {metric: accuracy, method: grid, parameters: "
      "{lr: [0.1, 0.2], batch: [8, 16]}}\n",
      "s.yaml", kNow);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->job.batch->sweep->of, "train");
  EXPECT_EQ(file->job.batch->sweep->trials, 4);
  EXPECT_EQ(file->job.batch->sweep->goal, wire::SweepGoal::maximize);
  const auto program = read_job_file(
      "kind: sweep\nrun: ./x\nsweep: {metric: loss, parameters: {lr: {log: [0.1, 1]}}}\n", "s.yaml",
      kNow);
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->job.batch->sweep->of, "batch");
  EXPECT_EQ(program->job.batch->sweep->goal, wire::SweepGoal::minimize);
  const auto both = read_job_file(
      "kind: sweep\nrun: ./x\nepochs: 3\nsweep: {metric: loss, parameters: {lr: [1, 2]}}\n",
      "s.yaml", kNow);
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().message, HasSubstr("s.yaml:3: epochs: it is a key of trainings"));
}

TEST(SweepFile, OfAnyOtherKindItIsRefused) {
  wire::NewJob job{.kind = "batch"};
  job.batch = wire::Batch{.run = "x"};
  job.batch->sweep = wire::Sweep{.of = "batch"};
  EXPECT_EQ(find_kind("sweep")->check(job).error().field, "batch.sweep.parameters");
  job.batch->sweep->of = "sweep";  // A sweep of sweeps.
  EXPECT_EQ(find_kind("sweep")->check(job).error().field, "batch.sweep.of");
}

}  // namespace
}  // namespace souk::job
