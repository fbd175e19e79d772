#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "market/commands.h"
#include "market/state.h"

// Larger classes for jobs that named none (Job::least_class). Such a job waits in the smallest
// class that holds it while any slot there that fits is on offer within its limit, free or not.
// While none is, it goes on in the next larger class that has enough free ones. When its own class
// has some again, and it still waits, it goes back. It moves only while it has no machine: nothing
// is lost.
//
// Pure.

namespace souk::market {

// Classes whose slots hold what those of this one do, the smallest first, without itself.
[[nodiscard]] std::vector<ClassId> larger_classes(const State& s, ClassId least);

struct ClassMove {
  JobId job;
  ClassId to;
  std::string why;
};

// Of the jobs that wait in a class after its round, but for those in `served` (in order), who
// changes class. No more go to a class in one round than it has free slots for, and
// kClassMovesPerRound in all.
[[nodiscard]] std::vector<ClassMove> class_moves(const State& s, const Clear& round, Time now,
                                                 std::span<const JobId> served);

// Free slots of one class that a job could have.
struct FreeSlots {
  ClassId slot_class;
  std::int64_t slots = 0;
  Credits ask;                 // The least limit that is enough for the workers it needs.
  bool own_is_dearer = false;  // Its own class has some beyond its limit.
};

// Where no slot that fits is on offer in a job's class (or in the smallest that holds it), free or
// not, the next larger class that has enough free ones: one within its limit, or else any.
[[nodiscard]] std::optional<FreeSlots> found_in_larger(const State& s, const Job& job, Time now,
                                                       std::span<const MachineId> unheard = {});

// What becomes of that, or what its owner can do, in a sentence; empty where there is nothing.
[[nodiscard]] std::string larger_text(const State& s, const Job& job, Time now,
                                      std::span<const MachineId> unheard = {});

}  // namespace souk::market
