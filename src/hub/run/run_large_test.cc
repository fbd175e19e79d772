#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>

#include "base/random.h"
#include "hub/stores/stores.h"
#include "hub/testing/runs.h"

// Models that are larger than a request: pieces, files, and what is kept of them.

namespace souk::hub {
namespace {

using base::Code;
using base::UnitKind;

constexpr std::size_t kFourBlocks = 3 * train::kBlock + 5;  // Floats: the last block has five.

class LargeRun : public testing::RunTest {
 protected:
  void open_large() {
    run_.reset();
    auto opened = Run::open(
        spec_, workers_, *blobs_, clock_,
        {.pointer = (folder_ / pointer_).string(),
         .snapshot_updates = 1,
         .memory = &memory_,
         .owner = "a1",
         .spill = {.folder = folder_.string(), .over = 1 << 20, .disk = &disk_, .owner = "a1"}},
        store());
    ASSERT_TRUE(opened) << opened.error().message;
    run_ = *std::move(opened);
  }
  // Numbers from `least` to `least` + 1 that do not compress.
  static std::vector<float> noise(float least) {
    base::Random random(1);
    std::vector<float> values(kFourBlocks);
    for (auto& v : values) v = least + static_cast<float>(random.next() >> 40) / (1 << 24);
    return values;
  }
  static std::string noisy(float least) { return packed(noise(least)); }
  void send(base::LeaseId worker, const wire::Unit& unit, std::string_view bytes) {
    for (std::size_t at = 0; at < bytes.size(); at += 1 << 20) {
      const auto size =
          run_->receive(worker, unit.id, static_cast<std::int64_t>(at), bytes.substr(at, 1 << 20));
      ASSERT_TRUE(size) << size.error().message;
    }
  }
  void begin_large() {
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, UnitKind::init);
    send(ann_, unit, noisy(1));
    const auto verdict = run_->complete(
        ann_, unit.id, {.tensors = {{"w", {static_cast<std::int64_t>(kFourBlocks)}}}});
    ASSERT_TRUE(verdict && verdict->accepted) << verdict->reason;
  }
  wire::UnitVerdict finish(base::LeaseId worker, const wire::Unit& unit, const std::string& bytes,
                           std::optional<std::int64_t> said = {}) {
    clock_.advance(base::seconds(1));
    auto done = done_of(unit);
    done.bytes = said.value_or(std::ssize(bytes));
    const auto verdict = run_->complete(worker, unit.id, done);
    EXPECT_TRUE(verdict);
    return verdict ? *verdict : wire::UnitVerdict{};
  }
  // All of it in pieces of a block; gives the version of each.
  std::vector<std::int64_t> pull_all(
      base::LeaseId worker, std::vector<float>& values,
      const std::function<void()>& between = [] {}) {
    values.resize(kFourBlocks);
    std::vector<std::int64_t> versions;
    for (std::size_t from = 0; from < train::count_blocks(kFourBlocks);) {
      PullPiece wanted{.from = from, .most_bytes = 1};
      if (!versions.empty()) wanted.at = versions.front();
      const auto bytes = run_->pull(worker, {.piece = wanted});
      EXPECT_TRUE(bytes) << bytes.error().message;
      const auto joined = bytes->joined();
      const auto piece = train::read_piece(joined, kFourBlocks, from);
      EXPECT_TRUE(piece);
      for (const auto& block : piece->blocks)
        std::memcpy(values.data() + block.at, block.floats.data(), block.floats.size());
      versions.push_back(piece->version);
      from = piece->next;
      between();
    }
    return versions;
  }

