#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "train/testing/updates.h"
#include "train/validators/validator.h"

namespace souk::train {
namespace {

using ::testing::HasSubstr;

TEST(Validators, AMistypedNameIsAnsweredWithTheNearest) {
  const struct {
    const char *spec, *message, *hint;
  } cases[] = {
      {"nrom", "'nrom'", "'norm'"},      {"finite:3", "takes no '3'", "'finite'"},
      {"norm:", "is ''", "above 1"},     {"norm:1", "is '1'", "norm:10"},
      {"loss:nan", "is 'nan'", "above"}, {"norm2", "'norm2'", "'norm'"},
  };
  for (const auto& c : cases) {
    const auto made = make_validator(c.spec);
    ASSERT_FALSE(made) << c.spec;
    EXPECT_THAT(made.error().message, HasSubstr(c.message));
    EXPECT_THAT(made.error().hint, HasSubstr(c.hint));
    EXPECT_EQ(made.error().field, "validator");
  }
  for (const auto name : validator_names()) EXPECT_EQ((*make_validator(name))->name(), name);
  for (const auto& info : validators()) {
    EXPECT_TRUE(info.what.ends_with('.')) << info.name;
    EXPECT_LE(info.parameters.size(), 1) << info.name;
  }
}

// Norms and losses as training gives them: log-normal around a level that falls a hundredfold,
// units of 5 to 80 steps whose changes add up partly along one direction and partly as noise.
TEST(Validators, FewerThanOneInAHundredHonestUpdatesAreRefused) {
  for (const auto name : validator_names()) {
    const auto validator = *make_validator(name);
    int refused = 0;
    constexpr int kUnits = 2000, kRuns = 10;
    for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
      base::Random random(seed);
      History history;
      for (int unit = 0; unit < kUnits; ++unit) {
        const auto level = std::pow(0.01, static_cast<double>(unit) / kUnits);
        const auto steps = 5L << random.below(5);
        const auto growth = std::pow(static_cast<double>(steps), seed % 2 == 0 ? 0.5 : 0.9);
        const Evidence e{
            .stats = {.norm = level * growth * std::exp(0.5 * testing::normal(random))},
            .steps = steps,
            .loss = level * std::exp(0.7 * testing::normal(random))};
        if (validator->judge(e, history).empty())
          history.accept(e);
        else
          ++refused;
      }
    }
    EXPECT_LT(refused, kUnits * kRuns / 100) << name;
  }
}

}  // namespace
}  // namespace souk::train
