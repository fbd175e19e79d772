#include "base/time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/random.h"

namespace souk::base {
namespace {

TEST(Duration, IsWrittenAndReadBackExactly) {
  const struct {
    Duration duration;
    const char* text;
  } cases[] = {
      {Duration(), "0s"},
      {seconds(90), "1m30s"},
      {days(1) + hours(2) + minutes(3) + seconds(4), "1d2h3m4s"},
      {milliseconds(1500), "1s500ms"},
      {microseconds(7), "7us"},
      {days(3653), "3653d"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(c.duration), c.text);
    EXPECT_EQ(parse_duration(c.text), c.duration) << c.text;
  }
  EXPECT_EQ(to_string(seconds(-5)), "-5s");
}

TEST(Duration, AnyLengthSurvivesTextUnchanged) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Duration d(random.between(0, days(3653).us) >> random.below(45));
    ASSERT_EQ(parse_duration(to_string(d)), d) << d.us;
  }
}

TEST(Duration, PeopleMayWriteItAsTheyThinkOfIt) {
  EXPECT_EQ(parse_duration("90m"), minutes(90));
  EXPECT_EQ(parse_duration("1.5h"), minutes(90));
  EXPECT_EQ(parse_duration("2d12h"), hours(60));
  EXPECT_EQ(parse_duration("0.1s"), milliseconds(100));
}

TEST(Duration, WhatIsNotALengthOfTimeIsRefusedWithAnExample) {
  for (const auto* text : {"", "5", "h", "-5s", "1h-5m", "5m1h", "1h1h", "1x", "1 h", "3654d",
                           "nans", "infs", "inf", "1e3s", "s5", "1h5"}) {
    const auto read = parse_duration(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::invalid);
    EXPECT_FALSE(read.error().hint.empty());
  }
}

TEST(Time, KnownInstantsAreWrittenAndReadInUtc) {
  const struct {
    std::int64_t us;
    const char* text;
  } cases[] = {
      {0, "1970-01-01T00:00:00Z"},
      {951'827'696'000'000, "2000-02-29T12:34:56Z"},
      {1'000'000'000'000'000, "2001-09-09T01:46:40Z"},
      {1'803'938'400'123'456, "2027-03-01T22:00:00.123456Z"},
      {4'107'542'399'000'000, "2100-02-28T23:59:59Z"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(to_string(Time(c.us)), c.text);
    const auto read = parse_time(c.text);
    ASSERT_TRUE(read) << c.text;
    EXPECT_EQ(read->us, c.us) << c.text;
  }
}

TEST(Time, AnyInstantSurvivesTextUnchanged) {
  Random random(1);
  for (int i = 0; i < 20'000; ++i) {
    const Time t(random.between(0, days(365).us * 200));
    ASSERT_EQ(parse_time(to_string(t)), t) << t.us;
  }
}

TEST(Time, OffsetsAndFractionsAreUnderstood) {
  const auto at = [](const char* text) { return parse_time(text).value_or(kNever); };
  EXPECT_EQ(at("2027-03-01T23:00:00+01:00"), at("2027-03-01T22:00:00Z"));
  EXPECT_EQ(at("2027-03-01T16:30:00-05:30"), at("2027-03-01T22:00:00Z"));
  EXPECT_EQ(at("2027-03-01T22:00:00.5Z") - at("2027-03-01T22:00:00Z"), milliseconds(500));
  EXPECT_EQ(at("2027-03-01T22:00:00.1234569Z") - at("2027-03-01T22:00:00Z"), microseconds(123456));
}

TEST(Time, WhatIsNotAnInstantIsRefusedWithAnExample) {
  for (const auto* text : {"",
                           "2027-03-01",
                           "2027-03-01T22:00:00",
                           "2027-03-01 22:00:00Z",
                           "2027-02-29T00:00:00Z",
                           "2027-13-01T00:00:00Z",
                           "2027-03-01T24:00:00Z",
                           "2027-03-01T22:60:00Z",
                           "2027-03-01T22:00:60Z",
                           "1969-12-31T23:59:59Z",
                           "2201-01-01T00:00:00Z",
                           "2027-03-01T22:00:00.Z",
                           "2027-03-01T22:00:00z",
                           "2027-03-01T22:00:00ZZ",
                           "2027-03-01T22:00:00+1:00",
                           "2027-03-01T22:00:00+24:00",
                           "-027-03-01T22:00:00Z",
                           "2027--3-01T22:00:00Z",
                           "1970-01-01T00:00:00+00:01",
                           "2200-12-31T23:59:00-00:01"}) {
    const auto read = parse_time(text);
    ASSERT_FALSE(read) << text;
    EXPECT_THAT(read.error().message, ::testing::HasSubstr(text));
  }
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock(Time(5));
  EXPECT_EQ(clock.now(), Time(5));
  clock.advance(seconds(1));
  EXPECT_EQ(clock.now(), Time(1'000'005));
}

}  // namespace
}  // namespace souk::base
