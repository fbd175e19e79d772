#include "wire/json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/random.h"
#include "wire/testing/samples.h"

namespace souk::wire {
namespace {

using base::Credits;
using base::Duration;
using base::Random;
using base::Time;
using testing::Color;
using testing::Window;

constexpr std::string_view kSample =
    R"({"name":"digits","class":"c4","job":"j17","budget":0.4,"workers":{"min":1,"max":8},)"
    R"("small":-3,"big":18446744073709551615,"ratio":0.25,"extra":{"a":[1,2]}})";

// The sample with `key` (written with its quotes) spelled or valued otherwise.
std::string sample_with(std::string_view from, std::string_view to) {
  std::string text(kSample);
  const auto at = text.find(from);
  CHECK(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

template <class T>
base::Error error_of(std::string_view text) {
  auto result = from_json<T>(text);
  EXPECT_FALSE(result) << text;
  return result ? base::Error{} : result.error();
}

struct Empty {
  SOUK_FIELDS(Empty)
};

TEST(JsonWrite, AResponseHasEveryFieldInOrderAndNoEmptyOptionals) {
  testing::Sample s{
      .name = "digits", .class_ = "c4", .job = base::JobId(17), .budget = Credits(400'000)};
  EXPECT_EQ(to_json(s),
            R"({"name":"digits","class":"c4","job":"j17","budget":0.4,)"
            R"("workers":{"min":1,"max":1},"priority":5,"color":"green","small":0,"big":0,)"
            R"("ratio":0,"gang":false,"windows":[],"prices":{},"extra":null})");
  s.deadline = Time(0);
  s.windows = {{.from = Time(1'500'000), .length = base::minutes(90)}};
  s.prices = {{"c1", Credits(1)}, {"c4", Credits(-2'500'000)}};
  s.extra.text = "[1,2]";
  EXPECT_TRUE(
      to_json(s).ends_with(R"("deadline":"1970-01-01T00:00:00Z",)"
                           R"("windows":[{"from":"1970-01-01T00:00:01.500000Z","length":"1h30m"}],)"
                           R"("prices":{"c1":0.000001,"c4":-2.5},"extra":[1,2]})"))
      << to_json(s);
  EXPECT_EQ(to_json(Empty{}), "{}");
  EXPECT_EQ(to_json(std::vector<bool>{true, false}), "[true,false]");
}

TEST(JsonWrite, CreditsAndTimesAreSpelledAsEverywhereElse) {
  Random random(1);
  constexpr std::int64_t edges[] = {0,
                                    1,
                                    -1,
                                    1'000'000,
                                    -999'999,
                                    std::numeric_limits<std::int64_t>::min(),
                                    100'000,
                                    std::numeric_limits<std::int64_t>::max(),
                                    1'000'001,
                                    -124'334'438'400'000'000,
                                    506'804'601'599'999'998,
                                    506'804'601'600'000'000};
  const auto check = [](std::int64_t n) {
    EXPECT_EQ(to_json(Credits(n)), to_string(Credits(n)));
    EXPECT_EQ(to_json(Time(n / 2)), '"' + to_string(Time(n / 2)) + '"');
    EXPECT_EQ(to_json(Duration(n / 2)), '"' + to_string(Duration(n / 2)) + '"');
    const auto whole = base::seconds(n / 100'000'000);
    EXPECT_EQ(to_json(whole), '"' + to_string(whole) + '"');
  };
  for (const auto n : edges) check(n);
  for (int s = 0; s <= 90'000; s += 7)
    EXPECT_EQ(to_json(base::seconds(s)), '"' + to_string(base::seconds(s)) + '"');
  for (int i = 0; i < 10'000; ++i)
    check(static_cast<std::int64_t>(random.next()) >> random.below(64));
}

TEST(JsonWrite, TextIsAlwaysValidJsonAndUtf8) {
  const struct {
    std::string_view text, json;
  } table[] = {
      {"", R"("")"},
      {"a\"b\\c/", R"("a\"b\\c/")"},
      {"\n\r\t\x01\x1f\x7f", "\"\\n\\r\\t\\u0001\\u001f\x7f\""},
      {std::string_view("\0", 1), R"("\u0000")"},
      {"é漢😀", "\"é漢😀\""},
      {"\xff", "\"\xef\xbf\xbd\""},
      {"a\xc3", "\"a\xef\xbf\xbd\""},                                // Cut short.
      {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                  // Longer than needed.
      {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},  // A surrogate.
      {"\xf4\x90\x80\x80x", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdx\""},
  };
  for (const auto& row : table) EXPECT_EQ(to_json(std::string(row.text)), row.json);
}

TEST(JsonWrite, NumbersKeepTheirValueAndNaNDoesNotBreakTheDocument) {
  EXPECT_EQ(to_json(0.1), "0.1");
  EXPECT_EQ(to_json(1e300), "1e+300");
  EXPECT_EQ(to_json(-5.0), "-5");
  EXPECT_EQ(to_json(std::nan("")), "null");
  EXPECT_EQ(to_json(std::numeric_limits<double>::infinity()), "null");
  EXPECT_EQ(to_json(std::numeric_limits<std::uint64_t>::max()), "18446744073709551615");
  EXPECT_EQ(to_json(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
  EXPECT_EQ(to_json(std::int8_t{-5}), "-5");
}

TEST(JsonRead, FieldsWithADefaultMayBeAbsent) {
  const auto s = from_json<testing::Sample>(kSample);
  ASSERT_TRUE(s) << one_line(s.error());
  EXPECT_EQ(s->class_, "c4");
  EXPECT_EQ(s->budget, Credits(400'000));
  EXPECT_EQ(s->workers, (testing::Workers{.min = 1, .max = 8}));
  EXPECT_EQ(s->priority, 5);
  EXPECT_EQ(s->color, Color::green);
  EXPECT_EQ(s->big, 18446744073709551615u);
  EXPECT_FALSE(s->deadline);
  EXPECT_EQ(s->extra.text, R"({"a":[1,2]})");
}

TEST(JsonRead, NullMeansAbsentForAnOptionalAndOnlyThere) {
  EXPECT_TRUE(from_json<testing::Sample>(sample_with(R"("ratio")", R"("deadline":null,"ratio")")));
  EXPECT_EQ(one_line(error_of<testing::Sample>(sample_with(R"("digits")", "null"))),
            "name: null is not a text (write a text in quotes)");
  EXPECT_EQ(
      error_of<testing::Sample>(sample_with(R"("ratio")", R"("windows":null,"ratio")")).message,
      "windows: null is not a list");
}

TEST(JsonRead, ErrorsNameThePathTheValueAndWhatWouldBeAccepted) {
  const struct {
    std::string_view from, to, field, line;
  } table[] = {
      {R"("min":1)", R"("mni":1)", "workers.mni",
       "unknown key 'workers.mni' (did you mean 'min'?)"},
      {R"("min":1,)", "", "workers.min", "missing key 'workers.min' (it takes a whole number)"},
      {R"("budget":0.4,)", "", "budget", "missing key 'budget' (it takes an amount of credits)"},
      {R"("min":1)", R"("min":70000)", "workers.min",
       "workers.min: 70000 is out of range (write a whole number from 0 to 65535)"},
      {R"("min":1)", R"("min":-1)", "workers.min",
       "workers.min: -1 is out of range (write a whole number from 0 to 65535)"},
      {R"("min":1)", R"("min":1.5)", "workers.min",
       "workers.min: 1.5 is not a whole number (write a whole number from 0 to 65535)"},
      {R"("min":1)", R"("min":"1")", "workers.min",
       R"(workers.min: "1" is not a whole number (write a whole number from 0 to 65535))"},
      {R"("job":"j17")", R"("job":"m17")", "job",
       R"(job: "m17" is not a job id (write it as "j17"))"},
      {R"("job":"j17")", R"("job":17)", "job", R"(job: 17 is not a job id (write it as "j17"))"},
      {R"("digits")", "7", "name", R"(name: 7 is not a text (put it in quotes: "7"))"},
      {R"("small":-3)", R"("color":"gren","small":-3)", "color",
       R"(color: "gren" is not a known name (did you mean 'green'?))"},
      {R"("small":-3)", R"("color":4,"small":-3)", "color",
       R"(color: 4 is not a known name (one of: red, green, dark_blue))"},
      {R"("small":-3)", R"("gang":"yes","small":-3)", "gang",
       R"(gang: "yes" is not true or false (write true or false without quotes))"},
      {R"("small":-3)", R"("small":9223372036854775808)", "small",
       "small: 9223372036854775808 is out of range (write a whole number from "
       "-9223372036854775808 to 9223372036854775807)"},
      {R"({"min":1,"max":8})", "[1,8]", "workers",
       "workers: a list is not an object (write {...})"},
      {R"("ratio":0.25)", R"("ratio":"x")", "ratio",
       R"(ratio: "x" is not a number (write a number without quotes))"},
      {R"("small":-3)", R"("windows":[{"from":"2027-01-01T00:00:00Z","length":90}],"small":-3)",
       "windows[0].length",
       "windows[0].length: 90 is not a length of time (write for example 90s, 30m, 1.5h or 2d12h "
       "(at most 10 years))"},
      {R"("small":-3)", R"("prices":{"c1":1,"c4":"x"},"small":-3)", "prices.c4",
       R"(prices.c4: "x" is not an amount of credits (write a decimal such as 0.4 or 12, at most )"
       "six digits after the point and at most 1000000000)"},
  };
  for (const auto& row : table) {
    const auto error = error_of<testing::Sample>(sample_with(row.from, row.to));
    EXPECT_EQ(one_line(error), row.line);
    EXPECT_EQ(error.field, row.field);
    EXPECT_EQ(error.code, base::Code::invalid);
  }
}

TEST(JsonRead, AMisspeltRequiredFieldIsReportedAsMisspeltNotAsMissing) {
  EXPECT_EQ(one_line(error_of<testing::Sample>(sample_with("budget", "bugdet"))),
            "unknown key 'bugdet' (did you mean 'budget'?)");
}

TEST(JsonRead, TheDocumentItselfHasNoPath) {
  const auto error = error_of<testing::Sample>("[]");
  EXPECT_EQ(one_line(error), "the document: a list is not an object (write {...})");
  EXPECT_EQ(error.field, "");
}

TEST(JsonRead, CreditsAreExact) {
  const struct {
    std::string_view json;
    std::int64_t micro;
  } good[] = {
      {"0.1", 100'000},
      {"0.3", 300'000},
      {"1e-1", 100'000},
      {"0.000001", 1},
      {"1e-6", 1},
      {"12", 12'000'000},
      {"-0.25", -250'000},
      {"0.10000000", 100'000},
      {"1.10", 1'100'000},
      {"\"0.1\"", 100'000},
      {"0", 0},
      {"-0.0", 0},
      {"1e9", base::kMostCredits.micro},
      {"999999999.999999", 999'999'999'999'999},
      {"123456789.123457", 123'456'789'123'457},
      {"0.6000000000000001", 600'000},
      {"0.30000000000000004", 300'000},
  };
  for (const auto& row : good) {
    const auto c = from_json<Credits>(row.json);
    ASSERT_TRUE(c) << row.json;
    EXPECT_EQ(c->micro, row.micro) << row.json;
  }
  for (const auto* bad :
       {"0.1234567", "1e-7", "1000000000.1", "1e10", "\"0.1234567\"", "\"\"", "\"1e3\"", "true",
        "null", "[1]", "18446744073709551615", "1e300", "-1000000001"})
    EXPECT_FALSE(from_json<Credits>(bad)) << bad;
  EXPECT_EQ(error_of<Credits>("0.1234567").message,
            "the document: 0.1234567 is not an amount of credits");
}

TEST(JsonRead, EverySixDecimalAmountSurvivesJson) {
  Random random(2);
  for (int i = 0; i < 100'000; ++i) {
    const auto c = testing::random_credits(random);
    const auto back = from_json<Credits>(to_json(c));
    ASSERT_TRUE(back && *back == c) << c.micro;
  }
}

TEST(JsonRead, WholeNumbersMayHaveAPointButNotAFraction) {
  EXPECT_EQ(from_json<int>("3.0"), 3);
  EXPECT_EQ(from_json<int>("1e3"), 1000);
  EXPECT_EQ(from_json<unsigned>("-0"), 0u);
  EXPECT_EQ(from_json<std::uint64_t>("9007199254740992.0"), 9007199254740992u);
  for (const auto* bad : {"3.5", "1e30", "9007199254740994.0", "-1e300", "true", "null", "\"3\""})
    EXPECT_FALSE(from_json<std::uint64_t>(bad)) << bad;
  EXPECT_FALSE(from_json<std::int8_t>("128"));
  EXPECT_FALSE(from_json<std::uint64_t>("18446744073709551616"));
}

TEST(JsonWrite, ANegativeZeroStaysOne) {
  EXPECT_EQ(to_json(-0.0), "-0.0");
  EXPECT_EQ(to_json(*from_json<double>("-0e7")), "-0.0");
  EXPECT_EQ(to_json(0.0), "0");
}

// The last two are decided by the last bit; Boost.JSON 1.81's own parser gets many such wrong.
TEST(JsonRead, RealNumbersAreCorrectlyRounded) {
  EXPECT_EQ(from_json<double>("0.1"), 0.1);
  EXPECT_EQ(from_json<double>("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(from_json<double>("7.2057594037927933e16"), 7.2057594037927933e16);
  EXPECT_EQ(from_json<double>("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(from_json<double>("5e-324"), 5e-324);
  EXPECT_FALSE(from_json<double>("1e400"));
}

TEST(JsonRead, TextThatIsNotOneJsonValueIsRefusedWithItsPlace) {
  const struct {
    std::string_view text, line;
  } table[] = {
      {"", "not valid JSON at line 1, column 1: the text ends too early"},
      {"{\"name\":\n  tru}", "not valid JSON at line 2, column 3: syntax error"},
      {"{} {}",
       "not valid JSON at line 1, column 4: there is more text after the end of the value"},
      {"{\"a\":1,}", "not valid JSON at line 1, column 8: syntax error"},
      {"'a'", "not valid JSON at line 1, column 1: syntax error"},
      {"01", "not valid JSON at line 1, column 2: there is more text after the end of the value"},
      {"NaN", "not valid JSON at line 1, column 1: syntax error"},
  };
  for (const auto& row : table) {
    const auto error = error_of<Empty>(row.text);
    EXPECT_EQ(error.message, row.line);
    EXPECT_EQ(error.code, base::Code::invalid);
  }
}

TEST(JsonRead, BytesThatAreNotUtf8AreRefused) {
  for (const auto* bad : {"\"\xff\"", "\"\xc3\"", "\"\xc0\xaf\"", "\"\xed\xa0\x80\"", "\"\\ud800\"",
                          "\"\\udc00x\"", "{\"\xff\":1}", "\"\xf5\x80\x80\x80\""})
    EXPECT_FALSE(parse(bad)) << bad;
  EXPECT_EQ(from_json<std::string>("\"\\ud83d\\ude00\""), "😀");
}

TEST(JsonRead, DepthIsBounded) {
  const auto nest = [](std::size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parse(nest(kMaxDepth)));
  const auto refused = parse(nest(kMaxDepth + 1));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("nested more than 32 deep"), std::string::npos);
  EXPECT_FALSE(parse(std::string(1'000'000, '[')));
}

TEST(JsonRead, AKeyWrittenTwiceIsRefusedWithItsPath) {
  const struct {
    std::string text, path;
  } table[] = {
      {R"({"a":1,"a":2})", "a"},
      {R"({"w":{"x":{},"min":1,"min":1}})", "w.min"},
      {R"({"z":0,"l":[{},[0,{"a":1,"\u0061":2}]]})", "l[1][1].a"},
      {R"([{"":1,"":2}])", "[0]."},
  };
  for (const auto& row : table) {
    const auto refused = parse(row.text);
    ASSERT_FALSE(refused) << row.text;
    EXPECT_EQ(refused.error().message, "key '" + row.path + "' appears twice");
    EXPECT_EQ(refused.error().field, row.path);
  }
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\":1,";
  EXPECT_TRUE(parse(many + "\"last\":1}"));
  EXPECT_FALSE(parse(many + "\"k50\":1}"));
  EXPECT_TRUE(parse(R"({"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]})"));
}

TEST(JsonRead, AHugeValueDoesNotMakeAHugeMessage) {
  const auto error = error_of<int>('"' + std::string(100'000, 'x') + '"');
  EXPECT_LT(error.message.size(), 200u);
  EXPECT_LT(error_of<Empty>("{\"" + std::string(100'000, 'x') + "\":1}").message.size(), 200u);
  EXPECT_EQ(error_of<Empty>("{\"a\\n\\u001b[1m\":1}").message, "unknown key 'a??[1m'");
}

TEST(JsonRead, WhatWasWrittenIsReadBackTheSame) {
  Random random(3);
  for (int i = 0; i < 5'000; ++i) {
    const auto sample = testing::random_sample(random);
    const auto text = to_json(sample);
    const auto back = from_json<testing::Sample>(text);
    ASSERT_TRUE(back) << one_line(back.error()) << "\n" << text;
    ASSERT_EQ(*back, sample) << text;
    ASSERT_EQ(to_json(*back), text);
  }
}

TEST(JsonRead, NoInputCrashesTheReader) {
  Random random(4);
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    if (random.chance(3)) {
      for (auto n = random.below(64); n > 0; --n) text += static_cast<char>(random.below(256));
    } else {  // Damaged documents go deeper than noise.
      text = to_json(testing::random_sample(random));
      for (auto n = 1 + random.below(4); n > 0; --n) {
        const auto at = random.below(text.size());
        if (random.chance(2))
          text[at] = static_cast<char>(random.below(256));
        else
          text.erase(at, random.below(8));
        if (text.empty()) text = " ";
      }
    }
    const auto sample = from_json<testing::Sample>(text);
    if (sample)
      EXPECT_TRUE(from_json<testing::Sample>(to_json(*sample)));
    else
      EXPECT_TRUE(valid_utf8(sample.error().message)) << text;
  }
}

}  // namespace
}  // namespace souk::wire
