#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

// What a machine is asked to compute, so that it shows what it has. Integers only: all honest
// machines agree to the bit. docs/decisions/0030-machines-prove-what-they-claim.md has the reasons
// and the limits.

namespace souk::base {

// --- Cores ---------------------------------------------------------------------------------------

// Steps that a core of the last ten years takes a third of a second for, more or less.
inline constexpr std::int64_t kLaneSteps = 50'000'000;
inline constexpr std::int64_t kMostLaneSteps = 16 * kLaneSteps;

// The end of a chain of `steps` that begins at `seed`. Each step needs the one before, so more
// cores do not help; each looks things up in a table by what was computed, so wide vectors help
// little; and it leaves half of a core's units idle, so that two threads of one core do not slow
// each other down much.
[[nodiscard]] std::uint64_t lane(std::uint64_t seed, std::int64_t steps);

struct LaneResults {
  std::vector<std::uint64_t> results;
  double cpu_share = 1;  // Of the time it took, how much the lanes were running: 1 on idle cores.
};

// All of them at once, each on a thread of its own. Refuses more than can be meant.
[[nodiscard]] Result<LaneResults> lanes(std::span<const std::uint64_t> seeds, std::int64_t steps);

// --- Memory --------------------------------------------------------------------------------------

// Reading a page takes little time against computing it again. Reads come in groups, so that who
// asks needs to know the result of one only; a group has so many reads for each core.
inline constexpr std::int64_t kPageBytes = 4096;
inline constexpr std::int64_t kReadsOfCore = 1024;
inline constexpr std::int32_t kGroups = 512;

// The last number of a page of the pattern: the others of the page come before it.
[[nodiscard]] std::uint64_t pattern_at(std::uint64_t seed, std::uint64_t page);

// What the group's reads of a pattern of `mib` come to, computed and not read.
[[nodiscard]] std::uint64_t group_of(std::uint64_t seed, std::int64_t mib, std::uint64_t reads,
                                     std::int32_t group, std::int32_t cores);

// Memory filled with a pattern, until this goes.
class PatternMemory {
 public:
  // Exhausted: there is not so much to be had. Looks at what the system says is available first, so
  // that the programs of the machine's owner lose nothing.
  static Result<PatternMemory> fill(std::uint64_t seed, std::int64_t mib, std::int32_t threads);
  PatternMemory(PatternMemory&& other) noexcept;
  PatternMemory& operator=(PatternMemory&& other) noexcept;
  ~PatternMemory();

  // What each group of reads at random places comes to: kGroups numbers. On a thread for each core.
  [[nodiscard]] std::vector<std::uint64_t> read(std::uint64_t reads, std::int32_t cores) const;

 private:
  PatternMemory(std::uint64_t* words, std::int64_t mib) : words_(words), mib_(mib) {}

  std::uint64_t* words_;
  std::int64_t mib_;
};

// What Linux says could be had without swapping. Negative: it does not say.
[[nodiscard]] std::int64_t available_mib();

}  // namespace souk::base
