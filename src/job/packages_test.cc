#include "job/packages.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace souk::job {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

bool fits(std::int64_t offered_mib, std::int64_t asked_mib) {
  const auto words = size_offered(kScratch, offered_mib);
  return std::ranges::find(words, size_demanded(kScratch, asked_mib)) != words.end();
}

TEST(SizeWords, ASizeIsMetByThoseThatAreNoSmaller) {
  EXPECT_THAT(size_offered(kScratch, 4'096),
              ElementsAre("@scratch:1G", "@scratch:2G", "@scratch:3G", "@scratch:4G"));
  EXPECT_THAT(size_offered(kScratch, 1'000), IsEmpty());
  EXPECT_EQ(size_demanded(kScratch, 200 << 10), "@scratch:224G");
  EXPECT_TRUE(fits(500 << 10, 200 << 10));
  EXPECT_FALSE(fits(100 << 10, 200 << 10));
  EXPECT_FALSE(fits(16 << 20, 17 << 20)) << "more than any word can say";
  // Never less than asked for, and never more than a quarter too much.
  for (std::int64_t asked = 1'024; asked < 12 << 20; asked += 7'001) {
    EXPECT_FALSE(fits(asked - 1, asked)) << asked;
    EXPECT_TRUE(fits(asked + asked / 4 + 1'024, asked)) << asked;
  }
}

TEST(ModelWords, AJobNamesAModelAsPeopleDo) {
  EXPECT_THAT(model_words("NVIDIA A100-SXM4-80GB"),
              ElementsAre("@gpu:a100", "@gpu:sxm4", "@gpu:80gb"));
  EXPECT_THAT(model_words("h200"), ElementsAre("@gpu:h200"));
  EXPECT_THAT(model_words("RTX 4090"), ElementsAre("@gpu:rtx", "@gpu:4090"));
  EXPECT_THAT(model_words("NVIDIA H100 MIG 1g.10gb"),
              ElementsAre("@gpu:h100", "@gpu:mig", "@gpu:1g.10gb"));
  EXPECT_THAT(model_words("  \x1b "), IsEmpty());
}

}  // namespace
}  // namespace souk::job
