#include "lab/files/book.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "mechanism/testing/books.h"

namespace souk::lab {
namespace {

using base::Credits;
using mechanism::Half;
using mechanism::Outcome;
using mechanism::Side;
using mechanism::testing::whole;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

NamedBook named_book(std::string_view text) {
  auto got = read_book(text);
  EXPECT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got && std::holds_alternative<NamedBook>(*got));
  return got && std::holds_alternative<NamedBook>(*got) ? std::get<NamedBook>(*std::move(got))
                                                        : NamedBook{};
}

std::string error_of(std::string_view text) {
  const auto got = read_book(text);
  return got ? "none" : fmt::format("{} ({})", got.error().message, got.error().hint);
}

TEST(Book, ReadsNamesPricesAndUnits) {
  const auto b = named_book(R"({"class":"c1","reference":"7.5",
    "bids":[{"id":"b1","price":17},{"id":"ann","price":0.000001,"units":3}],
    "asks":[{"id":"s1","price":"1.25","units":2,"rank":-1}]})");
  EXPECT_EQ(b.slot_class, "c1");
  EXPECT_EQ(b.book.reference, Credits(7'500'000));
  EXPECT_TRUE(b.has_reference);
  EXPECT_THAT(b.bids, ElementsAre("b1", "ann"));
  EXPECT_THAT(b.asks, ElementsAre("s1"));
  EXPECT_EQ(b.book.bids[0].limit, whole(17));
  EXPECT_EQ(b.book.bids[0].units, 1);
  EXPECT_EQ(b.book.bids[1].limit, Credits(1));
  EXPECT_EQ(b.book.bids[1].units, 3);
  EXPECT_EQ(b.book.asks[0].reserve, Credits(1'250'000));
  EXPECT_EQ(b.book.asks[0].units, 2);
  EXPECT_EQ(b.book.asks[0].rank, -1);
  EXPECT_TRUE(b.book.bid_halves.empty());
  EXPECT_TRUE(b.book.items.empty());
}

TEST(Book, PricesKeepEveryDigit) {
  for (const auto* price : {"0.1", "4.65", "999999999.999999", "1000000000", "0.000001", "6.30"}) {
    const auto b = named_book(fmt::format(R"({{"bids":[{{"id":"b","price":{}}}]}})", price));
    EXPECT_EQ(b.book.bids[0].limit, *base::parse_credits(price)) << price;
  }
}

TEST(Book, TheGangPaysForAllOfItself) {
  struct Case {
    const char* bid;
    std::int64_t limit_micro;
    std::int32_t units, gang;
  };
  const Case cases[] = {
      {R"("price":9,"gang":2)", 4'500'000, 2, 2},            // One gang unless told.
      {R"("price":9,"gang":2,"units":1)", 4'500'000, 2, 2},  // Below the gang: counts gangs.
      {R"("price":9,"gang":3,"units":2)", 3'000'000, 6, 3},
      {R"("price":9,"gang":2,"units":5)", 4'500'000, 5, 2},  // From two to five slots.
      {R"("price":10,"gang":3)", 3'333'333, 3, 3},           // Rounded down: never above the bid.
  };
  for (const auto& c : cases) {
    const auto b = named_book(fmt::format(R"({{"bids":[{{"id":"b",{}}}]}})", c.bid));
    EXPECT_EQ(b.book.bids[0].limit.micro, c.limit_micro) << c.bid;
    EXPECT_EQ(b.book.bids[0].units, c.units) << c.bid;
    EXPECT_EQ(b.book.bids[0].gang, c.gang) << c.bid;
  }
}

