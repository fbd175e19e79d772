#include "net/response_reader.h"

#include <gtest/gtest.h>

namespace souk::net {
namespace {

struct Read {
  int status = 0;
  std::string body;
  bool done = false, failed = false, alive = false;
  std::size_t taken = 0;
};

// The whole text, in pieces of `step` bytes.
Read read(std::string_view text, std::size_t step, bool closes = false, bool head_only = false) {
  ResponseReader reader(head_only);
  Read out;
  for (std::size_t at = 0; at < text.size();) {
    const auto n = reader.feed(text.substr(at, step));
    out.body += reader.take_body();
    at += n;
    if (n == 0 || reader.done() || reader.failed()) break;
    out.taken = at;
  }
  if (closes) reader.closed();
  out.status = reader.head().status;
  out.done = reader.done();
  out.failed = reader.failed();
  out.alive = reader.keeps_alive();
  return out;
}

TEST(ResponseReader, ReadsAnswersHoweverTheyEndAndAreCut) {
  struct Row {
    std::string_view text, body;
    bool closes, alive;
  };
  const Row rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", false, true},
      {"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "", false, true},
      {"HTTP/1.1 204 No Content\r\n\r\n", "", false, true},
      {"HTTP/1.1 200\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n1;x=y\r\n!\r\n0\r\n\r\n",
       "hello!", false, true},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n0\r\nTrailer: x\r\n\r\n", "", false,
       true},
      {"HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", true, false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false, false},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "ok", false, false},
      {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "ok", false,
       true}};
  for (const auto& row : rows)
    for (const std::size_t step : {1, 2, 7, 10'000}) {
      const auto got = read(row.text, step, row.closes);
      EXPECT_TRUE(got.done) << row.text;
      EXPECT_EQ(got.body, row.body) << row.text;
      EXPECT_EQ(got.alive, row.alive) << row.text;
    }
}

TEST(ResponseReader, RefusesWhatTwoReadersCouldUnderstandDifferently) {
  for (const std::string_view text :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n",
        "HTTP/1.1 200 OK\r\nbad header\r\n\r\n", "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
        "HTTP/2 200\r\n\r\n", "HTTP/1.1 20x OK\r\n\r\n", "hello\r\n\r\n", "\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n"})
    for (const std::size_t step : {1, 10'000}) EXPECT_TRUE(read(text, step).failed) << text;
}

TEST(ResponseReader, AnAnswerThatBreaksOffIsNoAnswer) {
  EXPECT_TRUE(read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", 9, true).failed);
  EXPECT_TRUE(
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", 9, true).failed);
  EXPECT_TRUE(read("HTTP/1.1 200", 9, true).failed);
}

TEST(ResponseReader, TakesNothingBeyondTheEnd) {
  const std::string_view text = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 500";
  ResponseReader reader;
  EXPECT_EQ(reader.feed(text), text.size() - 12);
  EXPECT_TRUE(reader.done());
}

TEST(ResponseReader, OfAHeadRequestNoBodyFollows) {
  const auto got = read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 3, false, true);
  EXPECT_TRUE(got.done);
  EXPECT_TRUE(got.alive);
}

TEST(ResponseReader, HeadsAndLinesAreBounded) {
  EXPECT_TRUE(read("HTTP/1.1 200 OK\r\nx: " + std::string(70'000, 'y'), 1'000).failed);
  EXPECT_TRUE(
      read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;" + std::string(5'000, 'y'),
           1'000)
          .failed);
}

}  // namespace
}  // namespace souk::net
