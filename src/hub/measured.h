#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "train/validators/validator.h"

namespace souk::hub {

// What a hub tells about an update that lies with it: what a market needs in order to judge it, at
// most 256 KiB of an update of any size. On the wire, little endian:
//
//   finite      64 bits: 1 or 0
//   norm        64 bits: a double
//   direction   32 bits each: floats, at most train::kDirection
struct Measured {
  train::Stats stats;
  train::Direction direction;
};

[[nodiscard]] Measured measure(const train::Update& update);
[[nodiscard]] std::string pack(const Measured& measured);
// Refuses what pack() cannot have made.
[[nodiscard]] base::Result<Measured> unpack_measured(std::string_view bytes);

}  // namespace souk::hub
