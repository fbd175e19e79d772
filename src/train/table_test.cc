#include "train/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing/datasets.h"

namespace souk::train {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using testing::says;
using ::testing::SizeIs;

base::Result<Dataset> read(std::string_view text, const Columns& columns, Words words = {}) {
  SOUK_ASSIGN(const auto table, read_csv(text));
  return dataset_of(table, columns, words);
}

constexpr std::string_view kHouses =
    "id,area,quarter,price\n"
    "h1,50,hill,250000.5\n"
    "h2,70,\"mill, old\",310000\n"
    "h3,60,hill,-1e3\n";

TEST(Table, AmountsCategoriesAndColumnsThatAreLeftOut) {
  const auto data = read(
      kHouses,
      {.target = "price", .kinds = {{"quarter", ColumnKind::category}, {"id", ColumnKind::skip}}});
  ASSERT_TRUE(data) << says(data);
  EXPECT_THAT(data->shape, ElementsAre(3));
  EXPECT_THAT(floats(*data), ElementsAre(50, 1, 0, 70, 0, 1, 60, 1, 0));
  EXPECT_THAT(data->amounts, ElementsAre(250000.5F, 310000, -1000));
  EXPECT_TRUE(data->y.empty());
  EXPECT_FALSE(data->is_text());
  EXPECT_EQ(data->samples(), 3);
  std::size_t samples = 0;
  for (const auto& shard : split(*data, 2, 1)) {
    EXPECT_EQ(shard.x.size(), shard.amounts.size() * shard.sample_bytes());
    samples += shard.amounts.size();
  }
  EXPECT_EQ(samples, 3u);
  const auto scaling = amount_scaling_of(*data);
  EXPECT_NEAR(scaling.mean, 186333.5, 0.1);
  EXPECT_NEAR(scaling.deviation, 134710.5, 1);
}

TEST(Table, TestDataHasTheCategoriesOfTheTrainingData) {
  const Columns columns{.label = "y", .kinds = {{"c", ColumnKind::category}}};
  Words words;
  const auto train = read_csv("c,y\nred,0\nblue,1\n");
  ASSERT_TRUE(train);
  ASSERT_TRUE(dataset_of(*train, columns, words));
  const auto test = read("c,y\nred,1\n", columns, words);
  ASSERT_TRUE(test) << says(test);
  EXPECT_THAT(floats(*test), ElementsAre(0, 1));
  EXPECT_EQ(
      says(read("c,y\nred,1\ngreen,1\n", columns, words)),
      "line 3, column 'c': 'green' does not occur in the training data; leave the row out, or "
      "have it in the training data as well");
}

TEST(Table, CellsInQuotesMayHaveCommasQuotesAndLines) {
  const auto table = read_csv("name,n\n\"a \"\"b\"\", c\",1\n  \"two\nlines\" ,2\n\"\",3");
  ASSERT_TRUE(table) << table.error().message;
  ASSERT_THAT(table->rows, SizeIs(3));
  EXPECT_THAT(table->rows[0], ElementsAre("a \"b\", c", "1"));
  EXPECT_THAT(table->rows[1], ElementsAre("two\nlines", "2"));
  EXPECT_THAT(table->rows[2], ElementsAre("", "3"));
  EXPECT_THAT(table->lines, ElementsAre(2, 3, 5));
  EXPECT_EQ(read_csv("a,b\n1,2\n\"open,3\n").error().message, "line 3: a quote is not closed");
  EXPECT_EQ(read_csv("a,b\n\"x\"y,2\n").error().message,
            "line 2: text stands behind a closing quote");
}

TEST(Table, AnErrorNamesTheLineTheColumnTheCellAndTheFix) {
  EXPECT_EQ(says(read(kHouses, {.target = "price"})),
            "line 2, column 'id': 'h1' is not a number; a number is at most 3.4e38; leave out rows "
            "with empty cells. For words use columns: {id: category}, or skip");
  EXPECT_EQ(says(read("a,b\n1,2\n3,many\n", {.target = "b"})),
            "line 3, column 'b': 'many' is not a number; the target is an amount; for classes name "
            "the column with label:");
  EXPECT_EQ(says(read(kHouses, {.target = "cost"})),
            "there is no column 'cost'; columns: id, area, quarter, price");
  EXPECT_THAT(says(read(kHouses, {.target = "price", .kinds = {{"rooms", ColumnKind::skip}}})),
              HasSubstr("there is no column 'rooms'"));
  EXPECT_THAT(says(read(kHouses, {.target = "price", .kinds = {{"price", ColumnKind::category}}})),
              HasSubstr("column 'price' is what is to be learnt"));
  EXPECT_THAT(says(read(kHouses, {.label = "id", .target = "price"})),
              HasSubstr("there is a label and a target"));
  EXPECT_THAT(says(read("a,b\n1,2\n", {.target = "b", .kinds = {{"a", ColumnKind::skip}}})),
              HasSubstr("no column is left to learn from"));
}

TEST(Table, WhatItComesToInMemoryIsBounded) {
  std::string many = "c,y\n";
  for (std::size_t i = 0; i <= kMostCategories; ++i) many += "w" + std::to_string(i) + ",1\n";
  const Columns columns{.target = "y", .kinds = {{"c", ColumnKind::category}}};
  EXPECT_EQ(says(read(many, columns)),
            "column 'c' has 1001 different words; 1000 at most: is it a category? Leave the column "
            "out with skip");
  // A short file whose rows become long: a thousand categories in every row.
  std::string wide = "c,y\n";
  for (std::size_t i = 0; i < 270'000; ++i) wide += "w" + std::to_string(i % 1000) + ",1\n";
  EXPECT_THAT(says(read(wide, columns)), HasSubstr("270000 rows of 1000 features are more than 1"));
}

}  // namespace
}  // namespace souk::train
