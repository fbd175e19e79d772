#include "cli/lend.h"

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
            "2 cores, 512M of memory and 0 GPUs make no slot");
  EXPECT_EQ(slots({.slot_class = "c4"}, {.cores = 2, .memory_mib = 65536}),
            "2 cores, 64G of memory and 0 GPUs make no slot of class c4");
}

}  // namespace
}  // namespace souk::cli