TEST(Book, BundlesAndSplitsAndOwners) {
  const auto goods =
      named_book(R"({"items":["a","b"],"bids":[{"id":"Red","price":10,"bundle":["a"]},
    {"id":"Green","price":19,"bundle":["b","a"]}]})");
  EXPECT_THAT(goods.book.items, ElementsAre("a", "b"));
  EXPECT_THAT(goods.book.bundles, ElementsAre(ElementsAre(0u), ElementsAre(0u, 1u)));

  const auto split = named_book(R"({"bids":[{"id":"b","price":1,"side":"left"}],
    "asks":[{"id":"s","price":1,"side":"right"}]})");
  EXPECT_THAT(split.book.bid_halves, ElementsAre(Half::left));
  EXPECT_THAT(split.book.ask_halves, ElementsAre(Half::right));

  const auto owned = named_book(R"({"bids":[{"id":"a","price":1,"owner":"ann"},{"id":"b","price":1},
    {"id":"c","price":1,"owner":"ann"},{"id":"d","price":1}]})");
  const auto& bids = owned.book.bids;
  EXPECT_EQ(bids[0].owner, bids[2].owner);
  EXPECT_NE(bids[1].owner, bids[3].owner) << "who names no owner is somebody of its own";
  EXPECT_NE(bids[0].owner, bids[1].owner);
}

TEST(Book, ReadsQuanta) {
  const auto got = read_book(R"({"quanta":[[4,1,1],[0,3,0]],"initial_credits":6,"slices":6})");
  ASSERT_TRUE(got);
  const auto& q = std::get<Quanta>(*got);
  EXPECT_THAT(q.demands, ElementsAre(ElementsAre(4, 1, 1), ElementsAre(0, 3, 0)));
  EXPECT_EQ(q.initial_credits, 6);
  EXPECT_EQ(q.slices, 6);
}

TEST(Book, MistakesAreNamedWithTheirPlaceAndWhatWouldDo) {
  struct Case {
    std::string text, said;
  };
  const auto bid = [](std::string_view rest) {
    return fmt::format(R"({{"bids":[{{"id":"b1","price":1}},{{{}}}]}})", rest);
  };
  const Case cases[] = {
      {"{", "not valid JSON"},
      {R"({"bid":[]})", "did you mean 'bids'"},
      {bid(R"("id":"b2","prise":1)"), "did you mean 'price'"},
      {bid(R"("id":"b2")"), "missing key 'bids[1].price'"},
      {bid(R"("id":2,"price":1)"), "put it in quotes"},
      {bid(R"("id":"","price":1)"), "bids[1].id: it is empty"},
      {bid(R"("id":"b1","price":1)"), "bids[1].id: 'b1' is there twice"},
      {bid(R"("id":"b2","price":-1)"), "bids[1].price: -1 is negative"},
      {bid(R"("id":"b2","price":0.1234567)"), "at most six digits after the point"},
      {bid(R"("id":"b2","price":"0.1234567")"), "at most six digits after the point"},
      {bid(R"("id":"b2","price":1000000001)"), "bids[1].price"},
      {bid(R"("id":"b2","price":1,"units":0)"), "from 1 to 1000000"},
      {bid(R"("id":"b2","price":1,"gang":0)"), "bids[1].gang: 0 is out of range"},
      {bid(R"("id":"b2","price":1,"gang":5000,"units":4000)"), "20000000 slots"},
      {bid(R"("id":"b2","price":1,"side":"lft")"), "did you mean 'left'"},
      {bid(R"("id":"b2","price":1,"side":"left")"), "those before it have no side"},
      {bid(R"("id":"b2","price":1,"bundle":["a"])"), "the book has no items"},
      {R"({"bids":[{"id":"x","price":1}],"asks":[{"id":"x","price":1}]})", "'x' is there twice"},
      {R"({"bids":[{"id":"x","price":1,"side":"left"}],"asks":[{"id":"y","price":1}]})",
       "asks: they have no side"},
      {R"({"items":["a","a"]})", "items[1]: 'a' is there twice"},
      {R"({"items":["a"],"bids":[{"id":"x","price":1}]})", "bids[0].bundle: it is missing"},
      {R"({"items":["a"],"bids":[{"id":"x","price":1,"bundle":[]}]})", "it is empty"},
      {R"({"items":["a"],"bids":[{"id":"x","price":1,"bundle":["a","a"]}]})", "'a' is there twice"},
      {R"({"items":["alpha"],"bids":[{"id":"x","price":1,"bundle":["alpah"]}]})",
       "did you mean 'alpha'"},
      {R"({"items":["a"],"asks":[{"id":"x","price":1}]})", "a book with items has no asks"},
      {R"({"slices":6})", "belong to a book of quanta"},
      {R"({"quanta":[[1]],"slices":6})", "missing key 'initial_credits'"},
      {R"({"quanta":[[1,2],[1]],"initial_credits":1,"slices":6})", "quanta[1]: it has 1 users"},
      {R"({"quanta":[[1,-2]],"initial_credits":1,"slices":6})", "quanta[0][1]: -2"},
      {R"({"quanta":[],"initial_credits":1,"slices":6})", "quanta: there are none"},
      {R"({"quanta":[[1]],"initial_credits":1,"slices":6,"bids":[{"id":"x","price":1}]})",
       "has no bids"},
  };
  for (const auto& c : cases) EXPECT_THAT(error_of(c.text), HasSubstr(c.said)) << c.text;
}

