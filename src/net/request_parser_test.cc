#include "net/request_parser.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

// Feeds `bytes` one at a time, as a slow peer would; the body is wanted.
Request read_slowly(std::string_view bytes) {
  RequestParser parser({.header_bytes = 1024, .body_bytes = 1024});
  std::string unparsed;
  for (const char byte : bytes) {
    EXPECT_FALSE(parser.done());
    unparsed += byte;
    unparsed.erase(0, parser.feed(unparsed));
    if (parser.wants_body()) parser.read_body(1024);
  }
  EXPECT_TRUE(parser.done()) << parser.failure_message();
  return parser.done() ? parser.take() : Request{};
}

TEST(RequestParser, AChunkedBodyThatComesByteByByteIsReadToItsEnd) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
  EXPECT_EQ(read_slowly(head + "0\r\n\r\n").body, "");
  EXPECT_EQ(read_slowly(head + "3\r\nabc\r\n1;x=y\r\nd\r\n0\r\nTrailer: 1\r\n\r\n").body, "abcd");
}

// The status of a request whose bytes come in pieces of `piece`; 0: accepted.
int status_of(std::string_view bytes, std::size_t piece) {
  RequestParser parser({.header_bytes = 1024, .body_bytes = 1024});
  std::string unparsed;
  for (std::size_t at = 0; at < bytes.size() && parser.failure() == 0; at += piece) {
    unparsed += bytes.substr(at, piece);
    unparsed.erase(0, parser.feed(unparsed));
    if (parser.failure() == 0 && parser.wants_body()) parser.read_body(1024);
    unparsed.erase(0, parser.failure() == 0 ? parser.feed(unparsed) : 0);
  }
  EXPECT_TRUE(parser.done() || parser.failure() != 0);
  return parser.failure();
}

TEST(RequestParser, AFoldedHeaderIsRefusedHoweverTheHeadIsCut) {
  const std::string folded = "GET / HTTP/1.1\r\nHost: a\r\n b\r\nAccept: c\r\n\r\n";
  const std::string tab = "GET / HTTP/1.1\r\nHost: a\r\nAccept: c\r\n\td\r\nX: e\r\n\r\n";
  // Lines of a body may begin with a blank.
  const std::string body =
      "PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n  \r\n  \r\n\r\n";
  for (std::size_t piece = 1; piece <= body.size(); ++piece) {
    EXPECT_EQ(status_of(folded, piece), 400) << piece;
    EXPECT_EQ(status_of(tab, piece), 400) << piece;
    EXPECT_EQ(status_of(body, piece), 0) << piece;
  }
}

}  // namespace
}  // namespace souk::net
