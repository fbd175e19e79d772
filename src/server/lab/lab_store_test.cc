#include "server/lab/lab_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "server/lab/lab_runs.h"
#include "server/record/usage_log.h"
#include "server/testing/lab_tasks.h"
#include "server/testing/market.h"

// What a restart of the server leaves of people's experiments.

namespace souk::server {
namespace {

using base::AccountId;
using testing::endless;
using testing::eventually;
using ::testing::HasSubstr;
using testing::kAnn;
using testing::kBob;
using testing::quick;
using ::testing::StartsWith;
using testing::task;
using wire::LabRunId;
using wire::LabState;

class Restarted : public ::testing::Test {
 protected:
  std::unique_ptr<LabRuns> start() {
    return std::make_unique<LabRuns>(
        clock_, LabOptions{.limit = base::hours(1), .folder = folder_ / "lab"}, records_.get());
  }
  static LabRuns::Ticket ticket(std::string key) { return {std::move(key), 7}; }
  static bool becomes(LabRuns& runs, LabRunId id, LabState wanted) {
    return eventually([&] { return runs.find(kAnn, id)->run.state == wanted; });
  }

  testing::Folder folder_;
  base::SystemClock clock_;
  std::unique_ptr<journal::Records> records_ =
      *journal::open_records("sqlite:" + std::string(folder_ / "telemetry.db"));
};

TEST_F(Restarted, AFinishedRunIsThereWithItsResult) {
  LabRunId id;
  {
    auto runs = start();
    auto t = task([](const lab::Watch&) {
      LabResult out{.report = "<p>\"page\"</p>", .trades = "a,b\n1,2\n"};
      out.summary = lab::Summary{.scenario = "smith", .seeds = {1, 2}};
      out.summary->mechanisms.push_back(
          {.name = "posted", .metrics = {{"efficiency", {0.5, 0.25, 0.75}}}, .waits = {0, 1.5}});
      return out;
    });
    t.scenario = "name: smith\n";
    t.seeds = 2;
    id = runs->add(kAnn, std::move(t), ticket("k"))->id;
    ASSERT_TRUE(becomes(*runs, id, LabState::done));
  }
  auto runs = start();
  ASSERT_EQ(runs->list(kAnn).size(), 1u);
  EXPECT_TRUE(runs->list(kBob).empty());
  const auto found = runs->find(kAnn, id);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->run.state, LabState::done);
  EXPECT_EQ(found->run.progress, 1);
  EXPECT_EQ(found->run.scenario, "name: smith\n");
  ASSERT_NE(found->result, nullptr);
  EXPECT_EQ(found->result->report, "<p>\"page\"</p>");
  EXPECT_EQ(found->result->trades, "a,b\n1,2\n");
  EXPECT_EQ(found->result->summary->mechanisms.at(0).metrics.at("efficiency").high, 0.75);
  EXPECT_EQ(runs->add(kAnn, quick(), ticket("k"))->id, id) << "a repeat of the request";
  EXPECT_GT(runs->add(kAnn, quick(), ticket("k2"))->id, id) << "an id is never used again";
}

TEST_F(Restarted, ARunThatWasNotFinishedIsInterruptedAndKeepsWhatStartsItAgain) {
  std::vector<LabRunId> ids;
  {
    auto runs = start();
    for (const auto* key : {"a", "b"}) {
      auto t = endless();
      t.scenario = fmt::format("name: {}\n", key);
      t.seeds = 20;
      t.mechanisms = {"posted"};
      ids.push_back(runs->add(kAnn, std::move(t), ticket(key))->id);
    }
    ASSERT_TRUE(becomes(*runs, ids[0], LabState::running));
  }
  auto runs = start();
  for (const auto id : ids) {
    const auto found = runs->find(kAnn, id);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->run.state, LabState::interrupted);
    EXPECT_THAT(*found->run.error, HasSubstr("restarted"));
    EXPECT_TRUE(found->run.finished);
    EXPECT_THAT(*found->run.scenario, StartsWith("name: "));
    EXPECT_EQ(found->run.seeds, 20);
  }
  ASSERT_TRUE(runs->remove(kAnn, ids[0], ticket("x")));
  EXPECT_FALSE(start()->find(kAnn, ids[0])) << "what was forgotten does not come back";
}

TEST_F(Restarted, WhatIsForgottenForRoomLeavesNothing) {
  auto runs = start();
  for (std::size_t i = 0; i < LabRuns::kKept + 3; ++i) {
    const auto id = runs->add(kAnn, quick(), ticket(std::to_string(i)))->id;
    ASSERT_TRUE(becomes(*runs, id, LabState::done));
  }
  for (const auto& kind : {kLabRunRecords, kLabResultRecords})
    EXPECT_EQ(records_->latest(kind, 1'000)->size(), LabRuns::kKept);
}

TEST_F(Restarted, OneThatCannotBeReadStandsInNobodysWay) {
  ASSERT_TRUE(records_->put(kLabRunRecords, std::vector<journal::Record>{{7, {}, "{"}}));
  auto runs = start();
  EXPECT_TRUE(runs->list(kAnn).empty());
  EXPECT_EQ(runs->add(kAnn, quick(), ticket("k"))->id, LabRunId(8));
  EXPECT_EQ(records_->of(kLabRunRecords, 7, {}, {})->size(), 1u);
}

TEST_F(Restarted, FilesOfAnEarlierVersionAreTakenOver) {
  LabRunId id;
  {
    auto runs = start();
    auto t = quick();
    t.scenario = "name: smith\n";
    id = runs->add(kAnn, std::move(t), ticket("k"))->id;
    ASSERT_TRUE(becomes(*runs, id, LabState::done));
  }
  // As it was before there were records.
  std::filesystem::create_directories(folder_ / "lab");
  std::ofstream(folder_ / "lab/r1.json") << records_->of(kLabRunRecords, 1, {}, {})->front().bytes;
  std::ofstream(folder_ / "lab/r1.result.json")
      << records_->of(kLabResultRecords, 1, {}, {})->front().bytes;
  records_ = *journal::open_records("sqlite:" + std::string(folder_ / "fresh.db"));
  auto runs = start();
  ASSERT_EQ(runs->list(kAnn).size(), 1u);
  EXPECT_NE(runs->find(kAnn, id)->result, nullptr);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "lab"));
}

}  // namespace
}  // namespace souk::server
