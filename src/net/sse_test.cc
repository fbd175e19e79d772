#include "net/sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace souk::net {
namespace {

std::vector<Event> parse(std::string_view text, std::size_t piece) {
  EventParser parser;
  std::vector<Event> out;
  for (; !text.empty(); text.remove_prefix(std::min(piece, text.size()))) {
    const auto fed = parser.feed(text.substr(0, piece), [&](const Event& e) {
      out.push_back(e);
      return true;
    });
    EXPECT_TRUE(fed.has_value());
  }
  return out;
}

TEST(Sse, WhatIsFormattedArrivesHoweverItIsCut) {
  const std::vector<Event> events = {{"1", "price", "{\"a\":1}"},
                                     {"2", "", "two\nlines\n"},
                                     {"2", "x", ""},
                                     {"3", "y", "  spaces: and colons"}};
  std::string wire = format_comment("hello");
  for (const Event& e : events) wire += format_event(e) + format_comment("tick");
  for (std::size_t piece = 1; piece < 20; ++piece) EXPECT_EQ(parse(wire, piece), events) << piece;
}

TEST(Sse, FormatIsTheStandards) {
  EXPECT_EQ(format_event({"7", "t", "a\nb\r\nc\rd"}),
            "id: 7\nevent: t\ndata: a\ndata: b\ndata: c\ndata: d\n\n");
  EXPECT_EQ(format_event({"", "", "x"}), "data: x\n\n");
  EXPECT_EQ(format_comment("a\nb"), ": a b\n\n");
}

TEST(Sse, AKindWithALineBreakCannotForgeAnEvent) {
  EXPECT_EQ(format_event({"1\n\ndata: forged", "k\rz", "x"}),
            "id: 1  data: forged\nevent: k z\ndata: x\n\n");
}

// The examples of the WHATWG standard, section 9.2.6.
TEST(Sse, ReadsTheStandardsExamples) {
  const std::vector<Event> stocks = {{"", "", "YHOO\n+2\n10"}};
  EXPECT_EQ(parse("data: YHOO\ndata: +2\ndata: 10\n\n", 100), stocks);
  const std::vector<Event> ids = {
      {"1", "", "first event"}, {"", "", "second event"}, {"", "", " third event"}};
  EXPECT_EQ(parse(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
                  "data:  third event\n\n",
                  100),
            ids);
  const std::vector<Event> blanks = {{"", "", ""}, {"", "", "\n"}};
  EXPECT_EQ(parse("data\n\ndata\ndata\n\ndata:", 100), blanks);
}

TEST(Sse, AllLineEndingsAndAByteOrderMarkAreUnderstood) {
  const std::vector<Event> both = {{"", "", "a\nb"}, {"", "", "c"}};
  for (std::size_t piece : {1, 2, 3, 100})
    EXPECT_EQ(parse("\xEF\xBB\xBF"
                    "data: a\r\ndata: b\r\n\r\ndata: c\r\r",
                    piece),
              both);
}

TEST(Sse, AnEndlessEventIsAnErrorNotAllOurMemory) {
  EventParser parser(1000);
  const auto ignore = [](const Event&) { return true; };
  EXPECT_TRUE(parser.feed("data: " + std::string(900, 'x') + "\n", ignore).has_value());
  const auto fed = parser.feed("data: " + std::string(200, 'x'), ignore);
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().code, base::Code::too_large);
}

TEST(Sse, AReaderThatHasSeenEnoughIsNotCalledAgain) {
  EventParser parser;
  int calls = 0;
  const auto fed = parser.feed("data: 1\n\ndata: 2\n\n", [&](const Event&) { return ++calls > 1; });
  EXPECT_EQ(fed, false);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace souk::net
