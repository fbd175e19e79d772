#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/result.h"

namespace souk::base {

//
// A computation whose result cannot be known without doing it: a chain of `rounds` products of
// `size` x `size` matrices of 32-bit numbers modulo 2^32, with a mixing of every element between
// the rounds (without which B^rounds could be had in few products). Integers only, so all honest
// machines agree to the bit, whatever their number of threads and their vector width. Who sets a
// challenge has to do it once as well; the time of the answer bounds the speed of the machine from
// below.

struct Challenge {
  std::uint64_t seed = 0;
  std::int32_t size = 512;
  std::int32_t rounds = 4;
  SOUK_FIELDS(Challenge, seed, size, rounds)
};

struct Answer {
  std::string checksum;  // 64 hex digits.
  double seconds = 0;    // What the products took here.
  SOUK_FIELDS(Answer, checksum, seconds)
};

inline constexpr std::int32_t kMostChallengeSize = 4096;
// size^3 x rounds; some ten seconds of one core.
inline constexpr std::int64_t kMostChallengeWork = std::int64_t{1} << 36;

// Refuses a challenge that would take too long or that asks for nothing.
Result<Answer> answer(const Challenge& challenge, std::int32_t threads);

}  // namespace souk::base
