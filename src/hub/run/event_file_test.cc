#include "hub/run/event_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

namespace souk::hub {
namespace {

using ::testing::HasSubstr;

// The messages of a file, whose lengths must fit.
std::vector<std::string> messages_of(std::string_view file) {
  std::vector<std::string> out;
  while (!file.empty()) {
    std::uint64_t length = 0;
    std::memcpy(&length, file.data(), sizeof length);
    out.emplace_back(file.substr(12, length));
    file.remove_prefix(12 + length + 4);
  }
  return out;
}

// Checksums computed apart from this code, bit by bit; TensorBoard's reader takes these bytes.
TEST(EventFile, BeginsAsTensorBoardExpects) {
  const std::string expected(
      "\x18\0\0\0\0\0\0\0\xa3\x7f\x4b\x22"
      "\x09\0\0\0\0\0\0\0\0\x1a\x0d"
      "brain.Event:2\xee\xdf\x28\xa3",
      40);
  EXPECT_EQ(event_head(0), expected);
}

TEST(EventFile, HasALineForEachEpochWithAllThatWasMeasured) {
  wire::Training training;
  for (int e = 1; e <= 3; ++e)
    training.rows.push_back({.epoch = e,
                             .at = base::seconds(e),
                             .samples = 300 * e,
                             .loss = 1.0 / e,
                             .validation_loss = 2.0 / e,
                             .workers = 4,
                             .metrics = {{"perplexity", 7.5}}});
  const auto messages = messages_of(event_file(training));
  ASSERT_EQ(messages.size(), 4u);
  for (const auto* name : {"loss/training", "loss/validation", "metrics/perplexity", "workers"})
    EXPECT_THAT(messages[2], HasSubstr(name));
  const std::string step_600 = {'\x10', '\xd8', '\x04'};
  EXPECT_THAT(messages[2], HasSubstr(step_600));
}

}  // namespace
}  // namespace souk::hub
