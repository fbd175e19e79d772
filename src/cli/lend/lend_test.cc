#include "cli/lend/lend.h"

#include <gtest/gtest.h>

namespace souk::cli {
namespace {

const std::vector<wire::SlotClass> kClasses{
    {.name = "c4", .cores = 4, .memory_mib = 8192},
    {.name = "c1", .cores = 1, .memory_mib = 1024},
    {.name = "old", .cores = 1, .memory_mib = 512, .retired = true},
    {.name = "g1", .cores = 4, .memory_mib = 16384, .gpus = 1, .gpu_memory_mib = 8192}};

std::string slots(const Lend& o, const wire::MachineSpec& m) {
  const auto out = choose_slots(o, m, kClasses);
  return out ? std::to_string(out->count) + " x " + out->slot_class : out.error().message;
}

TEST(Lend, AsManySlotsAsFitAreLent) {
  EXPECT_EQ(slots({}, {.cores = 8, .memory_mib = 4096}), "4 x c1");
  EXPECT_EQ(slots({}, {.cores = 1, .memory_mib = 1024}), "1 x c1");
  EXPECT_EQ(slots({.slot_class = "c4"}, {.cores = 8, .memory_mib = 65536}), "2 x c4");
  EXPECT_EQ(slots({}, {.cores = 8, .memory_mib = 65536, .gpus = 1, .gpu_memory_mib = 24576}),
            "1 x g1");
}

TEST(Lend, OneLeaseNeedsOneSlot) {
  EXPECT_EQ(slots({.once = true}, {.cores = 8, .memory_mib = 65536}), "1 x c1");
}

TEST(Lend, WhatMakesNoSlotIsSaid) {
  EXPECT_EQ(slots({}, {.cores = 2, .memory_mib = 512}),
            "2 cores, 512 MiB of memory and 0 GPUs make no slot");
  EXPECT_EQ(slots({.slot_class = "c4"}, {.cores = 2, .memory_mib = 65536}),
            "2 cores, 64 GiB of memory and 0 GPUs make no slot of class c4");
}

TEST(Lend, SlotsStayAsTheOwnerChoseThemWhileTheyFit) {
  struct Row {
    const char* what;
    std::int32_t offered, fitted, fit, slots;
  };
  for (const auto& row : {Row{"fewer than fit", 2, 8, 8, 2}, Row{"too many by now", 6, 8, 4, 4},
                          Row{"all, of a machine that grew", 4, 4, 8, 8},
                          Row{"all, of one that shrank", 8, 8, 3, 3}}) {
    const wire::Offer offer{.class_ = "c1", .slots = row.offered};
    EXPECT_EQ(keep_slots({}, offer, row.fitted, row.fit).count, row.slots) << row.what;
    const auto once = keep_slots({.once = true}, offer, row.fitted, row.fit);
    EXPECT_EQ(once.count, 1) << row.what;
    EXPECT_EQ(once.after, row.slots) << row.what;
  }
}

TEST(Lend, OnlyWhatFlagsMentionChangesAnOffer) {
  const base::Time now = base::Time() + base::hours(100);
  const wire::Offer offer{.price = base::Credits(300'000), .weekly = {"Mon 08:00-18:00 UTC"}};
  const auto text = [&](const Lend& o, const wire::Offer& of) {
    return wire::to_json(keep_terms(o, of, now));
  };
  const auto none = wire::to_json(wire::OfferEdit{});
  EXPECT_EQ(text({}, offer), none);
  EXPECT_EQ(text({.price = AskPrice{base::Credits(500'000)}}, offer),
            wire::to_json(wire::OfferEdit{.price = base::Credits(500'000)}));
  EXPECT_EQ(text({.price = AskPrice{}}, offer), wire::to_json(wire::OfferEdit{.market = true}));
  const std::vector<std::string> weekly{"Sat 00:00-24:00 UTC"};
  EXPECT_EQ(text({.weekly = weekly, .longest_lease = base::hours(2)}, offer),
            wire::to_json(wire::OfferEdit{.weekly = weekly, .longest_lease = base::hours(2)}));
}

TEST(Lend, AnEndThatPassedDoesNotKeepAMachineIdle) {
  const base::Time now = base::Time() + base::hours(100);
  wire::Offer offer{.weekly = {"Mon 08:00-18:00 UTC"}, .until = now + base::hours(1)};
  EXPECT_FALSE(keep_terms({}, offer, now).always);
  offer.until = now;
  EXPECT_TRUE(keep_terms({}, offer, now).always);
  EXPECT_EQ(keep_terms({}, offer, now).weekly, offer.weekly);
  const auto later = now + base::hours(8);
  EXPECT_FALSE(keep_terms({.until = later}, offer, now).always);
  EXPECT_EQ(keep_terms({.until = later}, offer, now).until, later);
}

}  // namespace
}  // namespace souk::cli
