#include "advisor/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/random.h"

namespace souk::advisor {
namespace {

const std::vector<double> kOnes(4, 1);

TEST(LeastSquares, ALineThroughFourPoints) {
  // Anscombe-like, by hand: mean x 1.5, mean y 4, slope 8/5 = 1.6.
  const Term terms[] = {{{0, 1, 2, 3}}, {kOnes}};
  const auto out = least_squares(terms, std::vector<double>{2, 2, 6, 6}, kOnes);
  EXPECT_NEAR(out.coefficients[0], 1.6, 1e-12);
  EXPECT_NEAR(out.coefficients[1], 1.6, 1e-12);
  EXPECT_NEAR(out.squares, 3.2, 1e-12);
}

TEST(LeastSquares, APointWithoutWeightDoesNotCount) {
  const Term terms[] = {{{0, 1, 2, 3}}, {kOnes}};
  const auto out =
      least_squares(terms, std::vector<double>{1, 3, 99, 7}, std::vector<double>{1, 1, 0, 1});
  EXPECT_NEAR(out.coefficients[0], 2, 1e-12);
  EXPECT_NEAR(out.coefficients[1], 1, 1e-12);
}

TEST(LeastSquares, SignsAreKept) {
  // y falls; a slope that may not leaves the mean.
  const Term terms[] = {{{0, 1, 2, 3}, Sign::at_least_zero}, {kOnes}};
  const auto out = least_squares(terms, std::vector<double>{4, 3, 2, 1}, kOnes);
  EXPECT_EQ(out.coefficients[0], 0);
  EXPECT_NEAR(out.coefficients[1], 2.5, 1e-12);
}

TEST(LeastSquares, WhatOthersAlreadySayGetsNothing) {
  const Term terms[] = {{{1, 2, 3, 4}}, {{2, 4, 6, 8}}, {kOnes}};
  const auto out = least_squares(terms, std::vector<double>{5, 7, 9, 11}, kOnes);
  EXPECT_NEAR(out.coefficients[0], 2, 1e-12);
  EXPECT_EQ(out.coefficients[1], 0);
  EXPECT_NEAR(out.coefficients[2], 3, 1e-12);
}

// No point of a fine grid around it may be better: what leaving out terms finds is the optimum.
TEST(LeastSquares, NoOtherCoefficientsOfTheSameSignsAreBetter) {
  base::Random random(5);
  for (int round = 0; round < 50; ++round) {
    std::vector<double> y(6), w(6, 1);
    std::vector<Term> terms(3, {std::vector<double>(6)});
    terms[0].sign = Sign::at_least_zero;
    terms[1].sign = Sign::at_most_zero;
    terms[2].sign = Sign::at_least_zero;
    for (std::size_t i = 0; i < 6; ++i) {
      y[i] = random.unit() - 0.5;
      for (auto& t : terms) t.values[i] = random.unit() - 0.5;
    }
    const auto best = least_squares(terms, y, w);
    for (int i = 0; i < 300; ++i) {
      double squares = 0, c[3];
      for (std::size_t k = 0; k < 3; ++k) {
        c[k] = best.coefficients[k] + 0.2 * (random.unit() - 0.5);
        if (terms[k].sign == Sign::at_least_zero) c[k] = std::max(c[k], 0.0);
        if (terms[k].sign == Sign::at_most_zero) c[k] = std::min(c[k], 0.0);
      }
      for (std::size_t p = 0; p < 6; ++p) {
        double off = y[p];
        for (std::size_t k = 0; k < 3; ++k) off -= c[k] * terms[k].values[p];
        squares += off * off;
      }
      EXPECT_GE(squares, best.squares - 1e-12);
    }
  }
}

}  // namespace
}  // namespace souk::advisor
