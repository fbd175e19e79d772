#include <gmock/gmock.h>

#include "hub/testing/runs.h"

namespace souk::hub {
namespace {

using ::testing::HasSubstr;

// A model that is large enough for codecs to matter, and workers on links of their own.
class RunCodecs : public testing::RunTest {
 protected:
  static constexpr std::size_t kFloats = 100'000;

  void begin_large(std::string rule = "downpour", std::string codec = "auto") {
    spec_.rule = std::move(rule);
    spec_.rule_params.clear();
    spec_.codec = std::move(codec);
    spec_.shards = {{"a", 100'000}};
    open();
    const auto unit = ask(ann_);
    ASSERT_EQ(unit.kind, base::UnitKind::init);
    const auto made =
        tell(ann_, unit, {.tensors = {{"w", {kFloats}}}}, std::vector<float>(kFloats, 1.0F));
    ASSERT_TRUE(made.accepted) << made.reason;
  }
  // A unit of ten seconds, and an upload of so many for each byte of a number. What it was sent in.
  std::string work(base::LeaseId worker, int upload_seconds, std::uint64_t lender = 0) {
    static const std::map<std::string, double> bytes{
        {"fp32", 4}, {"fp16", 2}, {"int8", 1}, {"sparse2", 0.023}};
    const auto last = last_.find(worker);
    const auto upload = base::milliseconds(static_cast<std::int64_t>(
        upload_seconds * 1000 * (last == last_.end() ? 0 : bytes.at(last->second))));
    const auto next = run_->next(
        worker, {}, wire::TimeSpent{.compute = base::seconds(10), .upload = upload}, lender);
    EXPECT_TRUE(next);
    EXPECT_EQ(next->kind, base::UnitKind::train);
    last_[worker] = next->codec;
    const auto verdict = send(worker, *next, next->codec);
    EXPECT_TRUE(verdict.accepted) << verdict.reason;
    return next->codec;
  }
  wire::UnitVerdict send(base::LeaseId worker, const wire::Unit& unit, const std::string& codec) {
    clock_.advance(base::seconds(10));
    const auto made = *train::make_codec(codec);
    std::vector<float> residual(made->keeps_residual() ? kFloats : 0);
    EXPECT_TRUE(run_->receive(worker, unit.id, 0,
                              train::pack(std::vector<float>(kFloats, 0.01F), *made, residual)));
    const auto verdict = run_->complete(worker, unit.id, done_of(unit));
    EXPECT_TRUE(verdict);
    return *verdict;
  }
  std::string shown(std::size_t worker) { return run_->view().by_worker.at(worker).codec; }

  std::map<base::LeaseId, std::string> last_;
};

TEST_F(RunCodecs, ASlowWorkerSendsSmallUpdatesAndAFastOneAllOfIt) {
  begin_large();
  for (int i = 0; i < 6; ++i) {
    work(ann_, 0);
    work(bob_, 10);
  }
  EXPECT_EQ(work(ann_, 0), "fp32");
  EXPECT_EQ(work(bob_, 10), "sparse2");
  EXPECT_EQ(shown(0), "fp32");
  EXPECT_EQ(shown(1), "sparse2");
  EXPECT_EQ(run_->view().by_worker.at(1).rejected, 0);
}

TEST_F(RunCodecs, AnUpdateInAnotherCodecThanItsUnitsIsRefused) {
  begin_large();
  for (int i = 0; i < 12; ++i) work(ann_, 1);
  const auto unit = ask(ann_);
  ASSERT_EQ(unit.codec, "int8");
  const auto verdict = send(ann_, unit, "fp32");
  EXPECT_FALSE(verdict.accepted);
  EXPECT_THAT(verdict.reason, HasSubstr("not encoded as int8"));
}

// Else whoever says that the link is slow would not be checked by anybody.
TEST_F(RunCodecs, WhereOthersMayDoAUnitAgainNothingIsLeftOutOfIt) {
  begin_large();
  for (int i = 0; i < 12; ++i) {
    EXPECT_TRUE(run_->next(bob_, {}, std::nullopt, 2));
    EXPECT_NE(work(ann_, 10, 1), "sparse2") << i;
  }
  EXPECT_TRUE(run_->next(bob_, {}, std::nullopt, 2));
  EXPECT_EQ(work(ann_, 10, 1), "int8");
}

TEST_F(RunCodecs, WholeWeightsAreNeverSentInPart) {
  begin_large("vc-asgd");
  for (int i = 0; i < 8; ++i) work(ann_, 10);
  EXPECT_EQ(work(ann_, 10), "int8");
}

TEST_F(RunCodecs, AJobThatNamesACodecKeepsIt) {
  begin_large("downpour", "fp16");
  for (int i = 0; i < 8; ++i) EXPECT_EQ(work(ann_, 10), "fp16");
}

}  // namespace
}  // namespace souk::hub
