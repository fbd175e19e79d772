#include "wire/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

namespace souk::wire {
namespace {

std::string file(std::string head, std::size_t data) {
  const std::uint64_t length = head.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + std::move(head) +
         std::string(data, '\0');
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const auto head = safetensors_head(
      {{.name = "b", .dtype = "F32", .shape = {2, 3}}, {.name = "a", .dtype = "U8", .shape = {5}}});
  EXPECT_EQ(head.size() % 8, 0u);
  const auto read = read_safetensors(head, head.size() + 29);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->tensors.size(), 2u);
  EXPECT_EQ(read->tensors[0], (SafeTensor{"b", "F32", {2, 3}, 0, 24}));
  EXPECT_EQ(read->tensors[1], (SafeTensor{"a", "U8", {5}, 24, 29}));
  EXPECT_EQ(read->data, head.size());
  EXPECT_EQ(read->find("a")->count(), 5);
}

TEST(Safetensors, AHostileFileIsRefused) {
  const std::string one = R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})";
  ASSERT_TRUE(read_safetensors(file(one, 8), file(one, 8).size()));
  const std::string bad[] = {
      "",
      "1234567",
      std::string(8, '\xff'),
      file("[]", 0),
      file("{", 0),
      file(one, 7),
      file(one, 9),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 8),
      file(R"({"w":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,0]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", 8),
      file(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", 8),
      file(R"({"w":{"shape":[2],"data_offsets":[0,8]}})", 8),
      file(R"({"v":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
           R"("w":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
           12),
  };
  for (const auto& bytes : bad)
    EXPECT_FALSE(read_safetensors(bytes, bytes.size())) << bytes.substr(8);
}

}  // namespace
}  // namespace souk::wire
