#include "train/opinions.h"

#include <gtest/gtest.h>

namespace souk::train {
namespace {

TEST(Opinions, TwoThatAgreeDecideAndTheOddOneOutIsWrong) {
  Opinions o;
  o.add({});
  EXPECT_FALSE(o.right());
  o.add({false});
  EXPECT_FALSE(o.right());
  o.add({false, true});
  EXPECT_EQ(o.right(), 1u);
  EXPECT_FALSE(o.is_right(0));
  EXPECT_TRUE(o.is_right(1));
  EXPECT_TRUE(o.is_right(2));
}

TEST(Opinions, AreHopelessWhenAllDiffer) {
  Opinions o;
  for (std::size_t i = 0; i < Opinions::kMost; ++i) {
    EXPECT_FALSE(o.hopeless());
    o.add(std::vector<bool>(i, false));
  }
  EXPECT_TRUE(o.hopeless());
  EXPECT_FALSE(o.is_right(0));
}

}  // namespace
}  // namespace souk::train
