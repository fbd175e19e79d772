#include "hub/run/snapshots.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace souk::hub {
namespace {

namespace fs = std::filesystem;

class SnapshotsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("souk-snapshots-" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    blobs_ = *blob::Store::open((folder_ / "blobs").string());
    head_.training.initialised = true;
    head_.layout.tensors = {{"w", {2, 5}}, {"b", {1}}};
    head_.version = 3;
    head_.planes = 1;
    head_.owed = {{4, base::LeaseId(7), 2, base::microseconds(1'234'567)}};
    head_.next_wage = 5;
    parameters_.values = train::blocks_of(std::vector<float>(11, 0.5f));
    parameters_.planes = {train::blocks_of(std::vector<float>(11, 0.25f))};
    parameters_.version = 3;
  }
  void TearDown() override {
    blobs_.reset();
    fs::remove_all(folder_);
  }
  Snapshots snapshots(const fs::path& pointer = "pointer") {
    return {*blobs_, clock_, {.pointer = (folder_ / pointer).string(), .accepted = 3}};
  }

  fs::path folder_;
  base::FakeClock clock_{base::Time(1'000'000'000)};
  std::unique_ptr<blob::Store> blobs_;
  SnapshotHead head_;
  SavedParameters parameters_;
  const SaveMark mark_{.initialised = true, .next_wage = 5};
};

TEST_F(SnapshotsTest, WhatWasSavedComesBack) {
  auto before = snapshots();
  ASSERT_TRUE(before.recover());
  EXPECT_FALSE(*before.recover());
  ASSERT_TRUE(before.save(mark_, head_, parameters_));
  auto after = snapshots();
  const auto got = after.recover();
  ASSERT_TRUE(got && *got);
  const auto& [head, parameters] = **got;
  EXPECT_EQ(head.owed, head_.owed);  // To the microsecond.
  EXPECT_EQ(head.next_wage, 5);
  EXPECT_EQ(head.layout.size(), 11u);
  EXPECT_EQ(parameters.version, 3);
  EXPECT_TRUE(std::ranges::equal(*parameters.values.front(), *parameters_.values.front()));
  ASSERT_EQ(parameters.planes.size(), 1u);
  EXPECT_TRUE(std::ranges::equal(*parameters.planes[0].front(), *parameters_.planes[0].front()));
  EXPECT_FALSE(after.due(mark_));
}

TEST_F(SnapshotsTest, TheFirstParametersAndTheEndAreSavedAtOnceTheRestNowAndThen) {
  auto s = snapshots();
  EXPECT_FALSE(s.due({}));  // There is nothing yet.
  EXPECT_TRUE(s.due(mark_));
  ASSERT_TRUE(s.save(mark_, head_, parameters_));
  EXPECT_FALSE(s.due({.initialised = true, .next_wage = 7}));
  EXPECT_TRUE(s.due({.initialised = true, .next_wage = 8}));
  EXPECT_TRUE(s.due({.initialised = true, .finished = true, .next_wage = 5}));
  clock_.advance(base::seconds(10));
  EXPECT_TRUE(s.due({.initialised = true, .next_wage = 6}));
  EXPECT_FALSE(s.due(mark_));  // Nothing has changed.
}

TEST_F(SnapshotsTest, OneThatCouldNotBeWrittenIsDueAgainAMomentLater) {
  auto s = snapshots("missing/pointer");
  EXPECT_FALSE(s.save(mark_, head_, parameters_));
  EXPECT_FALSE(s.due(mark_));
  clock_.advance(base::seconds(1));
  EXPECT_TRUE(s.due(mark_));
  fs::create_directories(folder_ / "missing");
  EXPECT_TRUE(s.save(mark_, head_, parameters_));
  EXPECT_FALSE(s.due(mark_));
}

}  // namespace
}  // namespace souk::hub
