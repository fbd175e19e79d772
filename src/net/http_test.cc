#include "net/http.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

TEST(Http, HeadersAreFoundHoweverAClientSpellsThem) {
  const Headers headers = {{"content-TYPE", "text/plain"}, {"X-A", "1"}, {"x-a", "2"}};
  EXPECT_EQ(find_header(headers, "Content-Type"), "text/plain");
  EXPECT_EQ(find_header(headers, "X-A"), "1");
  EXPECT_EQ(find_header(headers, "X-B"), "");
}

TEST(Http, PercentCodingKeepsEveryByte) {
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  EXPECT_EQ(percent_decode(percent_encode(all)), all);
  EXPECT_EQ(percent_encode("a b/c~"), "a%20b%2Fc~");
  EXPECT_EQ(percent_decode("a+b%2f%C3%A9"), "a+b/\xC3\xA9");
}

TEST(Http, BrokenEscapesAreRefusedRatherThanGuessed) {
  for (const auto* text : {"%", "%4", "%zz", "abc%2", "%-1"})
    EXPECT_EQ(percent_decode(text), std::nullopt) << text;
  EXPECT_EQ(parse_query("a=%4"), std::nullopt);
}

TEST(Http, QueriesKeepOrderRepeatsAndSpaces) {
  EXPECT_EQ(parse_query("b=2&a=x+y&&b=%26&flag&=v"),
            (Pairs{{"b", "2"}, {"a", "x y"}, {"b", "&"}, {"flag", ""}, {"", "v"}}));
  EXPECT_EQ(parse_query(""), Pairs{});
}

}  // namespace
}  // namespace souk::net
