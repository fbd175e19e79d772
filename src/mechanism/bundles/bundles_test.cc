#include "mechanism/bundles/bundles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "mechanism/bundles/greedy.h"
#include "mechanism/bundles/vcg_combinatorial.h"
#include "mechanism/testing/more_books.h"

namespace souk::mechanism {
namespace {

using ::testing::HasSubstr;
using namespace base::literals;

Book pair_of_goods() {
  return {.bids = {{1, 5_cr}, {2, 3_cr}}, .items = {"a", "b"}, .bundles = {{0, 1}, {1}}};
}

TEST(Bundles, ABookOfBundlesIsTaken) {
  EXPECT_TRUE(accepts_bundles("x", pair_of_goods(), 2, 2));
  EXPECT_TRUE(accepts_bundles("x", Book{.items = {"a"}}, 2, 2));
}

TEST(Bundles, AnythingElseIsRefusedWithAReason) {
  const struct {
    const char* says;
    const char* field;
    void (*spoil)(Book&);
  } cases[] = {
      {"x takes bundles of goods, and the book has none", "items", [](Book& b) { b = {}; }},
      {"1 asks and 0 halves", "asks", [](Book& b) { b.asks = {{1, 1_cr}}; }},
      {"0 asks and 2 halves", "asks", [](Book& b) { b.bid_halves.resize(2); }},
      {"3 goods", "items", [](Book& b) { b.items.push_back("c"); }},
      {"3 bids", "bids", [](Book& b) { b.bids.push_back({3, 1_cr}); }},
      {"1 bundles for 2 bids", "bundles", [](Book& b) { b.bundles.pop_back(); }},
      {"bid 2 wants 2 units", "bundles[1]", [](Book& b) { b.bids[1].units = 2; }},
      {"1 units of its bundle, 2 at least", "bundles[0]", [](Book& b) { b.bids[0].gang = 2; }},
      {"bid 1 has a limit of -0.000001", "bundles[0]",
       [](Book& b) { b.bids[0].limit = -0.000001_cr; }},
      {"bid 2 wants an empty bundle", "bundles[1]", [](Book& b) { b.bundles[1].clear(); }},
      {"bid 1 wants good 2 of 2", "bundles[0]", [](Book& b) { b.bundles[0] = {0, 2}; }},
      {"repeats good 1", "bundles[0]", [](Book& b) { b.bundles[0] = {1, 1}; }},
      {"out of order", "bundles[0]", [](Book& b) { b.bundles[0] = {1, 0}; }},
  };
  for (const auto& c : cases) {
    auto book = pair_of_goods();
    c.spoil(book);
    const auto refused = accepts_bundles("x", book, 2, 2);
    ASSERT_FALSE(refused) << c.says;
    EXPECT_THAT(refused.error().message, HasSubstr(c.says));
    EXPECT_EQ(refused.error().field, c.field) << c.says;
    EXPECT_FALSE(refused.error().hint.empty()) << c.says;
  }
}

TEST(Bundles, NoMarketRunsOnThem) {
  EXPECT_FALSE(VcgCombinatorial().fit_for_live());
  EXPECT_FALSE(Greedy(0).fit_for_live());
}

TEST(Bundles, TheLargestBooksAreTakenAndTheNextRefused) {
  const auto of = [](std::size_t bids) {
    Book book{.items = {"a"}};
    book.bids.resize(bids, {1, 1_cr});
    book.bundles.resize(bids, {0});
    return book;
  };
  EXPECT_TRUE(VcgCombinatorial().accepts(of(VcgCombinatorial::kMostBids)));
  EXPECT_FALSE(VcgCombinatorial().accepts(of(VcgCombinatorial::kMostBids + 1)));
  EXPECT_TRUE(Greedy(0).accepts(of(Greedy::kMostBids)));
  EXPECT_FALSE(Greedy(0).accepts(of(Greedy::kMostBids + 1)));
}

}  // namespace
}  // namespace souk::mechanism
