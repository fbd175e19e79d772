#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/testing/uploads.h"

// What a job left, fetched file by file.

namespace souk::server {
namespace {

using testing::Answer;
using testing::Fair;
using ::testing::HasSubstr;
using testing::send_chunk;
using testing::send_files;
using testing::send_manifest;

struct ResultsMarket : Fair {
  // Runs a job of bob's to its end: worker i leaves results[i].
  void finish(const std::vector<std::string>& results) {
    const auto n = results.size();
    offer(agent, box, static_cast<int>(n));
    id = job(borrower,
             fmt::format(R"(,"workers":{{"min":{0},"max":{0}}},"batch":{{"run":"true"}})", n));
    const auto held = [&] { return get("/v1/machines/" + box + "/work", agent); };
    ASSERT_TRUE(testing::eventually([&] { return held().count("leases") == n; }));
    const auto work = held();
    for (std::size_t i = 0; i < n; ++i) {
      const auto of = [&](std::string_view key) {
        return work.at(fmt::format("leases.{}.{}", i, key));
      };
      const auto path = "/v1/leases/" + of("id");
      must("POST", path + "/start", agent, fmt::format(R"({{"epoch":{}}})", of("epoch")));
      must("POST", path + "/finish", agent,
           fmt::format(R"({{"epoch":{},"outcome":"completed","result":"{}"}})", of("epoch"),
                       results.at(std::stoul(of("task.index")))));
    }
  }
  Answer files(const std::string& query = "") {
    return get("/v1/jobs/" + id + "/files" + query, borrower.token);
  }
  Answer file(const std::string& query) {
    return get("/v1/jobs/" + id + "/file" + query, borrower.token);
  }
  std::string sent(const std::map<std::string, std::string>& files) {
    return send_files(*this, agent, files);
  }

