#include "market/decide/larger_class.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "market/decide/decider.h"
#include "market/limits.h"
#include "market/testing/world.h"
#include "market/why.h"

// Jobs that named no class, where their own has nothing on offer.

namespace souk::market::testing {
namespace {

using base::minutes;
using ::testing::HasSubstr;

const MachineSpec kWithGpu{
    .cores = 8, .memory_mib = 65'536, .gpus = 1, .gpu_memory_mib = 81'920, .gpu = "H200"};

// A lender's machine with a GPU, and a borrower.
struct GpuWorld : World {
  AccountId lena = account("lena"), bob = account("bob", 100_cr), gina = account("gina", 100_cr);
  MachineId big = machine(lena, kWithGpu);
  ClassId c1 = slot_class("c1"), g1 = slot_class("g1");

  // A job whose class was derived from what it asks for.
  JobId derived(JobTerms terms = wants(1, 1, 1_cr, 5_cr), std::string_view least = "c1",
                AccountId owner = {}) {
    run(user(owner ? owner : bob), SubmitJob{.name = "job",
                                             .slot_class = slot_class(least),
                                             .terms = std::move(terms),
                                             .work = "sort",
                                             .least_class = slot_class(least)});
    return s.jobs.before(s.jobs.next());
  }
  OfferId lend_gpu(Credits reserve = 0.5_cr) {
    return offer(big, {.slots = 1, .reserve = reserve}, "g1");
  }
  Events rounds() {
    auto all = clear("c1");
    for (auto& e : clear("g1")) all.push_back(std::move(e));
    return all;
  }
};

TEST(LargerClass, AJobThatAsksForNothingRunsOnAMachineThatLendsOnlyAGpu) {
  GpuWorld w;
  w.lend_gpu();
  const auto job = w.derived();
  const auto events = w.rounds();
  const auto moved = only<JobMoved>(events);
  EXPECT_EQ(moved.slot_class, w.g1);
  EXPECT_EQ(moved.why, "no slot of c1 that fits is on offer within its limit, and 1 of g1 is");
  EXPECT_EQ(count<LeaseGranted>(events), 1u);
  EXPECT_EQ(w.at(job).held, 1);
  EXPECT_TRUE(is_guest(w.at(job)));
}

TEST(LargerClass, AJobThatNamedItsClassStays) {
  GpuWorld w;
  w.lend_gpu();
  const auto job = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u);
  EXPECT_EQ(w.at(job).slot_class, w.c1);
}

TEST(LargerClass, NobodyMovesToWhatIsDearerThanItsLimit) {
  GpuWorld w;
  w.lend_gpu(2_cr);
  w.derived();
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u);
  const auto job = w.derived(wants(1, 1, 2_cr, 5_cr));
  EXPECT_EQ(only<JobMoved>(w.rounds()).job, job);
}

TEST(LargerClass, AnOfferAtTheMarketsPriceIsNotTakenForAFreeOne) {
  GpuWorld w;
  w.offer(w.big, {.slots = 1}, "g1");
  const auto asks = market_ask(w.s, w.s.slot_class(w.g1), w.now);
  w.derived(wants(1, 1, 0.1_cr, 5_cr));
  EXPECT_EQ(count<JobMoved>(w.rounds()), asks > 0.1_cr ? 0u : 1u);
}

TEST(LargerClass, NobodyMovesToAMachineThatLacksItsPackages) {
  GpuWorld w;
  w.lend_gpu();
  auto terms = wants(1, 1, 1_cr, 5_cr);
  terms.constraints.packages = {"torch"};
  w.derived(terms);
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u);
  auto spec = kWithGpu;
  spec.packages = {"torch"};
  w.offer(w.machine(w.lena, spec), {.slots = 1, .reserve = 0.5_cr}, "g1");
  EXPECT_EQ(count<JobMoved>(w.rounds()), 1u);
}

TEST(LargerClass, ItsOwnClassIsWaitedForWhileItsMachinesAreOnlyBusy) {
  GpuWorld w;
  w.offer(w.machine(w.lena), {.slots = 1, .reserve = 0.1_cr}, "c1");
  w.lend_gpu();
  w.derived();
  EXPECT_EQ(count<LeaseGranted>(w.rounds()), 1u);
  const auto second = w.derived();
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u);
  EXPECT_EQ(w.at(second).slot_class, w.c1);
  // It needs two at once, and its own class has one in all.
  const auto third = w.derived(wants(2, 2, 1_cr, 5_cr));
  w.offer(w.machine(w.lena, kWithGpu), {.slots = 1, .reserve = 0.5_cr}, "g1");
  EXPECT_EQ(only<JobMoved>(w.rounds()).job, third);
}

