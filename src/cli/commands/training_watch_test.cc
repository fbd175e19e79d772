#include "cli/commands/training_watch.h"

#include <gtest/gtest.h>

namespace souk::cli {
namespace {

TEST(TrainingWatch, TellsWhatUpdatesTravelIn) {
  wire::Training t;
  EXPECT_EQ(codecs_in_use(t), "");
  t.by_worker = {{.worker = "l1", .codec = "int8"},
                 {.worker = "l2", .codec = "fp32"},
                 {.worker = "l3"},
                 {.worker = "l4", .codec = "fp32"}};
  EXPECT_EQ(codecs_in_use(t), "fp32 (2 workers), int8 (1 worker)");
}

TEST(TrainingWatch, WhatDecidesComesFirstAndNothingIsInvented) {
  wire::Training t;
  EXPECT_EQ(figures(t), "");
  t.figure = wire::TrainFigure{.name = "rmse", .below = true, .value = 12'345.5};
  t.target = 10'000;
  t.rows = {{.validation_loss = 0.25,
             .low = 12'000,
             .high = 13'000,
             .metrics = {{"mae", 0.0001}, {"rmse", 12'345.5}}}};
  EXPECT_EQ(figures(t), "rmse 12345.5000 (12000.0000 to 13000.0000), mae 0.0001");
  EXPECT_EQ(unmeasured(t), "");
  EXPECT_EQ(measured(t), figures(t) + " (target 10000.0000)");
  t.confirmed = false;
  EXPECT_EQ(measured(t), figures(t) +
                             " (target 10000.0000), by one owner alone: a second one would "
                             "confirm it");
  t.figure = wire::TrainFigure{.name = "loss", .below = true, .value = 0.25};
  t.rows[0].low = t.rows[0].high = 0.25;
  t.rows[0].metrics.clear();
  EXPECT_EQ(figures(t), "validation loss 0.2500");
  t.rows[0].metrics = {{"accuracy", 0.5}};
  t.figure = wire::TrainFigure{.name = "f1"};
  EXPECT_EQ(figures(t), "accuracy 0.5000");
  EXPECT_EQ(
      unmeasured(t),
      "the target is of f1, which the trainer does not measure: it gives loss, accuracy. Give "
      "a target of one of these, or return f1 from evaluate");
}

}  // namespace
}  // namespace souk::cli
