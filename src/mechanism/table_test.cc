#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "mechanism/mechanism.h"
#include "mechanism/testing/books.h"

namespace souk::mechanism {
namespace {

using ::testing::HasSubstr;

TEST(Table, EveryRowIsCompleteAndCanBeMadeByName) {
  std::set<std::string_view> names;
  for (const auto& entry : all()) {
    SCOPED_TRACE(entry.name);
    EXPECT_TRUE(names.insert(entry.name).second) << "a name is used twice";
    EXPECT_TRUE(entry.summary.ends_with('.'));
    EXPECT_FALSE(entry.properties.empty());
    EXPECT_TRUE(make(entry.name));
  }
  EXPECT_TRUE(names.contains("posted") && names.contains("k-double"));
}

TEST(Table, NoMechanismEverGivesAnIllegalOrUnrepeatableOutcome) {
  for (const auto& entry : all()) {
    const auto mechanism = *make(entry.name);
    for (std::uint64_t seed = 1; seed <= 2000; ++seed) {
      base::Random random(seed);
      const auto out = testing::clear(*mechanism, testing::random_book(random), seed);
      const auto legal = verify(out.book, out.outcome);
      ASSERT_TRUE(legal) << entry.name << ", seed " << seed << ": " << legal.error().message;
      const auto again = testing::clear(*mechanism, out.book, seed);
      ASSERT_EQ(out.outcome.trades, again.outcome.trades) << entry.name << ", seed " << seed;
      ASSERT_EQ(out.outcome.price, again.outcome.price) << entry.name << ", seed " << seed;
    }
  }
}

TEST(Table, AMistypedNameOrParameterIsAnsweredWithTheNearest) {
  const auto name = make("k-duoble");
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("'k-duoble'"));
  EXPECT_THAT(name.error().hint, HasSubstr("'k-double'"));
  EXPECT_EQ(name.error().field, "mechanism");

  const auto far = make("lottery-of-babylon");
  ASSERT_FALSE(far);
  EXPECT_THAT(far.error().hint, HasSubstr("posted"));

  const auto param = make("k-double", {{"kapa", "0.5"}});
  ASSERT_FALSE(param);
  EXPECT_THAT(param.error().message, HasSubstr("'kapa'"));
  EXPECT_THAT(param.error().hint, HasSubstr("'kappa'"));
  EXPECT_EQ(param.error().field, "kapa");
}

}  // namespace
}  // namespace souk::mechanism