  std::string id;
};

TEST(Results, EveryFileIsListedAndComesBackByteForByte) {
  ResultsMarket m;
  const std::string bytes("\0\x01\xff bytes \r\n", 12);
  m.finish({m.sent({{"deep/er/model.bin", bytes}, {"empty", ""}}), m.sent({{"answer", "two"}})});
  const auto list = m.files();
  ASSERT_EQ(list.count(), 3u) << list;
  EXPECT_EQ(list.at("items.0"), R"({"path":"deep/er/model.bin","bytes":12,"part":0})");
  EXPECT_EQ(list.at("items.1"), R"({"path":"empty","bytes":0,"part":0})");
  EXPECT_EQ(list.at("items.2"), R"({"path":"answer","bytes":3,"part":1})");
  EXPECT_EQ(list.at("next"), "");
  EXPECT_EQ(list.count("gone"), 0u);

  const auto model = m.file("?path=deep%2Fer%2Fmodel.bin&part=0");
  EXPECT_EQ(model.status, 200);
  EXPECT_EQ(model.body, bytes);
  EXPECT_EQ(model.type, "application/octet-stream");
  EXPECT_EQ(net::find_header(model.headers, "Content-Disposition"),
            R"(attachment; filename="model.bin")");
  EXPECT_EQ(m.file("?path=empty&part=0").body, "");
  EXPECT_EQ(m.file("?path=answer&part=1").body, "two");
}

TEST(Results, ALongListComesInPieces) {
  ResultsMarket m;
  m.finish({m.sent({{"a", "1"}, {"b", "2"}, {"c", "3"}}), m.sent({{"d", "4"}})});
  std::string seen, after;
  for (int pieces = 0; pieces < 5; ++pieces) {
    const auto piece = m.files("?limit=2" + after);
    for (std::size_t i = 0; i < piece.count(); ++i)
      seen += piece.at(fmt::format("items.{}.path", i));
    if (piece.at("next").empty()) break;
    after = "&after=" + piece.at("next");
  }
  EXPECT_EQ(seen, "abcd");
  EXPECT_EQ(m.files("?limit=0").status, 400);
}

TEST(Results, AreTheirOwnersAndOperatorsAlone) {
  ResultsMarket m;
  m.finish({m.sent({{"answer", "42"}})});
  for (const auto* route : {"/files", "/file?path=answer&part=0"}) {
    const auto path = "/v1/jobs/" + m.id + route;
    EXPECT_EQ(m.get(path, m.borrower.token).status, 200) << path;
    EXPECT_EQ(m.get(path, m.boss.token).status, 200) << path;
    const auto lender = m.get(path, m.lender.token);
    EXPECT_EQ(lender.status, 404);
    EXPECT_EQ(lender.at("detail"), "there is no job '" + m.id + "'");
  }
}

TEST(Results, WhatIsNotThereIsSaidSo) {
  ResultsMarket m;
  m.finish({m.sent({{"answer", "42"}})});
  EXPECT_EQ(m.file("").status, 400);
  EXPECT_EQ(m.file("?path=answr&part=0").status, 404);
  EXPECT_THAT(m.file("?path=answer&part=7").at("detail"), HasSubstr("worker 7"));
  EXPECT_EQ(m.file("?path=answer&part=99999999999").status, 404);
  EXPECT_EQ(m.file("?path=answer&part=x").at("field"), "part");
  EXPECT_THAT(m.file("?path=answer").at("hint"), HasSubstr("/files"));
  EXPECT_EQ(m.get("/v1/jobs/" + m.job(m.borrower) + "/files", m.borrower.token).count(), 0u);
}

TEST(Results, ANameCannotBreakOutOfItsHeader) {
  ResultsMarket m;
  const std::string name = "a\"; filename=\"b.exe\r\nX: y \u00e9";
  m.finish({m.sent({{name, "x"}})});
  const auto a = m.file("?part=0&path=" + net::percent_encode(name));
  EXPECT_EQ(a.body, "x");
  EXPECT_EQ(net::find_header(a.headers, "Content-Disposition"),
            "attachment; filename=\"a_; filename=_b.exe__X: y __\"; filename*=UTF-8''" +
                net::percent_encode(name));
  EXPECT_EQ(net::find_header(a.headers, "X"), "");
}

TEST(Results, AFileTooLargeToSendAtOnceNamesTheCommandThatFetchesIt) {
  ResultsMarket m;
  const std::string chunk(blob::kChunkBytes, 'x');
  send_chunk(m, m.agent, chunk);
  const blob::Entry most{
      .path = "most", .size = 64 * chunk.size(), .chunks = std::vector(64, blob::name_of(chunk))};
  const blob::Entry more{
      .path = "more", .size = 65 * chunk.size(), .chunks = std::vector(65, blob::name_of(chunk))};
  m.finish({send_manifest(m, m.agent, {{more, most}})});
  EXPECT_EQ(m.files().at("items.1.bytes"), "268435456");
  EXPECT_EQ(m.file("?path=most&part=0").body.size(), 256u << 20);
  const auto refused = m.file("?path=more&part=0");
  EXPECT_EQ(refused.status, 413);
  EXPECT_THAT(refused.at("hint"), HasSubstr("souk results " + m.id));
}

TEST(Results, SomebodyWhoDoesNotReadHoldsOneOfFewPlacesAndOneChunk) {
  ResultsMarket m;
  const std::string chunk(blob::kChunkBytes, 'x');
  send_chunk(m, m.agent, chunk);
  const blob::Entry large{
      .path = "large", .size = 16 * chunk.size(), .chunks = std::vector(16, blob::name_of(chunk))};
  m.finish({send_manifest(m, m.agent, {{large}})});
  const auto path = "/v1/jobs/" + m.id + "/file?path=large&part=0";
  const auto request = fmt::format("GET {} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n\r\n",
                                   path, m.borrower.token);
  {
    std::vector<net::testing::RawSocket> readers;
    for (int i = 0; i < 8; ++i) {
      readers.emplace_back(m.server().port(), 4096);
      readers.back().send(request);
      EXPECT_THAT(readers.back().read_until("\r\n\r\n"), HasSubstr("Transfer-Encoding: chunked"));
    }
    const auto refused = m.get(path, m.borrower.token);
    EXPECT_EQ(refused.status, 429);
    EXPECT_THAT(refused.at("detail"), HasSubstr("'downloads'"));
    EXPECT_EQ(m.get(path, m.boss.token).body.size(), 16 * chunk.size()) << "others have theirs";
  }
  EXPECT_TRUE(testing::eventually([&] { return m.get(path, m.borrower.token).status == 200; }));
}

TEST(Results, WhatAnAgentNamedButIsNoFolderHidesNothingElse) {
  ResultsMarket m;
  m.finish({send_chunk(m, m.agent, "no folder"), m.sent({{"answer", "42"}})});
  const auto list = m.files();
  EXPECT_EQ(list.count(), 1u) << list;
  EXPECT_EQ(list.at("gone.0"), "what worker 0 left is not a folder");
  EXPECT_EQ(m.file("?path=answer&part=0").status, 404);
}

}  // namespace
}  // namespace souk::server