TEST(Book, NothingInABookCanOverflow) {
  std::string bids;
  for (int i = 0; i < 1'001; ++i)
    bids += fmt::format(R"({}{{"id":"b{}","price":1000000000,"units":1}})", i > 0 ? "," : "", i);
  EXPECT_THAT(error_of("{\"bids\":[" + bids + "]}"), HasSubstr("worth too much"));
  EXPECT_THAT(error_of(R"({"asks":[{"id":"s","price":1000000000,"units":1000000}]})"),
              HasSubstr("worth too much"));
}

TEST(Book, TheLineForAProgramReadsBackAsTheSameBook) {
  const auto b = named_book(R"({"class":"c4","reference":3,"bids":[{"id":"b1","price":10,"gang":3,
    "units":7},{"id":"b2","price":2.5,"units":2,"owner":"ann"}],"asks":[{"id":"s1","price":1,
    "units":4,"rank":2}]})");
  auto line = book_line(b, 5);
  const auto at = line.find("\"seed\":5,");
  ASSERT_NE(at, std::string::npos);
  line.erase(at, 9);
  const auto again = named_book(line);
  EXPECT_EQ(again.slot_class, "c4");
  EXPECT_EQ(again.bids, b.bids);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(again.book.bids[i].limit, b.book.bids[i].limit);
    EXPECT_EQ(again.book.bids[i].units, b.book.bids[i].units);
    EXPECT_EQ(again.book.bids[i].gang, b.book.bids[i].gang);
  }
  EXPECT_EQ(again.book.asks[0].rank, 2);
  EXPECT_EQ(line.find('\n'), std::string::npos);
}

constexpr auto kMeasured = R"({"reference":4,
  "bids":[{"id":"b1","price":9,"rates":{"s1":2,"s2":1,"s3":0.5},"steps":100,"slo":60},
          {"id":"b2","price":9,"rates":{"s2":2,"s1":3,"s3":1},"done":5,"elapsed":7}],
  "asks":[{"id":"s1","price":0},{"id":"s2","price":0,"units":2},
          {"id":"s3","price":0,"units":3}]})";

TEST(Book, ReadsWhatWasMeasured) {
  const auto b = named_book(kMeasured);
  EXPECT_THAT(b.book.rates, ElementsAre(2, 1, .5, 3, 2, 1));
  EXPECT_THAT(b.book.works, ElementsAre(mechanism::JobProgress{.steps = 100, .slo_s = 60},
                                        mechanism::JobProgress{.done = 5, .elapsed_s = 7}));
  const auto some =
      named_book(R"({"bids":[{"id":"b1","price":9,"rates":{"s2":4}},{"id":"b2","price":9}],
    "asks":[{"id":"s1","price":1},{"id":"s2","price":1}]})");
  EXPECT_THAT(some.book.rates, ElementsAre(0, 4, 1, 1));
  EXPECT_TRUE(some.book.works.empty());
}

