#include "job/train/training_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "wire/json.h"

namespace souk::job {
namespace {

using ::testing::HasSubstr;

// What `target:` comes to for a script, or why not.
std::string told(const std::string& json, wire::Train train = {.trainer = wire::Trainer::python}) {
  const auto read = read_target({json});
  if (!read) return read.error().field + ": " + read.error().message + "; " + read.error().hint;
  train.target = *read;
  if (const auto checked = check_target(train); !checked)
    return checked.error().field + ": " + checked.error().message + "; " + checked.error().hint;
  return wire::to_json(*read);
}

TEST(TrainingTarget, TheUsualFiguresKnowTheirDirection) {
  EXPECT_EQ(told(R"({"accuracy":0.98})"), R"({"accuracy":0.98})");
  EXPECT_EQ(told(R"({"loss":0.1})"), R"({"metric":"loss","at_most":0.1})");
  EXPECT_EQ(told(R"({"perplexity":20})"), R"({"metric":"perplexity","at_most":20})");
  EXPECT_EQ(told(R"({"rmse":2})"), R"({"metric":"rmse","at_most":2})");
  EXPECT_EQ(told(R"({"mae":2})"), R"({"metric":"mae","at_most":2})");
  EXPECT_EQ(told(R"({"r2":0.5})"), R"({"metric":"r2","at_least":0.5})");
  EXPECT_EQ(told(R"({"metric":"f1","at_least":0.9})"), R"({"metric":"f1","at_least":0.9})");
  EXPECT_EQ(told(R"({"metric":"wer","at_most":0.1})"), R"({"metric":"wer","at_most":0.1})");
}

TEST(TrainingTarget, AnErrorNamesTheFieldTheValueAndTheFix) {
  EXPECT_EQ(told(R"({"accuracy":98})"),
            "target.accuracy: target.accuracy is 98; use 0 to 1: 98% is 0.98");
  EXPECT_EQ(told(R"({"f1":0.9})"),
            "target.f1: target.f1 is 0.9: it is not known whether more or less of it is better; "
            "use target: {metric: f1, at_least: 0.9} or {metric: f1, at_most: 0.9}");
  EXPECT_EQ(told(R"({"loss":"low"})"), "target.loss: target.loss is \"low\"; give a number");
  EXPECT_EQ(
      told(R"({"metric":"loss","at_least":0.1})"),
      "target.at_least: target.at_least is 0.1, but less of loss is better; use at_most: 0.1");
  for (const auto* json : {"5", "{}", "\"high\"", "[1]"})
    EXPECT_THAT(told(json), HasSubstr("use {accuracy: 0.98}, {loss: 0.1}")) << json;
  EXPECT_THAT(told(R"({"loss":1,"accuracy":1})"), HasSubstr("target names 2 figures"));
  EXPECT_THAT(told(R"({"metric":"f1"})"), HasSubstr("0 bounds and a metric"));
  EXPECT_THAT(told(R"({"at_least":1})"), HasSubstr("1 bounds and no metric"));
  EXPECT_THAT(told(R"({"metric":"f1","at_least":1,"at_most":2})"), HasSubstr("2 bounds"));
  EXPECT_THAT(told(R"({"metric":"f1","at_last":1})"), HasSubstr("at_last"));
  EXPECT_THAT(told(R"({"metric":"a b","at_least":1})"), HasSubstr("target.metric is 'a b'"));
  EXPECT_THAT(told(R"({"metric":"f1","at_least":1e200})"), HasSubstr("target.at_least is 1e+200"));
}

TEST(TrainingTarget, OfABuiltInModelIsSomethingItMeasures) {
  const wire::Train classes{.config = {{"model", "\"mlp\""}}};
  const wire::Train amounts{.config = {{"model", "\"mlp\""}, {"task", "\"regression\""}}};
  const wire::Train text{.config = {{"model", "\"char-transformer\""}}};
  EXPECT_THAT(told(R"({"accuracy":0.9})", classes), HasSubstr("0.9}"));
  EXPECT_THAT(told(R"({"loss":0.9})", text), HasSubstr("0.9}"));
  EXPECT_THAT(told(R"({"perplexity":9})", text), HasSubstr("9}"));
  EXPECT_THAT(told(R"({"rmse":9})", amounts), HasSubstr("9}"));
  EXPECT_EQ(told(R"({"accuracy":0.9})", amounts),
            "target: the target is of accuracy, which this model does not measure; use loss, rmse, "
            "mae, r2");
  EXPECT_THAT(told(R"({"rmse":9})", classes), HasSubstr("use loss, accuracy"));
}

}  // namespace
}  // namespace souk::job
