#include "hub/run/unit_book.h"

#include <gtest/gtest.h>

#include "hub/run/plan.h"
#include "hub/testing/names.h"
#include "wire/json.h"

namespace souk::hub {
namespace {

using base::Code;
using base::LeaseId;
using testing::kAnn;
using testing::kBob;
using train::UnitKind;

class UnitBookTest : public ::testing::Test {
 protected:
  static wire::Train spec() {
    wire::Train out{.rule = "downpour", .epochs = 50, .batch = 10, .local_steps = 20};
    out.shards = {{"a", 4'000}};
    out.validation = {{"v", 100}};
    return out;
  }
  static train::Layout layout() { return {{{"w", {11}}}}; }
  void begin() {
    auto opening = open(kAnn, book_.assign(kAnn, {}).id);
    ASSERT_TRUE(book_.initialised(*opening.report, {}, layout()).accepted);
  }
  UnitBook::Opening open(LeaseId worker, std::int64_t unit) {
    auto opening = book_.open(worker, unit);
    EXPECT_TRUE(opening) << opening.error().message;
    return *std::move(opening);
  }
  static PendingUpdate update(const OpenReport& report) {
    const auto worker = static_cast<std::int64_t>(report.worker().value);
    auto packed = train::pack(std::vector<float>(11, 0.25f), **train::make_codec("fp32"), {});
    static const auto codec = *train::make_codec("fp32");
    return {
        .contribution = {report.unit().id, 0, *train::Update::read(std::move(packed), *codec, 11)},
        .claim = {.worker = worker,
                  .unit = report.unit(),
                  .samples = 200,
                  .evidence = {.stats = {.finite = true, .norm = 1},
                               .steps = 20,
                               .loss = 0.5,
                               .worker = worker}},
        .wage = report.wage(1)};
  }
  wire::UnitVerdict train(LeaseId worker) {
    auto opening = open(worker, book_.assign(worker, {}).id);
    return book_.judge(*opening.report, update(*opening.report), std::nullopt);
  }

  base::FakeClock clock_{base::Time(1'000'000'000)};
  UnitBook book_{spec(), *train::Session::make(session_of(spec(), 2)), clock_};
};

TEST_F(UnitBookTest, AUnitStaysItsWorkersWhileItsReportIsJudged) {
  begin();
  const auto unit = book_.assign(kAnn, {});
  clock_.advance(base::seconds(3));
  auto opening = open(kAnn, unit.id);
  clock_.advance(base::hours(10));  // Long past its deadline.
  EXPECT_EQ(book_.assign(kAnn, {}).kind, UnitKind::wait);
  EXPECT_NE(book_.assign(kBob, {}).first_step, unit.first_step);
  EXPECT_EQ(book_.open(kAnn, unit.id).error().code, Code::unavailable);
  EXPECT_EQ(book_.check_sender(kAnn, unit.id).error().code, Code::unavailable);
  book_.gone(kAnn);
  EXPECT_TRUE(book_.judge(*opening.report, update(*opening.report), std::nullopt).accepted);
  EXPECT_TRUE(open(kAnn, unit.id).verdict.accepted);  // The first verdict.
  ASSERT_EQ(book_.owed().size(), 2u);
  EXPECT_EQ(book_.owed()[1].worked, base::seconds(3));  // Judging is not the worker's work.
}

TEST_F(UnitBookTest, OnceALeaseIsSealedNothingOfItIsAcceptedAndWhatWasAcceptedIsOwed) {
  begin();
  EXPECT_TRUE(train(kBob).accepted);
  const auto owed = book_.owed().size();
  const auto unit = book_.assign(kAnn, {});
  auto opening = open(kAnn, unit.id);
  book_.seal(kAnn);  // Its lease is about to close, while its report is being judged.
  EXPECT_FALSE(book_.judge(*opening.report, update(*opening.report), std::nullopt).accepted);
  EXPECT_FALSE(open(kAnn, book_.assign(kAnn, {}).id).report);
  EXPECT_EQ(book_.owed().size(), owed);
  book_.gone(kAnn);
  EXPECT_EQ(book_.assign(kBob, {}).first_step, unit.first_step);  // Somebody else does it.
}

TEST_F(UnitBookTest, AReportWithoutAVerdictChangesNothing) {
  begin();
  const auto unit = book_.assign(kAnn, {});
  {
    auto opening = open(kAnn, unit.id);
  }
  EXPECT_TRUE(book_.check_sender(kAnn, unit.id));
  {
    auto opening = open(kAnn, unit.id);
  }
  // The deadline is what it was.
  clock_.advance(unit.deadline - clock_.now());
  (void)book_.assign(kBob, {});
  EXPECT_FALSE(open(kAnn, unit.id).report);
  EXPECT_EQ(book_.owed().size(), 1u);
}

TEST_F(UnitBookTest, AWorkerThatLeavesWhileItsReportIsJudgedLeavesAfterwards) {
  begin();
  const auto unit = book_.assign(kAnn, {});
  {
    auto opening = open(kAnn, unit.id);
    book_.gone(kAnn);
    EXPECT_NE(book_.assign(kBob, {}).first_step, unit.first_step);
    book_.gone(kBob);
  }
  EXPECT_EQ(book_.assign(kBob, {}).first_step, unit.first_step);
}

TEST_F(UnitBookTest, WhatIsJudgedAfterTheEndIsNotAcceptedAndOwesNothing) {
  begin();
  auto opening = open(kAnn, book_.assign(kAnn, {}).id);
  ASSERT_TRUE(book_.finish("by its owner", {}));
  EXPECT_FALSE(book_.judge(*opening.report, update(*opening.report), std::nullopt).accepted);
  EXPECT_EQ(book_.owed().size(), 1u);
  ASSERT_TRUE(book_.final_parameters());
  EXPECT_EQ(book_.final_parameters()->reason, "by its owner");
}

TEST_F(UnitBookTest, NoMoreIsAcceptedThanCanWaitForAFold) {
  begin();
  int accepted = 0;
  while (!book_.crowded()) {
    ASSERT_TRUE(train(kAnn).accepted);
    ++accepted;
  }
  EXPECT_GE(accepted, 64);
  const auto unit = book_.assign(kAnn, {});
  EXPECT_EQ(book_.open(kAnn, unit.id).error().code, Code::unavailable);
  auto batch = book_.take_batch();
  EXPECT_EQ(std::ssize(batch), accepted);
  EXPECT_FALSE(book_.crowded());
  const auto first = batch.front().id;
  book_.give_back(std::move(batch));
  EXPECT_TRUE(book_.can_fold());
  EXPECT_EQ(book_.take_batch().front().id, first);
}

TEST_F(UnitBookTest, WhoseWageASnapshotKeepsHearsTheVerdictInTheNextLife) {
  begin();
  const auto unit = book_.assign(kAnn, {}).id;
  auto opening = open(kAnn, unit);
  const auto first = book_.judge(*opening.report, update(*opening.report), std::nullopt);
  ASSERT_TRUE(first.accepted);
  SavedParameters parameters;
  auto head = wire::from_json<SnapshotHead>(wire::to_json(book_.head(parameters)));
  ASSERT_TRUE(head);
  UnitBook next_life{spec(), *train::Session::make(session_of(spec(), 2)), clock_};
  next_life.restore(*std::move(head), {}, 0);
  const auto again = next_life.open(kAnn, unit);
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->report);
  EXPECT_TRUE(again->verdict.accepted);
  EXPECT_EQ(again->verdict.worked, first.worked);
}

TEST_F(UnitBookTest, NoMoreIsAcceptedThanCanBeOwed) {
  begin();
  SavedParameters parameters;
  auto head = book_.head(parameters);
  head.owed.clear();
  for (std::size_t i = 1; i <= Wages::kMost; ++i)
    head.owed.push_back({static_cast<std::int64_t>(i), kAnn, 1, base::seconds(1)});
  book_.restore(std::move(head), {}, 0);
  const auto unit = book_.assign(kAnn, {});
  EXPECT_EQ(book_.open(kAnn, unit.id).error().code, Code::unavailable);
  book_.acknowledge(1);
  EXPECT_TRUE(open(kAnn, unit.id).report);
}

// A worker fetches the next unit while it computes one. What it is paid is never more than the time
// that passed, whatever it keeps and whenever it reports.
TEST_F(UnitBookTest, AWorkerWithTwoUnitsIsPaidForNoTimeTwice) {
  begin();
  const auto start = clock_.now();
  const auto began = book_.owed().size();
  auto unit = book_.assign(kAnn, {});
  for (int i = 0; i < 5; ++i) {
    const auto ahead = book_.assign(kAnn, {}, 0, unit.id);
    ASSERT_EQ(ahead.kind, UnitKind::train);
    clock_.advance(base::seconds(10));
    auto opening = open(kAnn, unit.id);
    clock_.advance(base::seconds(2));  // The next is computed while this is judged.
    EXPECT_TRUE(book_.judge(*opening.report, update(*opening.report), std::nullopt).accepted);
    unit = ahead;
  }
  base::Duration paid;
  const auto owed = book_.owed();
  for (auto i = began; i < owed.size(); ++i) paid = paid + owed[i].worked;
  EXPECT_EQ(owed.size() - began, 5u);
  EXPECT_EQ(paid, base::seconds(5 * 12 - 2));
  EXPECT_LE(paid, clock_.now() - start);
}

TEST_F(UnitBookTest, TimeOfARefusedUnitIsNotPaidWithTheNext) {
  begin();
  const auto a = book_.assign(kAnn, {}), b = book_.assign(kAnn, {}, 0, a.id);
  clock_.advance(base::seconds(10));
  auto first = open(kAnn, a.id);
  EXPECT_FALSE(book_.refuse(*first.report, "no").accepted);
  clock_.advance(base::seconds(3));
  auto second = open(kAnn, b.id);
  EXPECT_EQ(book_.judge(*second.report, update(*second.report), std::nullopt).worked,
            base::seconds(3));
}

}  // namespace
}  // namespace souk::hub
