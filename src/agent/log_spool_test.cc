#include "agent/log_spool.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <condition_variable>

#include "agent/clocks.h"
#include "agent/sandbox/sandbox_testing.h"
#include "blob/testing/samples.h"
#include "wire/json.h"

namespace souk::agent {
namespace {

using blob::testing::Folder;
using testing::eventually;

constexpr std::int64_t kPlentyOfText = 64 << 20;

// The market's end, with the rules of server/files/logs.h, failing as told. Thread-safe.
class LogMarket {
 public:
  // What to do wrong. Set before use.
  int refuses_every = 0;  // This request does not arrive.
  int forgets_every = 0;  // This one does, but its answer is lost.
  std::int64_t keeps = kPlentyOfText;
  bool is_deaf = false;  // Every request waits until hear().

  LogSpool::Send send() {
    return [this](std::int64_t offset, std::string_view text) { return append(offset, text); };
  }
  void hear() {
    const std::lock_guard lock(mutex_);
    is_deaf = false;
    heard_.notify_all();
  }
  [[nodiscard]] std::string text() {
    const std::lock_guard lock(mutex_);
    return text_;
  }
  [[nodiscard]] int requests() {
    const std::lock_guard lock(mutex_);
    return requests_;
  }
  [[nodiscard]] bool was_sent_nonsense() {
    const std::lock_guard lock(mutex_);
    return nonsense_;
  }

 private:
  base::Result<std::int64_t> append(std::int64_t offset, std::string_view text) {
    std::unique_lock lock(mutex_);
    ++requests_;
    heard_.wait_for(lock, std::chrono::seconds(60), [&] { return !is_deaf; });
    nonsense_ = nonsense_ || text.empty() || !wire::valid_utf8(text);
    if (refuses_every > 0 && requests_ % refuses_every == 0)
      return base::fail(base::Code::unavailable, "nobody there");
    if (offset > std::ssize(text_)) {
      nonsense_ = true;
      return base::fail(base::Code::conflict, "a gap");
    }
    text_.replace(static_cast<std::size_t>(offset), text.size(), text);
    if (std::ssize(text_) > keeps) text_.resize(static_cast<std::size_t>(keeps));
    if (forgets_every > 0 && requests_ % forgets_every == 0)
      return base::fail(base::Code::unavailable, "the connection broke");
    return std::ssize(text_);
  }

  std::mutex mutex_;
  std::condition_variable heard_;
  std::string text_;
  int requests_ = 0;
  bool nonsense_ = false;
};

class LogSpoolTest : public ::testing::Test {
 protected:
  std::unique_ptr<LogSpool> open(std::int64_t most = kPlentyOfText) {
    auto spool = LogSpool::open(folder_ / "log", most, market_.send());
    EXPECT_TRUE(spool) << spool.error().message;
    ::fcntl((*spool)->program_end(), F_SETFL, O_NONBLOCK);  // So that waiting shows.
    return *std::move(spool);
  }