TEST(LargerClass, NoMoreMoveThanThereAreFreeSlots) {
  GpuWorld w;
  w.lend_gpu();
  const auto first = w.derived();
  for (int i = 0; i < 5; ++i) w.derived();
  const auto events = w.rounds();
  EXPECT_EQ(only<JobMoved>(events).job, first) << "the first in line";
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u) << "none is free";
}

TEST(LargerClass, AGuestNeverTakesASlotFromAJobThatNeedsTheClass) {
  GpuWorld w;
  w.lend_gpu();
  const auto guest = w.derived(wants(1, 1, 5_cr, 10_cr));
  w.clear("c1");
  ASSERT_EQ(w.at(guest).slot_class, w.g1);
  const auto needs = w.job(w.gina, wants(1, 1, 0.6_cr, 5_cr), "g1");
  w.clear("g1");
  EXPECT_EQ(w.at(needs).held, 1) << "it bids less, and needs the GPU";
  EXPECT_EQ(w.at(guest).held, 0);
}

TEST(LargerClass, AGuestPaysWhatIsAskedAndDoesNotRaiseThePriceOfThoseWhoNeedTheClass) {
  GpuWorld w;
  w.lend_gpu();
  w.offer(w.machine(w.lena, kWithGpu), {.slots = 1, .reserve = 0.5_cr}, "g1");
  const auto guest = w.derived(wants(1, 1, 5_cr, 10_cr));
  w.clear("c1");
  const auto needs = w.job(w.gina, wants(1, 1, 0.6_cr, 5_cr), "g1");
  w.clear("g1");
  ASSERT_EQ(w.at(needs).held, 1);
  ASSERT_EQ(w.at(guest).held, 1);
  EXPECT_LE(w.at(w.at(needs).leases[0]).term.pays, 0.6_cr);
  EXPECT_LE(w.at(w.at(guest).leases[0]).term.pays, 5_cr);
}

TEST(LargerClass, AGuestThatStillWaitsGoesBackWhenItsOwnClassHasSlots) {
  GpuWorld w;
  w.lend_gpu();
  const auto guest = w.derived();
  w.clear("c1");
  w.job(w.gina, wants(1, 1, 2_cr, 5_cr), "g1");
  w.clear("g1");
  ASSERT_EQ(w.at(guest).held, 0);
  EXPECT_EQ(count<JobMoved>(w.rounds()), 0u) << "there is nowhere else";
  w.offer(w.machine(w.lena), {.slots = 1, .reserve = 0.1_cr}, "c1");
  const auto back = only<JobMoved>(w.rounds());
  EXPECT_EQ(back.slot_class, w.c1);
  EXPECT_EQ(back.why, "slots of c1 are on offer again");
  w.rounds();
  EXPECT_EQ(w.at(guest).held, 1);
  EXPECT_FALSE(is_guest(w.at(guest)));
}

// What is paid by accepted work loses nothing; what is paid by time would.
TEST(LargerClass, ATrainingLeavesAtTheEndOfItsTermToAJobThatNeedsTheClassAndAProgramStays) {
  for (const auto pay : {Pay::work, Pay::time}) {
    GpuWorld w;
    w.lend_gpu();
    w.run(user(w.bob), SubmitJob{.name = "job",
                                 .slot_class = w.c1,
                                 .terms = wants(1, 1, 1_cr, 5_cr),
                                 .work = "fit",
                                 .pay = pay,
                                 .least_class = w.c1});
    const auto guest = w.s.jobs.before(w.s.jobs.next());
    w.rounds();
    const auto lease = w.start_all(guest).at(0);
    const auto first_end = w.at(lease).term.until;
    w.pass(w.s.settings.term);
    EXPECT_GT(w.at(lease).term.until, first_end) << "nobody else wants it";
    const auto needs = w.job(w.gina, wants(1, 1, 1_cr, 5_cr), "g1");
    for (int i = 0; i < 3; ++i) {
      w.pass(w.s.settings.term);
      w.rounds();
    }
    EXPECT_EQ(w.at(needs).held, pay == Pay::work ? 1 : 0);
    EXPECT_EQ(w.at(guest).held, pay == Pay::work ? 0 : 1);
  }
}

