#include "server/routes/offer_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace souk::server {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

TEST(OfferView, AShortListOfPackagesHasWhatPeopleLookForFirst) {
  wire::Offer offer;
  offer.packages = {"attrs==22.2.0", "blinker", "numpy==1.24", "six", "torch==1.13.1", "@torch"};
  EXPECT_THAT(shortened(offer).packages, ElementsAre("numpy==1.24", "torch==1.13.1", "@torch",
                                                     "attrs==22.2.0", "blinker", "six"));
  offer.packages.assign(100, "six");
  offer.packages.push_back("@containers");
  offer.package_count = 101;
  const auto cut = shortened(offer);
  EXPECT_THAT(cut.packages, SizeIs(40));
  EXPECT_EQ(cut.packages.front(), "@containers");
  EXPECT_EQ(cut.package_count, 101);
}

}  // namespace
}  // namespace souk::server