// The instance of docs/scheduling.md: 18/31 of the fastest machine are the second job's, 13/31 the
// first's.
TEST(Book, TheKnownInstanceIsClearedAsItsScheduleSays) {
  auto b = named_book(kMeasured);
  b.book.works.clear();
  const auto las = *mechanism::make("las");
  base::Random random(1);
  const auto out = las->clear(b.book, random);
  ASSERT_TRUE(mechanism::verify(b.book, out));
  EXPECT_THAT(outcome_json({"las", 1}, b, out),
              HasSubstr(R"("trades":[{"bid":"b1","ask":"s2","units":1,)"));
  EXPECT_THAT(outcome_json({"las", 1}, b, out), HasSubstr(R"({"bid":"b2","ask":"s1","units":1,)"));
}

TEST(Book, WhatWasMeasuredIsToldToPrograms) {
  const auto b = named_book(kMeasured);
  const auto line = book_line(b, 1);
  EXPECT_THAT(line, HasSubstr(R"("rates":{"s1":2,"s2":1,"s3":0.5},"steps":100,"slo":60})"));
  EXPECT_THAT(line, HasSubstr(R"("done":5,"elapsed":7})"));
  EXPECT_EQ(book_line(with_names({{{1, whole(1)}}, {{1, whole(1)}}}), 1).find("rates"),
            std::string::npos);
}

TEST(Book, AMeasureThatIsNoneIsNamed) {
  const auto with = [](std::string_view bid) {
    return error_of(fmt::format(
        R"({{"bids":[{{"id":"b1","price":9,{}}}],"asks":[{{"id":"s1","price":1}}]}})", bid));
  };
  EXPECT_THAT(with(R"("rates":{"s2":1})"),
              HasSubstr("bids[0].rates: 's2' is not an ask of the book"));
  EXPECT_THAT(with(R"("rates":{"s1":-1})"), HasSubstr("bids[0].rates: -1 is out of range"));
  EXPECT_THAT(with(R"("steps":-1)"), HasSubstr("bids[0].steps: -1 is out of range"));
  EXPECT_THAT(with(R"("elapsed":1e30)"), HasSubstr("bids[0].elapsed: 1e+30 is out of range"));
}

TEST(Book, RatesOfTooManyPairsAreRefused) {
  std::string text = R"({"bids":[{"id":"b","price":1,"rates":{"s0":1}})";
  for (int i = 0; i < 5'000; ++i) text += fmt::format(R"(,{{"id":"b{}","price":1}})", i);
  text += R"(],"asks":[{"id":"s0","price":1})";
  for (int i = 1; i < 5'000; ++i) text += fmt::format(R"(,{{"id":"s{}","price":1}})", i);
  EXPECT_THAT(error_of(text + "]}"), HasSubstr("5001 bids on 5000 asks have too many rates"));
}

TEST(Book, BidsThatCannotTradeAreNotTold) {
  mechanism::Book book{{{.id = 1, .limit = whole(3), .units = 2, .gang = 3}, {2, whole(4)}}};
  const auto line = book_line(with_names(book), 0);
  EXPECT_EQ(line.find("b1"), std::string::npos);
  EXPECT_NE(line.find("b2"), std::string::npos);
}

TEST(Book, AnAnswerIsPutInOrder) {
  const auto b = named_book(R"({"bids":[{"id":"x","price":9},{"id":"y","price":8}],
    "asks":[{"id":"p","price":3},{"id":"q","price":4}]})");
  const auto out = read_outcome(b, R"({"trades":[{"bid":"y","ask":"q","pays":6,"gets":6},
    {"bid":"x","ask":"p","units":1,"pays":6,"gets":"6"}]})");
  ASSERT_TRUE(out) << out.error().message;
  EXPECT_THAT(out->trades, ElementsAre(mechanism::Trade{0, 0, 1, whole(6), whole(6)},
                                       mechanism::Trade{1, 1, 1, whole(6), whole(6)}));
  EXPECT_EQ(out->price, whole(6));
  EXPECT_TRUE(mechanism::verify(b.book, *out));

  const auto twice = read_outcome(b, R"({"trades":[{"bid":"x","ask":"p","pays":6,"gets":6},
    {"bid":"x","ask":"p","pays":6,"gets":6}]})");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().message, HasSubstr("'x' and 'p' trade twice"));
}