  // As a program would. False when the pipe stays full.
  static bool print(const LogSpool& spool, std::string_view text) {
    while (!text.empty()) {
      pollfd ready{.fd = spool.program_end(), .events = POLLOUT, .revents = 0};
      if (::poll(&ready, 1, 60'000) != 1) return false;
      const auto n = ::write(spool.program_end(), text.data(), text.size());
      if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  static std::string lines(std::size_t bytes) {
    std::string out;
    for (int i = 0; out.size() < bytes; ++i) out += "line " + std::to_string(i) + " of training\n";
    return out;
  }

  Folder folder_;
  LogMarket market_;
};

TEST_F(LogSpoolTest, EveryLineIsKeptOnceAndInOrderThoughTheNetworkFails) {
  market_.refuses_every = 3;
  market_.forgets_every = 4;
  const auto spool = open();
  const auto text = lines(2 << 20);
  ASSERT_TRUE(print(*spool, text));
  const auto done = spool->finish(base::seconds(60));
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(market_.text(), text);
  EXPECT_FALSE(market_.was_sent_nonsense());
}

TEST_F(LogSpoolTest, OutputIsSeenWhileTheProgramRuns) {
  const auto spool = open();
  ASSERT_TRUE(print(*spool, "epoch 1\n"));
  EXPECT_TRUE(eventually([&] { return market_.text() == "epoch 1\n"; }));
  spool->say("a checkpoint was kept");
  ASSERT_TRUE(print(*spool, "epoch 2\n"));
  EXPECT_TRUE(eventually([&] { return market_.text().size() > 40; }));
  const auto text = market_.text();
  EXPECT_NE(text.find("[souk] a checkpoint was kept\n"), text.npos);
  EXPECT_NE(text.find("epoch 2\n"), text.npos);
}

TEST_F(LogSpoolTest, AMarketThatDoesNotAnswerNeverMakesTheProgramWait) {
  market_.is_deaf = true;
  const auto spool = open();
  const auto text = lines(4 << 20);  // A pipe holds 64 KiB.
  ASSERT_TRUE(print(*spool, text.substr(0, 100)));
  ASSERT_TRUE(eventually([&] { return market_.requests() == 1; }));
  EXPECT_TRUE(print(*spool, text.substr(100))) << "the program waits for the market";
  EXPECT_EQ(market_.requests(), 1);
  market_.hear();
  EXPECT_TRUE(spool->finish(base::seconds(60)));
  EXPECT_EQ(market_.text(), text);
}

TEST_F(LogSpoolTest, BytesThatAreNoTextBecomeQuestionMarksAndLoseNothingElse) {
  const struct {
    std::string_view printed, kept;
  } cases[] = {
      {"plain\n", "plain\n"},
      {"caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\xAB\n",
       "caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x90\xAB\n"},
      {"caf\xE9!\n", "caf?!\n"},                   // Latin-1.
      {"\xC0\xAF/\xED\xA0\x80.", "\?\?/\?\?\?."},  // Overlong; half a surrogate.
      {"a\x80z\xFFz", "a?z?z"},                    // Never part of UTF-8.
      {"the end is cut \xE2\x82", "the end is cut ??"},
      {"\xF0", "?"},
  };
  for (const auto& c : cases) {
    LogMarket market;
    const auto spool = *LogSpool::open(folder_ / "log", kPlentyOfText, market.send());
    ASSERT_TRUE(print(*spool, c.printed));
    EXPECT_TRUE(spool->finish(base::seconds(60)));
    EXPECT_EQ(market.text(), c.kept);
    EXPECT_FALSE(market.was_sent_nonsense());
  }
}

TEST_F(LogSpoolTest, ACharacterThatArrivesInTwoPartsStaysACharacter) {
  const auto spool = open();
  ASSERT_TRUE(print(*spool, "price: 5 \xE2\x82"));
  ASSERT_TRUE(eventually([&] { return market_.text() == "price: 5 "; }));
  spool->say("hello");  // Ours does not break theirs.
  ASSERT_TRUE(print(*spool, "\xAC an hour\n"));
  EXPECT_TRUE(spool->finish(base::seconds(60)));
  EXPECT_EQ(market_.text(), "price: 5 [souk] hello\n\xE2\x82\xAC an hour\n");
}

TEST_F(LogSpoolTest, AFloodIsCutWithALineThatSaysSoAndTheProgramGoesOn) {
  constexpr std::int64_t most = 100'000;  // Not a multiple of three: a character is cut there.
  const auto spool = open(most);
  std::string flood;
  for (int i = 0; i < 1'000'000; ++i) flood += "\xE2\x82\xAC";
  ASSERT_TRUE(print(*spool, flood));
  spool->say("this does not fit either");
  EXPECT_TRUE(spool->finish(base::seconds(60)));
  EXPECT_FALSE(market_.was_sent_nonsense()) << "the market refuses what is not UTF-8";
  EXPECT_EQ(market_.text(),
            flood.substr(0, most / 3 * 3) + "\n[souk] the log is full: what follows is dropped\n");
}

TEST_F(LogSpoolTest, TheLastLinesBeforeTheEndArrive) {
  const auto spool = open();
  ASSERT_TRUE(print(*spool, "Traceback: out of memory"));
  EXPECT_TRUE(spool->finish(base::seconds(60)));
  EXPECT_EQ(market_.text(), "Traceback: out of memory");
}

TEST_F(LogSpoolTest, AMarketThatIsGoneHoldsTheMachineNoLongerThanItsPatience) {
  market_.refuses_every = 1;
  // On a slow machine there is time for a second request only with more patience.
  for (auto patience = base::milliseconds(200);; patience = patience * 2) {
    const auto before = market_.requests();
    const auto spool = open();
    ASSERT_TRUE(print(*spool, "nobody reads this\n"));
    const auto began = kSteadyClock.now();
    const auto done = spool->finish(patience);
    EXPECT_GE(kSteadyClock.now() - began, patience);
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().code, base::Code::unavailable);
    if (market_.requests() >= before + 2) break;
    ASSERT_LT(patience, base::minutes(1)) << "it did not try again";
  }
}

TEST_F(LogSpoolTest, AProgramThatPrintedNothingEndsWithoutTheMarket) {
  market_.refuses_every = 1;
  EXPECT_TRUE(open()->finish(base::Duration(0)));
  EXPECT_EQ(market_.requests(), 0);
}

TEST_F(LogSpoolTest, AMarketThatKeepsLessThanWasSentIsNotSentMoreForever) {
  market_.keeps = 1'000;
  const auto spool = open();
  const auto text = lines(5'000);
  ASSERT_TRUE(print(*spool, text));
  ASSERT_TRUE(eventually([&] { return market_.text().size() == 1'000; }));
  ASSERT_TRUE(print(*spool, text));
  const auto done = spool->finish(base::seconds(60));
  EXPECT_TRUE(done) << done.error().message;
  EXPECT_EQ(market_.text(), text.substr(0, 1'000));
  EXPECT_FALSE(market_.was_sent_nonsense());
}

TEST_F(LogSpoolTest, ADescriptorLeftOpenByAnotherProcessDoesNotHoldTheEndForever) {
  const auto spool = open();
  const int kept = ::dup(spool->program_end());
  ASSERT_TRUE(print(*spool, "done\n"));
  EXPECT_TRUE(spool->finish(base::seconds(60)));
  EXPECT_EQ(market_.text(), "done\n");
  ::close(kept);
}

TEST(LogSpool, AFolderThatIsNotThereIsAnErrorThatNamesIt) {
  const auto spool = LogSpool::open("/no/such/folder/log", 1, {});
  ASSERT_FALSE(spool);
  EXPECT_NE(spool.error().message.find("/no/such/folder/log"), std::string::npos);
}

}  // namespace
}  // namespace souk::agent
