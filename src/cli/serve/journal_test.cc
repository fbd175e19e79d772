#include "cli/serve/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "cli/shell/event_json.h"
#include "codec/events.h"
#include "journal/open.h"
#include "market/state.h"
#include "wire/json.h"

namespace souk::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(EventJson, SecretsStayInTheJournal) {
  const market::Event account = market::AccountCreated{
      {.id = base::AccountId(1), .name = "ada", .password = "$argon2id$secret"}, {}};
  const market::Event token = market::TokenIssued{
      {.id = base::TokenId(1), .digest = base::blake2b("secret"), .label = "laptop"}};
  const market::Event answer =
      market::Answered{{.key = "k1", .status = 201, .body = R"({"token":"souk_secret"})"}};
  const auto digest = to_string(base::blake2b("secret"));
  for (const auto& event : {account, token, answer}) {
    const auto text = event_json(7, base::Time(1'000'000), event);
    ASSERT_TRUE(wire::parse(text)) << text;
    EXPECT_THAT(text, HasSubstr("(redacted)"));
    EXPECT_THAT(text, Not(HasSubstr("secret")));
    EXPECT_THAT(text, Not(HasSubstr(digest)));
  }
  EXPECT_THAT(event_json(7, base::Time(1'000'000), account), HasSubstr(R"("name":"ada")"));
}

TEST(EventJson, EveryEventOfANewMarketIsJson) {
  for (const auto& event : market::founding_events()) {
    const auto text = event_json(1, base::Time(0), event);
    EXPECT_TRUE(wire::parse(text)) << text;
  }
}

TEST(EventJson, ATimeThatNeverComesIsNull) {
  const market::Event job = market::JobSubmitted{};
  EXPECT_THAT(event_fields_json(job), HasSubstr(R"("deadline":null)"));
}

class Verify : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("souk-verify-" + std::to_string(getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string file() const { return (folder_ / "journal.db").string(); }

  void append(const std::string& bytes, std::uint32_t count) {
    auto opened = journal::open("sqlite:" + file());
    ASSERT_TRUE(opened);
    ASSERT_TRUE(opened->journal->append({opened->journal->next(), count, bytes}));
  }

  fs::path folder_;
};

TEST_F(Verify, AGoodJournalHasTheSameHashEveryTime) {
  codec::EventWriter writer;
  for (const auto& event : market::founding_events()) writer.add(base::Time(1'000'000), event);
  append(writer.bytes(), writer.count());
  const auto first = verify_journal(folder_), second = verify_journal(folder_);
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->ok) << first->problems.front();
  EXPECT_EQ(first->events, writer.count());
  EXPECT_EQ(first->state_hash.size(), 64u);
  EXPECT_EQ(first->state_hash, second->state_hash);
}

TEST_F(Verify, AnEventThatCannotBeReadIsNamed) {
  codec::EventWriter writer;
  for (const auto& event : market::founding_events()) writer.add(base::Time(1'000'000), event);
  append(writer.bytes(), writer.count());
  append("\xff\x01nonsense", 1);
  const auto verdict = verify_journal(folder_);
  ASSERT_TRUE(verdict);
  EXPECT_FALSE(verdict->ok);
  EXPECT_EQ(verdict->events, writer.count());
  EXPECT_THAT(verdict->problems.front(), HasSubstr(std::to_string(writer.count() + 1)));
}

TEST_F(Verify, NoJournalIsAnErrorNotAVerdict) {
  const auto verdict = verify_journal(folder_);
  ASSERT_FALSE(verdict);
  EXPECT_EQ(verdict.error().exit, Exit::refused);
}

}  // namespace
}  // namespace souk::cli