TEST(Book, WritesAnOutcomeWithTheDigitsNeeded) {
  const auto b = named_book(R"({"bids":[{"id":"b1","price":17},{"id":"b2","price":14}],
    "asks":[{"id":"s1","price":1},{"id":"s2","price":4}]})");
  Outcome out{.trades = {{0, 0, 1, Credits(8'500'000), Credits(8'500'000)},
                         {1, 1, 1, Credits(8'500'000), Credits(8'500'000)}}};
  EXPECT_EQ(outcome_json({"mcafee", 1}, b, out),
            R"({"mechanism":"mcafee","seed":1,"trades":[)"
            R"({"bid":"b1","ask":"s1","units":1,"pays":8.5,"gets":8.5},)"
            R"({"bid":"b2","ask":"s2","units":1,"pays":8.5,"gets":8.5}],"gain":26,"platform":0,)"
            R"("buyers_pay":17,"sellers_get":17,"price":8.5,"lottery":{},"fees":{}})");
  out.trades.pop_back();
  out.trades[0].gets = whole(4);
  out.lotteries = {{Side::sellers, {0, 1}, 1}};
  out.fees = {{Side::buyers, 0, Credits(1'850'000)}};
  EXPECT_EQ(outcome_json({"x", 2}, b, out),
            R"({"mechanism":"x","seed":2,"trades":[)"
            R"({"bid":"b1","ask":"s1","units":1,"pays":8.5,"gets":4}],"gain":16,"platform":6.35,)"
            R"("buyers_pay":10.35,"sellers_get":4,)"
            R"("lottery":{"side":"sellers","winners":1,"of":["s1","s2"]},"fees":{"b1":1.85}})");
  out.lotteries.push_back({Side::buyers, {0}, 1});
  EXPECT_THAT(outcome_json({"x", 2}, b, out),
              HasSubstr(R"("lottery":[{"side":"sellers","winners":1,"of":["s1","s2"]},)"
                        R"({"side":"buyers","winners":1,"of":["b1"]}])"));
  EXPECT_EQ(outcome_json({"x", 2}, b, {}),
            R"({"mechanism":"x","seed":2,"trades":[],"gain":0,"platform":0,"buyers_pay":0,)"
            R"("sellers_get":0,"lottery":{},"fees":{}})");
}

TEST(Book, WritesBundlesByName) {
  const auto b =
      named_book(R"({"items":["a","b"],"bids":[{"id":"Green","price":19,"bundle":["a","b"]}]})");
  const Outcome out{.awards = {{0, Credits(14'142'135)}}};
  EXPECT_THAT(outcome_json({"greedy", 0}, b, out),
              HasSubstr(R"("trades":[{"bid":"Green","items":["a","b"],"units":1,)"
                        R"("pays":14.142135,"gets":0}],"gain":19,"platform":14.142135)"));
}

TEST(Book, KnowsTheLargestGain) {
  // Smith 1962, chart 1: eleven values and costs from 3.25 to 0.75 by 0.25.
  mechanism::Book smith;
  for (int i = 0; i < 11; ++i) {
    smith.bids.push_back({.limit = Credits(3'250'000 - i * 250'000)});
    smith.asks.push_back({.reserve = Credits(750'000 + i * 250'000)});
  }
  EXPECT_EQ(largest_gain(smith), Credits(7'500'000));
  EXPECT_EQ(largest_gain({}), Credits());
}

}  // namespace
}  // namespace souk::lab
