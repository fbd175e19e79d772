#include "cli/shell/human.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace souk::cli {
namespace {

using namespace base::literals;
using base::Credits;
using ::testing::ElementsAre;

TEST(Human, CreditsHaveThreeDigitsThatCount) {
  const std::pair<Credits, const char*> rows[] = {
      {0_cr, "0"},           {0.042123_cr, "0.0421"}, {0.5_cr, "0.5"},
      {1_cr, "1"},           {1.957877_cr, "1.96"},   {12.34_cr, "12.3"},
      {1234.567_cr, "1235"}, {-0.4_cr, "-0.4"},       {Credits(1), "0.000001"},
      {0.9999_cr, "1"},      {99.96_cr, "100"}};
  for (const auto& [amount, shown] : rows) EXPECT_EQ(brief(amount), shown) << amount.micro;
}

TEST(Human, WhatIsShownOfASumAddsUp) {
  EXPECT_THAT(briefs(std::array{0.0421_cr, 1.9579_cr}), ElementsAre("0.0421", "1.9579", "2"));
  EXPECT_THAT(briefs(std::array{0_cr, 5_cr}), ElementsAre("0", "5", "5"));
  for (std::uint64_t seed = 1; seed <= 2'000; ++seed) {
    base::Random random(seed);
    std::vector<Credits> parts;
    for (int i = 0; i < 4; ++i) {
      std::int64_t most = 10;
      for (auto n = random.below(8); n > 0; --n) most *= 10;
      parts.emplace_back(random.between(0, most));
    }
    const auto shown = briefs(parts);
    double sum = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) sum += std::stod(shown[i]);
    EXPECT_NEAR(sum, std::stod(shown.back()), 1e-7) << "seed " << seed;
  }
}

}  // namespace
}  // namespace souk::cli
