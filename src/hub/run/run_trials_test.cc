#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "hub/testing/runs.h"

// Updates that are judged by what they do to the loss (validators: [score]).

namespace souk::hub {
namespace {

using base::LeaseId;
using base::UnitKind;

// Workers of different owners who learn eleven numbers: the best are all zero, the first all one.
// The loss is the mean square, so whoever measures it finds what an update does.
class RunTrials : public testing::RunTest {
 protected:
  enum class Conduct { honest, turns_round, adds_noise, accuses };
  struct Member {
    LeaseId lease;
    Conduct conduct = Conduct::honest;
    int refused = 0, trained = 0, measured = 0;
  };

  void SetUp() override {
    testing::RunTest::SetUp();
    spec_.rule = "mean";
    spec_.rule_params = {};
    spec_.validators = {"finite", "score:1"};
    spec_.epochs = 4;
    spec_.local_steps = 1;
    spec_.trainer = wire::Trainer::python;  // Nobody does units again.
    pointer_ = "trials";
    workers_ = 5;
    open();
  }

  std::vector<float> pulled(LeaseId worker, std::optional<std::int64_t> version,
                            std::int64_t& base) {
    const auto bytes = run_->pull(worker, {.version = version});
    EXPECT_TRUE(bytes) << bytes.error().message;
    std::vector<float> out(11);
    base = *train::unpack_changed(bytes->joined(), out);
    return out;
  }
  static double loss_of(const std::vector<float>& w) {
    return std::inner_product(w.begin(), w.end(), w.begin(), 0.0) / 11;
  }

  // One turn of a worker; false: the training is over.
  bool turn(Member& m) {
    clock_.advance(base::milliseconds(200));
    const auto unit = run_->next(m.lease, {}, std::nullopt, m.lease.value);
    EXPECT_TRUE(unit) << unit.error().message;
    if (unit->kind == UnitKind::finish) return false;
    if (unit->kind == UnitKind::wait) return true;
    wire::UnitDone done{.steps = unit->steps, .samples = unit->steps * 10, .loss = 0.5};
    std::vector<float> sent;
    if (unit->kind == UnitKind::init) {
      done.tensors = {{"w", {2, 5}}, {"b", {1}}};
      sent.assign(11, 1.0f);
    } else if (unit->kind == UnitKind::evaluate) {
      const auto w = pulled(m.lease, unit->version, done.base);
      done.samples = 100;
      done.loss = loss_of(w);
      if (m.conduct == Conduct::accuses && unit->version > (std::int64_t{1} << 32)) done.loss = 9;
      ++m.measured;
    } else {
      sent = pulled(m.lease, std::nullopt, done.base);
      for (auto& v : sent) v = changed(m, v);
      ++m.trained;
    }
    if (!sent.empty()) EXPECT_TRUE(run_->receive(m.lease, unit->id, 0, packed(sent)));
    const auto verdict = run_->complete(m.lease, unit->id, done);
    EXPECT_TRUE(verdict) << verdict.error().message;
    return true;
  }
  float changed(const Member& m, float v) {
    const auto noise = static_cast<float>(random_.unit() - 0.5) * 0.01F;
    if (m.conduct == Conduct::turns_round) return 0.1F * v;
    if (m.conduct == Conduct::adds_noise) return noise * 10;
    return -0.1F * v + noise;
  }

  void play(std::vector<Member>& all) {
    for (int i = 0; i < 5'000; ++i)
      for (auto& m : all)
        if (!turn(m)) {
          for (const auto& w : run_->view().by_worker)
            for (auto& one : all)
              if (w.worker == to_string(one.lease)) one.refused = static_cast<int>(w.rejected);
          return;
        }
    FAIL() << "it has no end: " << run_->view().useful_steps << " steps";
  }
  static std::vector<Member> crowd(Conduct last) {
    std::vector<Member> out;
    for (std::uint64_t i = 1; i <= 5; ++i) out.push_back({LeaseId{i}});
    out.back().conduct = last;
    return out;
  }

  base::Random random_{1};
};

TEST_F(RunTrials, HonestWorkersAreNotPunishedAndAllStepsCount) {
  auto all = crowd(Conduct::honest);
  play(all);
  int measured = 0;
  for (const auto& m : all) {
    EXPECT_EQ(m.refused, 0);
    measured += m.measured;
  }
  EXPECT_GT(measured, 50);  // Two for each update, two updates at a time.
  EXPECT_EQ(run_->view().useful_steps, 160);
  EXPECT_LT(loss_of(values()), 0.1);
}

TEST_F(RunTrials, WhoTurnsItsUpdatesRoundIsRefused) {
  auto all = crowd(Conduct::turns_round);
  play(all);
  EXPECT_GT(all.back().refused, 2);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i].refused, 0) << i;
  EXPECT_EQ(run_->view().useful_steps, 160);
  EXPECT_LT(loss_of(values()), 0.1);
}

TEST_F(RunTrials, AFreeRiderWhoSendsNoiseIsRefusedWhileOthersLearn) {
  auto all = crowd(Conduct::adds_noise);
  play(all);
  EXPECT_GT(all.back().refused, 0);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(all[i].refused, 0) << i;
}

TEST_F(RunTrials, OneAccuserIsNotBelieved) {
  auto all = crowd(Conduct::accuses);
  play(all);
  for (const auto& m : all) EXPECT_EQ(m.refused, 0);
  EXPECT_EQ(run_->view().useful_steps, 160);
}

TEST_F(RunTrials, WhoeverMeasuresIsPaidAndWhoIsRefusedIsNot) {
  auto all = crowd(Conduct::turns_round);
  play(all);
  std::map<LeaseId, int> wages;
  for (const auto& wage : run_->owed()) ++wages[wage.lease];
  for (const auto& m : all)
    EXPECT_EQ(wages[m.lease], m.trained + m.measured - m.refused + (m.lease == LeaseId{1} ? 1 : 0))
        << m.lease.value;
}

TEST_F(RunTrials, AnUpdateWhoseWitnessesLeaveIsFoldedAllTheSame) {
  auto all = crowd(Conduct::honest);
  while (run_->view().version < 1) EXPECT_TRUE(turn(all[0]));
  // Somebody measures the first half, and goes.
  while (all[1].measured == 0) {
    EXPECT_TRUE(turn(all[0]));
    EXPECT_TRUE(turn(all[1]));
  }
  run_->gone(all[1].lease);
  for (int i = 0; i < 2'000 && turn(all[0]); ++i) continue;
  EXPECT_EQ(run_->view().useful_steps, 160);
}

TEST_F(RunTrials, RoundsAndTrainingsWithoutValidationAreRefusedInWords) {
  spec_.rule = "fedavg";
  const auto rounds = hub::Run::open(spec_, 2, *blobs_, clock_, {}, make_memory_store());
  ASSERT_FALSE(rounds);
  EXPECT_EQ(rounds.error().field, "validators");
  spec_.rule = "mean";
  spec_.validation = {};
  const auto blind = hub::Run::open(spec_, 2, *blobs_, clock_, {}, make_memory_store());
  ASSERT_FALSE(blind);
  EXPECT_NE(blind.error().hint.find("validation data"), std::string::npos);
}

}  // namespace
}  // namespace souk::hub
