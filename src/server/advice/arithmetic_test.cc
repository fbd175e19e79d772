#include "server/advice/arithmetic.h"

#include <gtest/gtest.h>

namespace souk::server {
namespace {

double of(std::map<std::string, std::string> config) {
  return sample_operations({.config = std::move(config)}) / 6;  // Multiplications of one pass.
}

TEST(Arithmetic, OfTheBuiltInModelsIsAsTheirPapersSay) {
  EXPECT_EQ(of({{"model", R"("logistic")"}}), 7'840);
  EXPECT_EQ(of({{"model", R"("mlp")"}, {"hidden", "64"}}), 64 * 794);
  EXPECT_EQ(of({{"model", R"("mlp")"}, {"hidden", "10"}, {"input", "[8]"}, {"classes", "2"}}), 100);
  EXPECT_EQ(of({{"model", R"("lenet")"}}), 117'600 + 240'000 + 48'000 + 10'080 + 840);
  // He et al. 2015 give 40.6 million for it without what follows the last stage.
  EXPECT_NEAR(of({{"model", R"("resnet20")"}}), 41e6, 2e6);
  EXPECT_LT(of({{"model", R"("preresnet")"}, {"depth", "8"}}), 16e6);
  EXPECT_GT(of({{"model", R"("char-transformer")"}, {"layers", "4"}}),
            1.8 * of({{"model", R"("char-transformer")"}, {"layers", "2"}}));
}

TEST(Arithmetic, OfWhatIsNotOursIsNotKnown) {
  EXPECT_EQ(of({}), 0);
  EXPECT_EQ(of({{"model", R"("mine")"}}), 0);
  EXPECT_EQ(of({{"model", "7"}}), 0);
  EXPECT_GT(of({{"model", R"("lenet")"}, {"classes", R"("many")"}, {"input", "{}"}}), 0);
  EXPECT_EQ(
      sample_operations({.trainer = wire::Trainer::python, .config = {{"model", R"("lenet")"}}}),
      0);
}

}  // namespace
}  // namespace souk::server
