#include "job/web_input.h"

#include <gtest/gtest.h>

namespace souk::job {
namespace {

constexpr auto kFileHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

TEST(WebInput, AddressesThatPeopleUseLeadToTheFile) {
  const std::pair<std::string_view, std::string_view> known[] = {
      {"https://files.example/a?b", "https://files.example/a?b"},
      {"s3://bucket/data/train.bin", "https://bucket.s3.amazonaws.com/data/train.bin"},
      {"hf://gpt/small/model.safetensors",
       "https://huggingface.co/gpt/small/resolve/main/model.safetensors"},
      {"hf://datasets/lab/text@v1/part/0.jsonl",
       "https://huggingface.co/datasets/lab/text/resolve/v1/part/0.jsonl"}};
  for (const auto& [given, wanted] : known) EXPECT_EQ(web_url(given).value(), wanted);
}

TEST(WebInput, WhatIsNoAddressIsRefusedWithTheForms) {
  for (const auto* bad :
       {"", "files.example/a", "ftp://files.example/a", "https://", "https://host",
        "https://user@host/a", "https://[::1]/a", "s3://bucket", "s3:///key", "s3://bucket/",
        "hf://model/file", "hf://owner/name/", "hf:///a/b"})
    EXPECT_FALSE(web_url(bad)) << bad;
  EXPECT_FALSE(web_url("https://host/" + std::string(3'000, 'a')));
}

TEST(WebInput, LendersFetchOneFileThatIsKnownByItsHash) {
  const wire::BatchInput good{
      .path = "data", .file = true, .url = "https://files.example/a", .sha256 = kFileHash};
  EXPECT_TRUE(check_input(good));
  EXPECT_TRUE(check_input({.path = "data", .blob = "b3:0"}));
  auto bad = good;
  bad.sha256 = "";
  EXPECT_FALSE(check_input(bad));
  bad = good;
  bad.blob = "b3:0";
  EXPECT_FALSE(check_input(bad));
  bad = good;
  bad.url = "file:///etc/passwd";
  EXPECT_FALSE(check_input(bad));
  bad = good;
  bad.file = false;
  EXPECT_FALSE(check_input(bad));
}

TEST(WebInput, EachHostIsDemandedOnce) {
  wire::Batch work;
  for (const auto* url : {"https://a.example/1", "https://a.example/2", "http://b.example:80/3"})
    work.inputs.push_back({.path = "x", .file = true, .url = url, .sha256 = kFileHash});
  work.inputs.push_back({.path = "y", .blob = "b3:0"});
  EXPECT_EQ(fetch_demands(work),
            (std::vector<std::string>{"@fetch:a.example", "@fetch:b.example:80"}));
}

}  // namespace
}  // namespace souk::job
