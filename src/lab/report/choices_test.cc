#include "lab/report/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/mechanism.h"
#include "train/aggregators/aggregator.h"
#include "train/codecs/codec.h"
#include "train/validators/validator.h"

namespace souk::lab {
namespace {

using ::testing::HasSubstr;

const wire::Mechanism& named(const wire::Mechanisms& all, std::string_view name) {
  return *std::ranges::find(all.items, name, &wire::Mechanism::name);
}

TEST(Choices, EveryRowOfTheTablesCanBeChosen) {
  EXPECT_EQ(mechanism_choices().items.size(), mechanism::all().size());
  const auto training = training_choices();
  EXPECT_EQ(training.rules.size(), train::aggregators().size());
  EXPECT_EQ(training.codecs.size(), train::codecs().size());
  EXPECT_EQ(training.validators.size(), train::validators().size());
}

TEST(Choices, AParameterSaysAllThatAFormNeeds) {
  const auto all = mechanism_choices();
  const auto kappa = named(all, "k-double").parameters.at(0);
  EXPECT_EQ(kappa.type, base::ParameterType::decimal);
  EXPECT_EQ(kappa.low, 0);
  EXPECT_EQ(kappa.high, 1);
  EXPECT_EQ(kappa.default_, "0.5");
  const auto longer = named(all, "muda").parameters.at(0);
  EXPECT_THAT(longer.choices, ::testing::ElementsAre("vickrey", "lottery"));
  EXPECT_EQ(longer.suggested, "lottery");
  EXPECT_EQ(longer.low, std::nullopt);
  EXPECT_EQ(wire::accepted(longer), "vickrey or lottery");
  EXPECT_EQ(named(all, "posted").parameters.at(0).default_words, "the suggested price");
  EXPECT_TRUE(all.external.parameters.at(0).needed);
}

TEST(Choices, PropertiesReadAsASentence) {
  const auto all = mechanism_choices();
  EXPECT_EQ(
      wire::properties_text(named(all, "posted").properties),
      "IR; IC in price; strong budget balance; not efficient; Sybil-proof within a round; own "
      "demand never raises own price");
  EXPECT_THAT(
      wire::properties_text(named(all, "vcg").properties),
      HasSubstr("runs a deficit; efficient; Sybil-proof on one side; no gangs; only for the lab"));
  EXPECT_THAT(wire::properties_text(named(all, "greedy").properties),
              HasSubstr("IC for single-minded bidders"));
}

}  // namespace
}  // namespace souk::lab
