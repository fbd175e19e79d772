#include "wire/query.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "wire/json.h"
#include "wire/testing/samples.h"

namespace souk::wire {
namespace {

using base::Credits;

const std::vector<QueryField> kFields{
    {"class", QueryType::text, {"c1", "c4", "g1"}},
    {"lender", QueryType::text},
    {"price", QueryType::credits},
    {"reliability", QueryType::number},
    {"gang", QueryType::flag},
    {"until", QueryType::time},
    {"longest", QueryType::duration},
};

QueryValue offer(std::string_view field) {
  if (field == "class") return "c4";
  if (field == "lender") return "Ann O'Hara";
  if (field == "price") return Credits(400'000);
  if (field == "reliability") return 0.95;
  if (field == "gang") return true;
  if (field == "until") return base::Time(base::days(20000).us);
  return {};  // This offer has no longest lease.
}

bool holds(std::string_view text) {
  const auto query = parse_query(text, kFields);
  EXPECT_TRUE(query) << text << ": " << one_line(query.error());
  return query && matches(*query, offer);
}

std::string canonical(std::string_view text) {
  const auto query = parse_query(text, kFields);
  return query ? to_string(*query) : one_line(query.error());
}

TEST(Query, SelectsTheRowsItDescribes) {
  const struct {
    std::string_view text;
    bool holds;
  } table[] = {
      {"class=c4", true},
      {"class!=c4", false},
      {"class=c4 and price<=0.5 and reliability>0.9", true},
      {"price<0.4", false},
      {"price<=0.4", true},
      {"price<=0.400000 and price>=0.4", true},
      {"price>0.399999", true},
      {"reliability<0.9 or gang=true", true},
      {"not gang=true", false},
      {"not not gang = true", true},
      {"gang=false or class=c1 and price<1", false},
      {"(gang=true or class=c1) and price<0.1", false},
      {"gang=true or class=c1 and price<0.1", true},
      {"lender='Ann O\\'Hara'", true},
      {"lender=\"Ann O'Hara\"", true},
      {"lender=ann", false},
      {"until>2024-01-01T00:00:00Z AND until<2026-01-01T00:00:00+01:00", true},
      {"longest=1h", false},
      {"longest!=1h", true},
      {"longest<1h or longest>=1h", false},
  };
  for (const auto& row : table) EXPECT_EQ(holds(row.text), row.holds) << row.text;
}

TEST(Query, IsEchoedInCanonicalForm) {
  const struct {
    std::string_view text, canonical;
  } table[] = {
      {"class=c4", "class = c4"},
      {"  class = 'c4'AND(price<=0.50)", "class = c4 and price <= 0.5"},
      {"gang=true or (class=c1 and price<1)", "gang = true or class = c1 and price < 1"},
      {"(gang=true or class=c1) and price<1", "(gang = true or class = c1) and price < 1"},
      {"price<1 and (price<2 and (price<3))", "price < 1 and price < 2 and price < 3"},
      {"not (price<1)", "not price < 1"},
      {"not (price<1 or price>2)", "not (price < 1 or price > 2)"},
      {"NOT NOT price<1", "not not price < 1"},
      {"lender='a b'", "lender = 'a b'"},
      {"lender=''", "lender = ''"},
      {"lender='and'", "lender = 'and'"},
      {"lender=\"it's \\\\\"", R"(lender = 'it\'s \\')"},
      {"longest>=90m", "longest >= 1h30m"},
      {"reliability>-1e-3", "reliability > -0.001"},
  };
  for (const auto& row : table) {
    EXPECT_EQ(canonical(row.text), row.canonical);
    EXPECT_EQ(canonical(row.canonical), row.canonical);
  }
}

TEST(Query, ErrorsNameTheThingItsPlaceAndWhatWouldBeAccepted) {
  const struct {
    std::string_view text, line;
  } table[] = {
      {"",
       "the filter ends at column 1 where the name of a field is expected (write for example: "
       "class=c4 and price<=0.5)"},
      {"prize<1", "unknown field 'prize' (did you mean 'price'?)"},
      {"zzzzzzzz=1",
       "unknown field 'zzzzzzzz' (one of: class, lender, price, reliability, gang, "
       "until, longest)"},
      {"class=c5", "class is never 'c5' (did you mean 'c1'?)"},
      {"class<c4", "class has no order, so '<' does not fit it (compare it with = or !=)"},
      {"price<=cheap",
       "price is an amount of credits, and 'cheap' is not (write a decimal such as "
       "0.4 or 12, at most six digits after the point and at most 1000000000)"},
      {"price<=0.1234567",
       "price is an amount of credits, and '0.1234567' is not (write a decimal such as 0.4 or 12, "
       "at most six digits after the point and at most 1000000000)"},
      {"reliability>high",
       "reliability is a number, and 'high' is not (write for example 4 or 0.9)"},
      {"reliability>nan", "reliability is a number, and 'nan' is not (write for example 4 or 0.9)"},
      {"gang=yes", "gang is true or false, and 'yes' is not (write true or false)"},
      {"longest<1",
       "longest is a length of time, and '1' is not (write for example 90s, 30m, 1.5h "
       "or 2d12h (at most 10 years))"},
      {"class==c4",
       "'=' stands at column 7 where one operator (= for equality) and a value is "
       "expected (write for example: class=c4 and price<=0.5)"},
      {"class=c4 price<1",
       "'price' stands at column 10 where 'and', 'or' or the end is expected "
       "(write for example: class=c4 and price<=0.5)"},
      {"class=c4 and",
       "the filter ends at column 13 where the name of a field is expected (write "
       "for example: class=c4 and price<=0.5)"},
      {"class=",
       "the filter ends at column 7 where a value is expected (write for example: "
       "class=c4 and price<=0.5)"},
      {"class",
       "the filter ends at column 6 where one of = != < <= > >= is expected (write for "
       "example: class=c4 and price<=0.5)"},
      {"(class=c4", "'(' at column 1 is not closed (close it with ')')"},
      {"class=c4)", "')' at column 9 closes nothing (remove it or open a parenthesis before it)"},
      {"lender='a", "the quote at column 8 is not closed (end the text with the same quote)"},
      {"lender='a\\'", "the quote at column 8 is not closed (end the text with the same quote)"},
      {"class=c4 & gang=true",
       "'&' at column 10 is not understood (compare with = != < <= > >=, "
       "join with and, or, not and parentheses)"},
      {"lender=\xff", "the filter is not UTF-8 text (check the shell's encoding)"},
  };
  for (const auto& row : table) EXPECT_EQ(canonical(row.text), row.line);
}

TEST(Query, LengthAndDepthAreBounded) {
  std::string wide = "price<1";
  while (wide.size() + 12 <= kMaxQueryBytes) wide += " and price<1";
  EXPECT_TRUE(parse_query(wide, kFields));
  const auto long_one = parse_query(std::string(kMaxQueryBytes + 1, ' '), kFields);
  ASSERT_FALSE(long_one);
  EXPECT_EQ(long_one.error().code, base::Code::too_large);
  const auto nest = [](std::size_t n) {
    return std::string(n, '(') + "price<1" + std::string(n, ')');
  };
  EXPECT_TRUE(parse_query(nest(kMaxQueryDepth), kFields));
  EXPECT_EQ(canonical(nest(kMaxQueryDepth + 1)),
            "the filter is nested more than 32 deep (use fewer parentheses)");
  std::string nots;
  for (int i = 0; i <= kMaxQueryDepth; ++i) nots += "not ";
  EXPECT_FALSE(parse_query(nots + "price<1", kFields));
}

TEST(Query, StructsCanBeFilteredByTheirFields) {
  const auto fields = query_fields<testing::Sample>();
  const testing::Sample row{.class_ = "c4",
                            .job = base::JobId(17),
                            .budget = Credits(100'000),
                            .ratio = 0.5,
                            .deadline = base::Time(0)};
  const auto check = [&](std::string_view text) {
    const auto query = parse_query(text, fields);
    EXPECT_TRUE(query) << one_line(query.error());
    return query && matches(*query, row);
  };
  EXPECT_TRUE(check("class=c4 and job=j17 and budget=0.1 and ratio>=0.5 and color=green"));
  EXPECT_TRUE(check("priority=5 and gang=false and deadline<2000-01-01T00:00:00Z"));
  EXPECT_FALSE(check("color=red"));
  EXPECT_FALSE(parse_query("windows=1", fields));
  EXPECT_EQ(one_line(parse_query("color=gren", fields).error()),
            "color is never 'gren' (did you mean 'green'?)");
}

Query random_query(base::Random& random, int depth) {
  if (depth > 0 && random.chance(3)) {
    Query out{.kind = Query::Kind::negate};
    out.children.push_back(random_query(random, depth - 1));
    return out;
  }
  if (depth > 0 && random.chance(2)) {
    Query out{.kind = random.chance(2) ? Query::Kind::all : Query::Kind::any};
    while (out.children.size() < 2 + random.below(3)) {
      auto child = random_query(random, depth - 1);
      if (child.kind != out.kind) out.children.push_back(std::move(child));
    }
    return out;
  }
  const auto op = static_cast<QueryOp>(random.below(6));
  switch (random.below(4)) {
    case 0:
      return {.field = "price", .op = op, .value = testing::random_credits(random)};
    case 1:
      return {.field = "reliability", .op = op, .value = testing::random_real(random)};
    case 2:
      return {.field = "until", .op = op, .value = testing::random_time(random)};
    default:
      return {.field = "lender", .value = testing::random_text(random)};
  }
}

TEST(Query, EveryQueryReadsItsOwnEcho) {
  base::Random random(1);
  for (int i = 0; i < 5'000; ++i) {
    const auto query = random_query(random, 3);
    const auto text = to_string(query);
    if (text.size() > kMaxQueryBytes) continue;
    const auto back = parse_query(text, kFields);
    ASSERT_TRUE(back) << text << ": " << one_line(back.error());
    ASSERT_EQ(*back, query) << text;
  }
}

TEST(Query, NoInputCrashesTheParser) {
  base::Random random(2);
  constexpr std::array<std::string_view, 20> pieces{
      "price", "class", "lender", "c4", "0.5", "=",  "<=", "!",  "(", ")",
      "and",   "or",    "not",    " ",  "'",   "\"", "\\", "\n", "é", "\xff"};
  for (int i = 0; i < 50'000; ++i) {
    std::string text;
    for (auto n = random.below(16); n > 0; --n) {
      text += pieces[random.below(pieces.size())];
      if (random.chance(2)) text += ' ';
    }
    const auto query = parse_query(text, kFields);
    if (query)
      EXPECT_EQ(canonical(to_string(*query)), to_string(*query));
    else
      EXPECT_FALSE(query.error().message.empty());
  }
}

struct SearchedRow {
  std::string gpu = "NVIDIA A100-SXM4-40GB";
  std::vector<std::string> packages = {"python3-torch", "numpy==1.24.2"};
  std::vector<std::string> weekly;
  double vram = 40;
  static constexpr auto searched_fields = std::array<std::string_view, 2>{"gpu", "packages"};
  SOUK_FIELDS(SearchedRow, gpu, packages, weekly, vram)
};

TEST(Query, AFieldThatIsSearchedEqualsEachPartOfItsText) {
  const auto fields = query_fields<SearchedRow>();
  const struct {
    std::string_view text;
    bool holds;
  } table[] = {
      {"gpu=A100", true},        {"gpu=a100 and vram>=40", true}, {"gpu!=A100", false},
      {"gpu=H100", false},       {"packages=torch", true},        {"packages=NumPy", true},
      {"packages!=jax", true},   {"packages='1.24.2'", true},     {"packages=jax or vram<41", true},
      {"packages!=torch", false}};
  for (const auto& row : table) {
    const auto query = parse_query(row.text, fields);
    ASSERT_TRUE(query) << row.text;
    EXPECT_EQ(matches(*query, SearchedRow{}), row.holds) << row.text;
    EXPECT_EQ(parse_query(to_string(*query), fields), *query) << row.text;
  }
  EXPECT_FALSE(parse_query("weekly=Mon", fields)) << "a list that is not searched is no field";
  EXPECT_FALSE(parse_query("gpu<A100", fields)) << "parts have no order";
}

}  // namespace
}  // namespace souk::wire
