#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "codec/events.h"
#include "codec/snapshot.h"
#include "market/testing/history.h"

// A journal written once, by an early version of this program. It must be readable for ever.
//
// When the hash changes: if a field was appended to something, the journal still reads and the new
// hash is right; write it down below. If anything else changed, the format broke: add an upcast
// (events.h) instead of changing this test. The file itself is never written again.

namespace souk::codec {
namespace {

constexpr std::string_view kStateHash =
    "508d7eb627f560cea60e926580170ea9968a93dac01e4407472aa6c41f55cbd8";

std::filesystem::path golden() {
  return std::filesystem::path(__FILE__).parent_path() / "../../tests/golden/journal-v1.hex";
}

// The journal of a random history's first commands, with the kinds of events in it.
std::pair<base::Bytes, std::size_t> journal_of(std::uint64_t seed, int commands) {
  market::testing::HistoryMaker maker(seed);
  market::testing::CheckedRun run;
  EventWriter writer;
  for (const auto& event : market::founding_events()) writer.add(Time(), event);
  run.on_event = [&](Time at, const Event& e) {
    maker.observe(e, at);
    writer.add(at, e);
  };
  for (int i = 0; i < commands; ++i)
    if (!run.step(maker.next(run.state)).empty()) return {};
  writer.add(run.state.now,
             market::Answered{{base::AccountId(1), "key", 7, 201, "{}", run.state.now}});
  return {writer.bytes(), run.kinds.size() + 1};
}

// Of many short histories, the one with the most kinds of events. SOUK_WRITE_GOLDEN=1 runs it.
void write_golden() {
  base::Bytes best;
  std::size_t kinds = 0;
  for (std::uint64_t seed = 1; seed < 400; ++seed) {
    auto [bytes, n] = journal_of(seed, 1'100);
    if (n > kinds && bytes.size() < 19'500) best = std::move(bytes), kinds = n;
  }
  std::filesystem::create_directories(golden().parent_path());
  std::ofstream out(golden());
  const auto hex = base::to_hex(best);
  for (std::size_t i = 0; i < hex.size(); i += 100) out << hex.substr(i, 100) << '\n';
  fmt::print("{} kinds of events, {} bytes\n", kinds, best.size());
}

base::Bytes read_golden() {
  std::ifstream in(golden());
  base::Bytes bytes;
  for (std::string line; std::getline(in, line);)
    for (std::size_t i = 0; i + 1 < line.size(); i += 2)
      bytes += static_cast<char>(std::stoi(line.substr(i, 2), nullptr, 16));
  return bytes;
}

TEST(Golden, AJournalOfTheFirstVersionStillTellsTheSameStory) {
  if (std::getenv("SOUK_WRITE_GOLDEN") != nullptr) write_golden();
  const auto bytes = read_golden();
  ASSERT_FALSE(bytes.empty()) << golden();
  market::State state;
  const auto read =
      read_events(bytes, 1, [&](Time at, const Event& event) { market::apply(state, at, event); });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(market::broken_invariants(state), std::vector<std::string>{});
  EXPECT_EQ(to_string(state_hash(state)), kStateHash);
}

}  // namespace
}  // namespace souk::codec
