#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "agent/coach.h"
#include "agent/testing/leases.h"
#include "agent/testing/played_trainer.h"
#include "agent/testing/training_market.h"
#include "base/testing/eventually.h"
#include "blob/testing/samples.h"

namespace souk::agent::testing {

inline constexpr const char* kAsk = "POST /v1/leases/l1/units";
inline constexpr const char* kPull = "GET /v1/leases/l1/parameters";

// A coach between a trainer that the test plays and a market that the test scripts.
class CoachTest : public ::testing::Test {
 protected:
  using Answers = std::map<std::string, PlayedTrainer::Answer>;

  explicit CoachTest(std::size_t size = 4) : market(size), size_(size) {
    std::filesystem::create_directory(scratch_);
  }

  void start(Answers instead = {}, const std::string& codec = "fp32") {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    trainer.emplace(base::Fd(ends[1]), scratch_, size_, std::move(instead));
    options.lease = training_lease(codec);
    options.link = market.link(timeout);
    options.store = store_.get();
    options.folder = scratch_;
    options.say = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      said_ += std::string(line) + "\n";
    };
    coach.emplace(options, base::Fd(ends[0]));
  }
  // Waits for the coach's end; why it failed.
  std::string finish() {
    if (!base::testing::eventually([&] { return coach->finished(); }))
      return "the coach does not end";
    return coach->failure();
  }
  std::string said() {
    const std::lock_guard lock(mutex_);
    return said_;
  }
  std::string report(std::int64_t unit, std::string_view what) {
    const auto reports = market.bodies(TrainingMarket::report_of(unit));
    return reports.empty() ? "no report" : field(reports.back(), what);
  }

  TrainingMarket market;
  CoachOptions options{.shard_bytes = 1'000, .grace = base::minutes(1)};
  base::Duration timeout = base::minutes(1);
  std::optional<PlayedTrainer> trainer;
  std::optional<Coach> coach;

 private:
  const std::size_t size_;
  const blob::testing::Folder folder_;
  const std::string scratch_ = folder_ / "work";
  std::unique_ptr<blob::Store> store_ = *blob::Store::open(folder_ / "store");
  std::mutex mutex_;
  std::string said_;
};

}  // namespace souk::agent::testing
