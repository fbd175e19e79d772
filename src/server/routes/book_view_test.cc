#include "server/routes/book_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "market/limits.h"
#include "server/testing/market.h"

namespace souk::server {
namespace {

using ::testing::ElementsAre;
using testing::Fair;

// "0 market x 3", "0.5 x 2": the levels of a side, in order.
std::vector<std::string> side(const testing::Answer& book, const std::string& name) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < book.count(name); ++i) {
    const auto level = fmt::format("{}.{}.", name, i);
    out.push_back(book.at(level + "price") +
                  (book.at(level + "market") == "true" ? " market x " : " x ") +
                  book.at(level + "slots"));
  }
  return out;
}

// A market without rounds, so that the book stays as it was written, and a machine of many slots
// that is there.
struct Depth : Fair {
  static Options quiet() {
    auto out = testing::in_memory();
    out.round = base::hours(1);
    return out;
  }
  Depth() : Fair(quiet()) { add_hall("hall"); }
  void add_hall(std::string_view name) {
    hall = must("POST", "/v1/machines", lender.token,
                fmt::format(R"({{"name":"{}","spec":{{"cores":64,"memory_mib":65536}}}})", name))
               .at("id");
    must("POST", "/v1/machines/" + hall + "/heartbeat", lender.token, R"({"leases":[]})");
  }
  std::string ask(int slots, std::string_view more) {
    return offer(lender.token, hall, slots, more);
  }
  void bid(std::string_view limit, int workers) {
    must("POST", "/v1/jobs", borrower.token,
         fmt::format(R"({{"class":"c1","budget":5,"limit":{},"workers":{{"min":1,"max":{}}}}})",
                     limit, workers));
  }
  std::string hall;
};

TEST(Book, SumsWhatIsFreeAndWantedByPrice) {
  Depth d;
  d.ask(2, R"(,"price":0.5)");
  d.ask(1, R"(,"price":0.25)");
  d.ask(2, R"(,"price":0.5)");
  d.ask(3, "");
  d.ask(1, R"(,"price":0)");
  const auto paused = d.ask(8, R"(,"price":0.1)");
  d.must("POST", "/v1/offers/" + paused + "/pause", d.lender.token, "{}");
  d.ask(8, fmt::format(R"(,"price":0.1,"from":"{}")",
                       to_string(base::SystemClock().now() + base::days(1))));
  d.bid("0.2", 3);
  d.bid("0.3", 1);
  d.bid("0.2", 1);
  const auto gone = d.job(d.borrower);
  d.must("POST", "/v1/jobs/" + gone + "/cancel", d.borrower.token, "{}");
  const auto book = d.must("GET", "/v1/book?class=c1", d.borrower.token);
  EXPECT_THAT(side(book, "asks"), ElementsAre("0 market x 3", "0 x 1", "0.25 x 1", "0.5 x 4"));
  EXPECT_THAT(side(book, "bids"), ElementsAre("0.3 x 1", "0.2 x 4"));
  EXPECT_NE(book.at("suggested"), "");
  EXPECT_EQ(book.at("last"), "");
}

TEST(Book, TellsNobodysName) {
  Depth d;
  d.ask(1, "");
  d.bid("1", 1);
  const auto book = d.must("GET", "/v1/book", d.boss.token);
  EXPECT_EQ(book.count("asks"), 1u);
  EXPECT_EQ(book.count("bids"), 1u);
  for (const auto& word : {std::string("lena"), std::string("bob"), std::string("hall"), d.hall})
    EXPECT_THAT(book.body, ::testing::Not(::testing::HasSubstr("\"" + word + "\"")));
}

TEST(Book, IsBoundedAndLosesNoSlots) {
  Depth d;
  for (int i = 1; i <= 210; ++i) {
    if (i % market::kOffersPerMachine == 0) d.add_hall(fmt::format("hall-{}", i));
    d.ask(1, fmt::format(R"(,"price":{})", i));
  }
  const auto asks = side(d.must("GET", "/v1/book?class=c1", d.borrower.token), "asks");
  ASSERT_EQ(asks.size(), kBookLevels);
  EXPECT_EQ(asks[198], "199 x 1");
  EXPECT_EQ(asks[199], "200 x 11");
}

TEST(Book, AClassThatIsNotThereIsNamed) {
  Fair fair;
  EXPECT_THAT(fair.get("/v1/book?class=c99", fair.borrower.token).at("detail"),
              ::testing::HasSubstr("c99"));
}

}  // namespace
}  // namespace souk::server