TEST(LargerClass, TheSmallestThatHoldsTheJobIsTaken) {
  GpuWorld w;
  w.lend_gpu();
  w.offer(w.machine(w.lena), {.slots = 1, .reserve = 0.9_cr}, "c4");
  const auto job = w.derived();
  EXPECT_EQ(only<JobMoved>(w.rounds()).slot_class, w.slot_class("c4"));
  // What asks for eight cores does not fit into g1, which has four.
  const auto wide = w.derived(wants(1, 1, 1_cr, 5_cr), "c8");
  EXPECT_EQ(count<JobMoved>(w.clear("c8")), 0u);
  EXPECT_EQ(w.at(wide).slot_class, w.slot_class("c8"));
  EXPECT_NE(w.at(job).slot_class, w.c1);
}

TEST(LargerClass, OnlySoManyDemandsAreLookedAtInOneRoundAndAllInTheEnd) {
  GpuWorld w;
  const auto all = kConstraintSets + 8;
  MachineSpec spec{.cores = 400, .memory_mib = 1 << 24, .gpus = 100, .gpu_memory_mib = 81'920};
  for (std::size_t i = 0; i < all; ++i) spec.packages.push_back("p" + std::to_string(i));
  w.offer(w.machine(w.lena, spec), {.slots = 100, .reserve = 0.001_cr}, "g1");
  for (std::size_t i = 0; i < all; ++i) {
    auto terms = wants(1, 1, 1_cr, 0.1_cr);
    terms.constraints.packages = {spec.packages[i]};
    w.derived(terms);
  }
  EXPECT_EQ(count<JobMoved>(w.clear("c1", 7)), kConstraintSets);
  EXPECT_EQ(count<JobMoved>(w.clear("c1", 8)), all - kConstraintSets);
}

TEST(LargerClass, OnlySoManyJobsMoveInOneRound) {
  GpuWorld w;
  const auto all = static_cast<std::int32_t>(kClassMovesPerRound) + 5;
  const auto rich = w.account("rich", 1000_cr), richer = w.account("richer", 1000_cr);
  const auto half = all / 2 + 1;
  for (int i = 0; i < 2; ++i)
    w.offer(w.machine(w.lena, {.cores = 2 * half, .memory_mib = std::int64_t{4'096} * half}),
            {.slots = half, .reserve = 0.001_cr}, "c2");
  for (std::int32_t i = 0; i < all; ++i)
    w.derived(wants(1, 1, 1_cr, 0.1_cr), "c1", i % 2 == 0 ? rich : richer);
  EXPECT_EQ(count<JobMoved>(w.clear("c1")), kClassMovesPerRound);
  EXPECT_EQ(count<JobMoved>(w.clear("c1")), 5u);
}

TEST(LargerClass, WhyAndThePlanSayWhatBecomesOfIt) {
  GpuWorld w;
  w.lend_gpu(0.5_cr);
  EXPECT_EQ(larger_text(w.s, w.at(w.derived()), w.now),
            "no slot of c1 that fits is on offer; 1 of g1 is, at 0.5: it will be taken");
  EXPECT_EQ(larger_text(w.s, w.at(w.derived(wants(1, 1, 0.2_cr, 5_cr))), w.now),
            "no slot of c1 that fits is on offer; 1 of g1 is, at 0.5: --price 0.5");
  const auto named = w.job(w.bob, wants(1, 1, 1_cr, 5_cr));
  EXPECT_EQ(larger_text(w.s, w.at(named), w.now),
            "no slot of c1 that fits is on offer; 1 of g1 is, at 0.5: --class g1");
  EXPECT_EQ(why(w.s, w.at(named), w.now).summary,
            "it needs 1 slot: no slot of c1 that fits is on offer; 1 of g1 is, at 0.5: --class g1");
  const auto poor = w.job(w.bob, wants(1, 1, 0.2_cr, 5_cr));
  EXPECT_THAT(larger_text(w.s, w.at(poor), w.now), HasSubstr("--class g1 --price 0.5"));
  w.offer(w.machine(w.lena), {.slots = 1, .reserve = 0.1_cr}, "c1");
  EXPECT_EQ(larger_text(w.s, w.at(named), w.now), "");
}

TEST(LargerClass, AJobBeginsInItsSmallestClassOrInALargerOne) {
  GpuWorld w;
  SubmitJob c{.name = "job",
              .slot_class = w.c1,
              .terms = wants(1, 1, 1_cr, 5_cr),
              .work = "sort",
              .least_class = w.slot_class("c4")};
  EXPECT_EQ(w.refused(user(w.bob), c).message, "class 'c1' is not larger than 'c4'");
  c.slot_class = w.g1;
  EXPECT_EQ(count<JobSubmitted>(w.run(user(w.bob), c)), 1u);
  c.least_class = ClassId(99);
  EXPECT_EQ(w.refused(user(w.bob), c).code, base::Code::not_found);
}

}  // namespace
}  // namespace souk::market::testing