  base::Budget memory_{
      "training-bytes", "of memory", base::BudgetUnit::bytes, {.each = 64 << 20, .all = 64 << 20}};
  base::Budget disk_{
      "training-disk", "of files", base::BudgetUnit::bytes, {.each = 64 << 20, .all = 64 << 20}};
};

TEST_F(LargeRun, UpdatesWaitInFilesAreFoldedOnceAndSurviveACrash) {
  open_large();
  begin_large();
  EXPECT_EQ(disk_.used_in_all(), 0U);
  const auto unit = ask(ann_);
  const auto bytes = noisy(0);
  send(ann_, unit, bytes);
  EXPECT_GE(disk_.used("a1"), kFourBlocks * sizeof(float) / 2);
  EXPECT_LT(memory_.used("a1"), 2 * kFourBlocks * sizeof(float));
  const auto first = finish(ann_, unit, bytes);
  EXPECT_TRUE(first.accepted) << first.reason;
  EXPECT_EQ(disk_.used_in_all(), 0U) << "folded";
  const auto again = finish(ann_, unit, bytes);
  EXPECT_TRUE(again.accepted) << "the first verdict";
  std::vector<float> values, after;
  pull_all(ann_, values);
  EXPECT_NEAR(values[7], noise(1)[7] + noise(0)[7], 1e-5);
  open_large();
  pull_all(ann_, after);
  EXPECT_EQ(values, after);
}

TEST_F(LargeRun, AnUpdateThatDidNotArriveWholeIsNobodysFault) {
  open_large();
  begin_large();
  const auto unit = ask(ann_);
  const auto bytes = noisy(0);
  send(ann_, unit, std::string_view(bytes).substr(0, bytes.size() / 2));
  const auto verdict = finish(ann_, unit, bytes);
  EXPECT_FALSE(verdict.accepted);
  EXPECT_THAT(verdict.reason, ::testing::HasSubstr("bytes of its update have arrived"));
  for (const auto& w : run_->view().by_worker) EXPECT_EQ(w.rejected, 0);
  EXPECT_EQ(disk_.used_in_all(), 0U);
}

TEST_F(LargeRun, AUnitWhosePiecesArriveSlowlyDoesNotExpireAndOneThatDribblesDoes) {
  for (const bool dribbles : {false, true}) {
    pointer_ = dribbles ? "dribbles" : "slow";
    open_large();
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, UnitKind::init);
    const auto bytes = noisy(1);
    const std::size_t each = dribbles ? 1 : 1 << 20;
    clock_.advance(unit.within - base::seconds(10));
    std::size_t at = 0;
    bool given = true;
    for (int i = 0; i < 2 && given; ++i, at += each) {
      given = run_->receive(ann_, unit.id, static_cast<std::int64_t>(at),
                            std::string_view(bytes).substr(at, each))
                  .has_value();
      clock_.advance(base::seconds(15));  // A mebibyte is worth 21 s.
      EXPECT_EQ(ask(bob_).kind, dribbles ? UnitKind::init : UnitKind::wait) << i;
    }
    EXPECT_EQ(given, !dribbles);
  }
}

TEST_F(LargeRun, PiecesSayWhichVersionTheyAreOf) {
  open_large();
  begin_large();
  const auto anns = ask(ann_);
  const auto bytes = noisy(0);
  send(ann_, anns, bytes);
  std::vector<float> values;
  bool folded = false;
  const auto versions = pull_all(bob_, values, [&] {
    if (!std::exchange(folded, true)) EXPECT_TRUE(finish(ann_, anns, bytes).accepted);
  });
  EXPECT_THAT(versions, ::testing::ElementsAre(0, 1, 1, 1));
}

TEST_F(LargeRun, WhereTheBaseMattersAllPiecesAreOfOneVersion) {
  spec_.rule = "dc-asgd";
  spec_.rule_params = {};
  open_large();
  begin_large();
  std::vector<float> before, values;
  pull_all(ann_, before);
  const auto anns = ask(ann_);
  const auto bytes = noisy(0);
  send(ann_, anns, bytes);
  bool folded = false;
  const auto versions = pull_all(bob_, values, [&] {
    if (!std::exchange(folded, true)) EXPECT_TRUE(finish(ann_, anns, bytes).accepted);
  });
  EXPECT_EQ(run_->view().version, 1);
  EXPECT_THAT(versions, ::testing::Each(0));
  EXPECT_EQ(values, before);
}

TEST_F(LargeRun, WithoutRoomForItsUpdateAWorkerWaits) {
  disk_.set_limit({.each = 1 << 20, .all = 1 << 20});
  open_large();
  const auto unit = ask(ann_);
  const auto bytes = noisy(1);
  ASSERT_TRUE(run_->receive(ann_, unit.id, 0, std::string_view(bytes).substr(0, 1 << 20)));
  const auto refused =
      run_->receive(ann_, unit.id, 1 << 20, std::string_view(bytes).substr(1 << 20, 1 << 20));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::unavailable);
  EXPECT_THAT(refused.error().message, ::testing::HasSubstr("training-disk"));
}

}  // namespace
}  // namespace souk::hub
