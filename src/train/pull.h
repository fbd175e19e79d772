#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/parameters.h"

// What a worker gets when it asks for the parameters: only the blocks that changed since the
// version it has.
//
//   version, size, count   64 bits each, little endian: of the parameters, of all floats, of blocks
//   indices                32 bits each, ascending, padded to a multiple of 8 bytes
//   blocks                 their floats, in the order of the indices

namespace souk::train {

// The parameters at one moment, with the version at which each block last changed.
struct ParameterSnapshot {
  Blocks blocks;
  std::vector<std::int64_t> versions;
  std::int64_t version = 0;
  [[nodiscard]] std::size_t size() const;
};

[[nodiscard]] ParameterSnapshot take(const Parameters& parameters);

// What changed after `since`; -1: everything, for a newcomer.
[[nodiscard]] std::string pack_changed(const ParameterSnapshot& taken, std::int64_t since);

// Overwrites in `values` what changed; gives the new version. Refuses what is not such a message
// for parameters of this size, and then changes nothing.
[[nodiscard]] base::Result<std::int64_t> unpack_changed(std::string_view bytes,
                                                        std::span<float> values);

}  // namespace souk::train
