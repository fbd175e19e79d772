#include "server/core/core.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "net/sse.h"
#include "server/testing/stack.h"

// Durability before answers, batches, bounds: the inside of the server with a journal and a clock
// that do as they are told.

namespace souk::server {
namespace {

using testing::Answer;
using ::testing::Each;
using testing::eventually;
using ::testing::Le;
using testing::Market;
using testing::operator_of;
using testing::Stack;

bool ready(const std::future<Answer>& f) {
  return f.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

// Until the core has done everything that was posted before, and handed it to the journal: that
// happens at the end of a turn, so the second task is sure to come later.
void settle(Stack& stack) {
  for (int i = 0; i < 2; ++i) stack.inside([](Core::Turn&) { return 0; });
}

std::string feedback(std::string_view text) {
  return fmt::format(R"({{"category":"idea","text":"{}"}})", text);
}

TEST(Core, WhatATaskThrowsEndsThatTaskAndNothingElse) {
  Stack stack;
  const auto token = operator_of(stack);
  stack.core.post([](Core::Turn&) { throw std::runtime_error("a broken task"); });
  stack.core.post([](Core::Turn&) { throw std::bad_alloc(); });
  stack.core.post(
      [](Core::Turn& turn) { turn.after([] { throw std::runtime_error("a broken answer"); }); });
  EXPECT_EQ(stack.ask("POST", "/v1/feedback", token, feedback("x")).get().status, 201);
  EXPECT_EQ(stack.ask("GET", "/v1/feedback", token).get().count(), 1u);
}

TEST(Core, CommitsDoNotWaitForTheEndOfUpkeep) {
  Stack stack;
  const auto token = operator_of(stack);
  std::atomic<int> pieces = 0;
  std::atomic<bool> enough = false;
  auto kept = std::async(std::launch::async, [&] {
    return stack.core.upkeep([&](journal::Journal&) -> base::Result<bool> {
      ++pieces;
      return !enough;
    });
  });
  ASSERT_TRUE(eventually([&] { return pieces > 0; }));
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(stack.ask("POST", "/v1/feedback", token, feedback("x")).get().status, 201);
  enough = true;
  EXPECT_TRUE(kept.get());
}

TEST(Core, UpkeepThatMakesNoSenseIsAnErrorOfTheAsker) {
  Stack stack;
  const auto token = operator_of(stack);
  const auto kept = stack.core.upkeep([](journal::Journal&) -> base::Result<bool> {
    return base::fail(base::Code::invalid, "no batch begins there");
  });
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().message, "no batch begins there");
  EXPECT_EQ(stack.ask("POST", "/v1/feedback", token, feedback("x")).get().status, 201);
}

TEST(Core, NoAnswerLeavesBeforeItsChangeIsOnDisk) {
  Stack stack;
  const auto token = operator_of(stack);
  const auto before = stack.journal.begun();
  stack.journal.hold();
  auto change = std::async(std::launch::async, [&] {
    return testing::Caller(stack.url()).call("POST", "/v1/feedback", token, feedback("x"));
  });
  ASSERT_TRUE(eventually([&] { return stack.journal.begun() > before; }));
  // Whoever reads meanwhile would see the change, so they wait for it too.
  auto read = stack.ask("GET", "/v1/feedback", token);
  auto refusal = stack.ask("GET", "/v1/jobs/j1", token);
  settle(stack);
  EXPECT_FALSE(ready(change));
  EXPECT_FALSE(ready(read));
  EXPECT_FALSE(ready(refusal));
  EXPECT_EQ(stack.ask("GET", "/healthz").get().status, 200) << "the process still answers";
  stack.journal.release();
  EXPECT_EQ(change.get().status, 201);
  EXPECT_EQ(read.get().count(), 1u);
  EXPECT_EQ(refusal.get().status, 404);
}

TEST(Core, AFullDiskRefusesChangesAndNothingElse) {
  std::atomic<bool> full = false;
  CoreOptions options;
  options.may_write = [&]() -> base::Result<> {
    if (full) return base::fail(base::Code::unavailable, "the disk is full");
    return {};
  };
  Stack stack(options);
  const auto token = operator_of(stack);
  full = true;
  const auto before = stack.journal.begun();
  EXPECT_EQ(stack.ask("POST", "/v1/feedback", token, feedback("x")).get().status, 503);
  EXPECT_EQ(stack.ask("GET", "/v1/feedback", token).get().count(), 0u);
  EXPECT_EQ(stack.journal.begun(), before);
  full = false;
  EXPECT_EQ(stack.ask("POST", "/v1/feedback", token, feedback("x")).get().status, 201);
}

TEST(Core, ARepeatIsNotAnsweredBeforeTheFirstIsOnDisk) {
  Stack stack;
  const auto token = operator_of(stack);
  const auto before = stack.journal.begun();
  stack.journal.hold();
  const auto change = [&] {
    net::Request request{.method = "POST", .target = "/v1/me/password", .path = "/v1/me/password"};
    request.headers = {{"Idempotency-Key", "k"}, {"Authorization", "Bearer " + token}};
    request.body =
        fmt::format(R"({{"old_password":"{}","password":"another one"}})", testing::kPassword);
    return stack.ask(std::move(request));
  };
  auto first = change();
  ASSERT_TRUE(eventually([&] { return stack.journal.begun() > before; }));
  auto again = change();
  settle(stack);
  EXPECT_FALSE(ready(first));
  EXPECT_FALSE(ready(again));
  stack.journal.release();
  EXPECT_EQ(first.get().body, again.get().body);
}

TEST(Core, OneCommitServesAllThatQueuedMeanwhile) {
  Stack stack;
  const auto token = operator_of(stack);
  const auto before = stack.journal.begun();
  stack.journal.hold();
  std::vector<std::future<Answer>> answers;
  answers.push_back(stack.ask("POST", "/v1/feedback", token, feedback("first")));
  ASSERT_TRUE(eventually([&] { return stack.journal.begun() > before; }));
  for (int i = 0; i < 50; ++i)
    answers.push_back(stack.ask("POST", "/v1/feedback", token, feedback("more")));
  settle(stack);
  stack.journal.release();
  for (auto& a : answers) EXPECT_EQ(a.get().status, 201);
  EXPECT_EQ(stack.journal.begun(), before + 2);
  EXPECT_EQ(stack.journal.sizes().back(), 100u) << "each change and its answer";
}

TEST(Core, ABatchStaysSmallerThanTheJournalTakes) {
  Stack stack({.most_pending_bytes = 20'000});
  const auto token = operator_of(stack);
  const auto before = stack.journal.begun();
  stack.journal.hold();
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 60; ++i)
    answers.push_back(stack.ask("POST", "/v1/feedback", token, feedback(std::string(3'000, 'x'))));
  ASSERT_TRUE(eventually([&] { return stack.journal.begun() > before; }));
  stack.journal.release();
  for (auto& a : answers) EXPECT_EQ(a.get().status, 201);
  EXPECT_THAT(stack.journal.bytes(), Each(Le(20'000u + 7'000u)));
  auto sizes = stack.journal.sizes();
  sizes.erase(sizes.begin(), sizes.begin() + before);
  EXPECT_GT(sizes.size(), 5u);
  for (const auto size : sizes) EXPECT_EQ(size % 2, 0u) << "a change was torn from its answer";
}

TEST(Core, ReadsDoNotWaitForADiskThatHasNothingToDo) {
  Stack stack;
  const auto token = operator_of(stack);
  stack.journal.hold();
  EXPECT_EQ(stack.ask("GET", "/v1/me", token).get().at("name"), "boss");
  EXPECT_EQ(stack.ask("GET", "/readyz").get().at("status"), "ready");
}

TEST(Core, WhoComesWhenTheQueueIsFullIsToldToComeBack) {
  Stack stack({.most_queued = 3});
  const auto token = operator_of(stack);
  std::promise<void> go;
  std::promise<void> busy;
  ASSERT_TRUE(stack.core.post([&](Core::Turn&) {
    busy.set_value();
    go.get_future().wait();
  }));
  busy.get_future().wait();
  std::vector<std::future<Answer>> waiting;
  for (int i = 0; i < 3; ++i) waiting.push_back(stack.ask("GET", "/v1/me", token));
  const auto refused = stack.ask("GET", "/v1/me", token).get();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(net::find_header(refused.headers, "Retry-After"), "1");
  EXPECT_EQ(stack.core.counters().queue_full, 1u);
  go.set_value();
  for (auto& w : waiting) EXPECT_EQ(w.get().status, 200);
  EXPECT_EQ(stack.ask("GET", "/v1/me", token).get().status, 200);
}

TEST(Core, AClockSetBackStopsNeitherRoundsNorLogIns) {
  Stack stack({.round = base::seconds(5), .tick = base::seconds(1)});
  operator_of(stack);
  const auto rounds_go_on = [&] {
    const auto before = stack.core.counters().commands;
    return eventually([&] {
      stack.clock.move(base::milliseconds(100));
      settle(stack);
      return stack.core.counters().commands > before;
    });
  };
  EXPECT_TRUE(rounds_go_on());
  const auto session = [&] {
    return stack
        .ask("POST", "/v1/login", "",
             fmt::format(R"({{"name":"boss","password":"{}","expires_in":"1m"}})",
                         testing::kPassword))
        .get();
  };
  EXPECT_EQ(session().status, 201);
  const auto time = stack.inside([](Core::Turn& turn) { return turn.state().now; });
  stack.clock.move(base::Duration() - base::hours(1));
  EXPECT_TRUE(rounds_go_on());
  const auto later = session();
  EXPECT_EQ(later.status, 201) << later;
  EXPECT_EQ(stack.ask("GET", "/v1/me", later.at("token")).get().status, 200);
  EXPECT_GE(stack.inside([](Core::Turn& turn) { return turn.state().now; }), time);
}

TEST(CoreDeathTest, AJournalThatFailsEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        Stack stack;
        stack.journal.fail();
        (void)stack.ask("POST", "/v1/accounts", "", Market::sign_up_body("boss"), "127.0.0.1")
            .get();
        (void)stack.ask("POST", "/v1/accounts", "", Market::sign_up_body("late")).get();
      },
      ::testing::ExitedWithCode(70), "no space left on the test's disk");
}

TEST(Core, StoppingAnswersAndKeepsWhatWasAccepted) {
  std::vector<std::future<Answer>> answers;
  std::uint64_t kept = 0;
  {
    Stack stack;
    const auto token = operator_of(stack);
    for (int i = 0; i < 300; ++i)
      answers.push_back(stack.ask("POST", "/v1/feedback", token, feedback("x")));
    stack.core.stop();
    for (auto& a : answers) EXPECT_EQ(a.get().status, 201);
    kept = stack.journal.next() - 1;
    EXPECT_EQ(stack.core.state().events, kept);
    EXPECT_EQ(stack.ask("GET", "/v1/me", token).get().status, 503);
  }
  EXPECT_GE(kept, 600u);
}

// --- The feed ------------------------------------------------------------------------------------

// Publishes `n` notices for everybody, numbered after the market's own.
std::uint64_t publish(Stack& stack, int n, std::size_t size, int at_once) {
  auto number = stack.inside([](Core::Turn& turn) { return turn.state().events; }) + 1'000'000;
  static std::uint64_t more = 0;
  number += more;
  more += static_cast<std::uint64_t>(n);
  for (int i = 1; i <= n; ++i) {
    ++number;
    stack.feed.stage(number, {.number = number, .kind = "Test", .text = std::string(size, 'x')},
                     {.everybody = true});
    if (i % at_once == 0 || i == n) stack.feed.publish(number);
  }
  return number;
}

std::string stream_request(const std::string& token, std::string_view more = "") {
  return fmt::format("GET /v1/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\n{}\r\n",
                     token, more);
}

TEST(Feed, AReaderWhoDoesNotReadIsCutAndHoldsNobodyUp) {
  Stack stack;
  const auto token = operator_of(stack);
  net::testing::RawSocket slow(stack.http->port(), 4'096);
  ASSERT_TRUE(slow.send(stream_request(token)));
  ASSERT_TRUE(eventually([&] { return stack.feed.readers() == 1; }));
  net::testing::RawSocket good(stack.http->port());
  ASSERT_TRUE(good.send(stream_request(token)));
  ASSERT_TRUE(eventually([&] { return stack.feed.readers() == 2; }));
  for (int i = 0; i < 40; ++i) {
    const auto last = publish(stack, 100, 4'000, 10);
    EXPECT_NE(good.read_until(fmt::format("id: {}\n", last)), "");
  }
  EXPECT_EQ(stack.ask("GET", "/v1/me", token).get().status, 200);
  const auto all = slow.read_to_end();
  EXPECT_LT(all.size(), 40u * 100u * 4'000u) << "it was never cut";
}

TEST(Feed, MuchAtOnceDoesNotCutAReaderWhoKeepsUp) {
  Stack stack;
  const auto token = operator_of(stack);
  net::testing::RawSocket reader(stack.http->port());
  ASSERT_TRUE(reader.send(stream_request(token)));
  ASSERT_TRUE(eventually([&] { return stack.feed.readers() == 1; }));
  const auto last = publish(stack, 3'000, 10, 3'000);
  EXPECT_THAT(reader.read_until(fmt::format("id: {}\n", last)),
              ::testing::EndsWith(fmt::format("id: {}\n", last)));
}

TEST(Feed, WhoComesBackGetsTheNewestAndIsToldOfTheRest) {
  Stack stack;
  const auto token = operator_of(stack);
  const auto last = publish(stack, 5'000, 300, 50);
  net::testing::RawSocket reader(stack.http->port());
  ASSERT_TRUE(reader.send(stream_request(token, "Last-Event-ID: 1\r\n")));
  const auto text = reader.read_until(fmt::format("id: {}\n", last));
  EXPECT_THAT(text, ::testing::HasSubstr("event: missed"));
  EXPECT_THAT(text, ::testing::EndsWith(fmt::format("id: {}\n", last)));
  publish(stack, 1, 10, 1);
  EXPECT_THAT(reader.read_until("event: Test"), ::testing::HasSubstr("event: Test")) << "and stays";
}

}  // namespace
}  // namespace souk::server
