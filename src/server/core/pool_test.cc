#include "server/core/pool.h"

#include <gtest/gtest.h>

#include <future>
#include <new>
#include <stdexcept>

#include "server/testing/stack.h"

namespace souk::server {
namespace {

TEST(Pool, WhatAPieceOfWorkThrowsEndsThatPieceAlone) {
  Pool pool(1);
  ASSERT_TRUE(pool.post([] { throw std::runtime_error("broken"); }));
  ASSERT_TRUE(pool.post([] { throw std::bad_alloc(); }));
  ASSERT_TRUE(pool.post([] { throw 7; }));
  std::promise<int> done;
  ASSERT_TRUE(pool.post([&] { done.set_value(1); }));
  EXPECT_EQ(done.get_future().get(), 1);
}

// As a route on a pool does: the request is in the hands of whoever throws.
TEST(Pool, ARequestWhoseWorkThrowsIsAnsweredWithAProblem) {
  testing::Stack stack;
  auto pigeon = std::make_shared<testing::Pigeon>();
  auto answer = pigeon->future();
  auto call =
      std::make_unique<ApiCall>(ApiCall{.http = {},
                                        .reply = ApiReply(net::Reply(std::move(pigeon)), false),
                                        .route = nullptr,
                                        .params = {}});
  to_pool(*stack.files, std::move(call),
          [](ApiCallPtr) { throw std::runtime_error("a secret of the server"); });
  const auto got = answer.get();
  EXPECT_EQ(got.status, 500);
  EXPECT_EQ(got.type, "application/problem+json");
  EXPECT_EQ(got.body.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace souk::server
