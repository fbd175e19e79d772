#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "base/testing/source_tree.h"
#include "codec/events.h"
#include "codec/snapshot.h"
#include "codec/testing/busy_market.h"
#include "codec/testing/filled.h"
#include "codec/testing/first_version.h"
#include "market/invariants.h"

// Journals written once, by the first version of the format. They must be readable for ever, and
// tell what they told then. Neither the files nor the hashes are ever written again: they do not
// change when a field is appended (first_version.h). When one of these tests fails, the format
// broke: add an upcast (events.h) instead of changing the test.

namespace souk::codec {
namespace {

using TimedEvents = std::vector<std::pair<Time, Event>>;

base::Bytes golden(std::string_view name) {
  std::ifstream in(base::source_tree() / "tests/golden" / name);
  base::Bytes bytes;
  for (std::string line; std::getline(in, line);)
    for (std::size_t i = 0; i + 1 < line.size(); i += 2)
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  return bytes;
}

TimedEvents read_golden(std::string_view name) {
  TimedEvents out;
  const auto bytes = golden(name);
  EXPECT_FALSE(bytes.empty()) << name;
  const auto read =
      read_events(bytes, 1, [&](Time at, const Event& event) { out.emplace_back(at, event); });
  EXPECT_TRUE(read) << name << ": " << read.error().message;
  return out;
}

struct GoldenJournal {
  std::string_view file;
  std::string_view state_hash;  // Of the state after its last event, in the format of then.
};

constexpr GoldenJournal kGoldenJournals[] = {
    // A random history.
    {"journal-v1.hex", "508d7eb627f560cea60e926580170ea9968a93dac01e4407472aa6c41f55cbd8"},
    // Every kind of event at least once (testing/busy_market.h, as it was then).
    {"market-v1.hex", "7127fd5ac4a4823f4c4af9e41aaca5b682472794843fe24629113f6317e0f8e8"},
};

TEST(Golden, AJournalOfTheFirstVersionStillTellsTheSameStory) {
  for (const auto& journal : kGoldenJournals) {
    market::State state;
    for (const auto& [at, event] : read_golden(journal.file)) market::apply(state, at, event);
    EXPECT_EQ(market::broken_invariants(state), std::vector<std::string>{}) << journal.file;
    EXPECT_EQ(to_string(testing::first_hash(state)), journal.state_hash) << journal.file;
  }
}

// The file holds testing::filled_events() as they were then: all kinds, no field at its default.
TEST(Golden, EveryFieldOfEveryEventOfTheFirstVersionIsReadAsItWasWritten) {
  const auto events = read_golden("events-v1.hex");
  std::set<std::size_t> kinds;
  for (const auto& [at, event] : events) kinds.insert(event.index());
  EXPECT_EQ(kinds.size(), 42u);
  EXPECT_EQ(*kinds.rbegin(), 41u);
  EXPECT_EQ(base::to_hex(testing::first_version(events)), base::to_hex(golden("events-v1.hex")));
}

TEST(Golden, TheJournalOfAMarketHasEveryKindOfTheFirstVersion) {
  std::set<std::size_t> kinds;
  for (const auto& [at, event] : read_golden("market-v1.hex")) kinds.insert(event.index());
  EXPECT_EQ(kinds.size(), 42u);
}

// A base is all that is left of a journal's beginning, so it is read whatever was appended since.
TEST(Golden, ABaseOfAProgramWithFewerFieldsIsRead) {
  const testing::BusyMarket market;
  base::Bytes older("souk state 5 0123456789abcdef\n");
  testing::FirstVersion(older, Layout::sized).fields(market.state);
  EXPECT_LT(older.size(), encode_state(market.state).size());
  EXPECT_FALSE(decode_state(older))
      << "what events would give more of is not taken from a snapshot";
  const auto state = base_state(older);
  ASSERT_TRUE(state) << state.error().message;
  EXPECT_EQ(testing::first_hash(*state), testing::first_hash(market.state));
}

TEST(Golden, ABaseOfANewerFormatIsNotGuessedAt) {
  const auto state = base_state("souk state 6 0123456789abcdef\nwhatever");
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().code, base::Code::damaged);
  EXPECT_NE(state.error().hint.find("newer"), std::string::npos);
}

}  // namespace
}  // namespace souk::codec
