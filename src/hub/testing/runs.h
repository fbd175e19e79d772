#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "blob/store.h"
#include "hub/run/run.h"
#include "train/pull.h"

namespace souk::hub::testing {

// A hub with one job of two tensors (eleven floats), 40 steps an epoch, and workers played by hand.
class RunTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("souk-run-" + std::to_string(::getpid()));
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    auto store = blob::Store::open((folder_ / "blobs").string());
    ASSERT_TRUE(store);
    blobs_ = *std::move(store);
    spec_.rule = "downpour";
    spec_.rule_params = {{"eta", 1}};
    spec_.epochs = 2;
    spec_.batch = 10;
    spec_.local_steps = 20;
    spec_.shards = {{"a", 200}, {"b", 200}};
    spec_.validation = {{"v", 100}};
    open();
  }
  void TearDown() override {
    run_.reset();
    blobs_.reset();
    std::filesystem::remove_all(folder_);
  }

  virtual std::unique_ptr<ParameterStore> store() { return make_memory_store(); }

  // As after a crash: everything but the disk is gone.
  void open() {
    run_.reset();
    auto opened = hub::Run::open(spec_, workers_, *blobs_, clock_,
                                 {.pointer = (folder_ / pointer_).string(),
                                  .snapshot_updates = 2,
                                  .hubs = hubs_.get(),
                                  .job = "j1",
                                  .paid_through = paid_through_},
                                 store());
    ASSERT_TRUE(opened) << opened.error().message;
    run_ = *std::move(opened);
  }
  wire::Unit ask(base::LeaseId worker) {
    auto unit = run_->next(worker, {});
    EXPECT_TRUE(unit);
    return *unit;
  }
  wire::UnitVerdict tell(base::LeaseId worker, const wire::Unit& unit, wire::UnitDone done,
                         const std::vector<float>& values) {
    clock_.advance(base::seconds(1));
    if (!values.empty()) {
      const auto body = packed(values);
      // In two pieces, the first of them twice.
      const auto half = body.size() / 2;
      EXPECT_TRUE(run_->receive(worker, unit.id, 0, std::string_view(body).substr(0, half)));
      EXPECT_TRUE(run_->receive(worker, unit.id, 0, std::string_view(body).substr(0, half)));
      EXPECT_TRUE(run_->receive(worker, unit.id, static_cast<std::int64_t>(half),
                                std::string_view(body).substr(half)));
    }
    auto verdict = run_->complete(worker, unit.id, done);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return verdict ? *std::move(verdict) : wire::UnitVerdict{};
  }
  static std::string packed(const std::vector<float>& values) {
    return train::pack(values, **train::make_codec("fp32"), {});
  }
  void begin() {
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, base::UnitKind::init);
    const wire::UnitDone done{.tensors = {{"w", {2, 5}}, {"b", {1}}}};
    EXPECT_TRUE(tell(ann_, unit, done, std::vector<float>(11, 1.0f)).accepted);
  }
  wire::UnitVerdict train(base::LeaseId worker, float delta) {
    const auto unit = ask(worker);
    EXPECT_EQ(unit.kind, base::UnitKind::train);
    return tell(worker, unit, done_of(unit), std::vector<float>(11, delta));
  }
  wire::UnitDone done_of(const wire::Unit& unit) const {
    return {
        .base = run_->view().version, .steps = unit.steps, .samples = unit.steps * 10, .loss = 0.5};
  }
  std::vector<float> values() {
    std::vector<float> out(11);
    const auto bytes = run_->pull(ann_, {-1, std::nullopt});
    EXPECT_TRUE(bytes);
    EXPECT_TRUE(train::unpack_changed(bytes->joined(), out));
    return out;
  }

  const base::LeaseId ann_{7}, bob_{8};
  std::filesystem::path folder_;
  std::filesystem::path pointer_ = "pointer";  // Below folder_.
  std::int64_t paid_through_ = 0;
  std::int32_t workers_ = 2;
  base::FakeClock clock_{base::Time(1'000'000'000)};
  std::unique_ptr<blob::Store> blobs_;
  wire::Train spec_;
  std::unique_ptr<Remote> hubs_;
  std::unique_ptr<hub::Run> run_;
};

}  // namespace souk::hub::testing
