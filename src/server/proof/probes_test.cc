#include "server/proof/probes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "market/decide/decide.h"
#include "market/limits.h"
#include "market/testing/world.h"

namespace souk::server {
namespace {

using market::AimProbe;
using market::FinishLease;
using market::JobId;
using market::LeaseOutcome;
using market::MachineId;
using market::SubmitJob;
using market::testing::user;
using market::testing::wants;
using market::testing::World;

// A market with many lenders, a borrower who always has work, and an operator's probes.
class ProbedMarket : public World {
 public:
  explicit ProbedMarket(int lenders, std::int32_t ppm) : liar_(static_cast<std::size_t>(lenders)) {
    olga_ = account("olga", base::Credits(1'000'000'000'000));
    bob_ = account("bob", base::Credits(1'000'000'000'000));
    auto settings = s.settings;
    settings.probes_ppm = ppm;
    act(boss(), market::ChangeSettings{settings});
    for (int i = 0; i < lenders; ++i) {
      machines_.push_back(machine(account("lender" + std::to_string(i))));
      offer(machines_.back(), {.slots = 1, .reserve = base::Credits(1)});
    }
    for (int i = 0; i < 20; ++i) submit(boss(), 500, "right");
  }

  void lies(std::size_t lender) { liar_[lender] = true; }
  [[nodiscard]] bool is_liar(std::size_t lender) const { return liar_[lender]; }
  [[nodiscard]] bool caught(std::size_t lender) const {
    return !s.machines.at(machines_[lender]).doubted.empty();
  }
  [[nodiscard]] std::int64_t units(std::size_t lender) const { return units_.at(lender); }
  [[nodiscard]] std::int64_t probed() const { return probed_; }

  // Every machine that may do one unit of work does it, or says so.
  void pass() {
    units_.resize(machines_.size());
    if (!work_ || s.jobs.at(work_).done + std::ssize(machines_) > market::kPartsMax) {
      submit(user(bob_), market::kPartsMax, "");
      work_ = s.jobs.before(s.jobs.next());
    }
    now = now + base::seconds(20);
    probes_.on_tick(s, now, [this](market::Command c) -> base::Result<> {
      act(market::kSystem, std::move(c));
      return {};
    });
    act(market::kSystem, market::Clear{slot_class(), random_.next()});
    for (std::size_t i = 0; i < machines_.size(); ++i) work(i);
  }

 private:
  [[nodiscard]] market::Actor boss() const { return {olga_, market::Scope::operator_, {}}; }

  void act(const market::Actor& actor, market::Command command) {
    const auto done = market::execute(s, {now, actor, std::move(command)});
    ASSERT_TRUE(done) << done.error().message;
    for (const auto& event : *done) probes_.on_applied(s, event);
  }
  void submit(const market::Actor& who, std::int32_t uses, const std::string& expect) {
    SubmitJob job{"job", "batch", slot_class(),
                  wants(1, uses, base::Credits(1'000), base::Credits(1'000'000'000)), "sort"};
    job.retry = {.lost = true, .failed = true, .max = 10};
    job.expect = expect;
    act(who, job);
  }
  void work(std::size_t lender) {
    const auto open = s.index.leases_of[machines_[lender].value];
    for (const auto id : open) {
      const auto& lease = s.leases.at(id);
      const bool probe = market::is_probe(s.jobs.at(lease.job));
      ++(probe ? probed_ : units_[lender]);
      act(agent(machines_[lender]), market::StartLease{id, lease.epoch});
      act(agent(machines_[lender]), FinishLease{id, lease.epoch, LeaseOutcome::completed, "exit",
                                                liar_[lender] ? "made up" : "right", false, true});
    }
  }

  base::AccountId olga_, bob_;
  JobId work_;  // The borrower's, with parts for many rounds.
  base::Random random_{3};
  Probes probes_{17};
  std::vector<MachineId> machines_;
  std::vector<bool> liar_;
  std::vector<std::int64_t> units_;
  std::int64_t probed_ = 0;
};

TEST(Probes, AFifthThatLiesIsCaughtAndNoHonestMachineIsPunished) {
  constexpr std::size_t lenders = 250;
  ProbedMarket m(lenders, 5'000);
  for (std::size_t i = 0; i < lenders; i += 5) m.lies(i);
  std::vector<std::int64_t> until_caught;
  std::vector<bool> known(lenders);
  std::int64_t honest = 0;
  for (int round = 0; round < 600 && honest < 100'000; ++round) {
    m.pass();
    honest = 0;
    for (std::size_t i = 0; i < lenders; ++i) {
      if (!m.is_liar(i)) {
        honest += m.units(i);
        ASSERT_FALSE(m.caught(i)) << "an honest machine, after " << m.units(i);
      } else if (m.caught(i) && !known[i]) {
        known[i] = true;
        until_caught.push_back(m.units(i));
      }
    }
  }
  EXPECT_GE(honest, 100'000);
  std::ranges::sort(until_caught);
  ASSERT_GT(until_caught.size(), lenders / 10) << "more than half of the liars";
  EXPECT_LE(until_caught[lenders / 10], 20) << "the median of all liars";
  EXPECT_LE(static_cast<double>(m.probed()), 0.05 * static_cast<double>(honest));
}

TEST(Probes, WithoutAnyOrAtARateOfZeroNothingIsAimed) {
  ProbedMarket m(20, 0);
  for (int i = 0; i < 50; ++i) m.pass();
  EXPECT_EQ(m.probed(), 0);
}

}  // namespace
}  // namespace souk::server
