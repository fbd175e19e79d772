#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "wire/api/training.h"

// Files that TensorBoard reads: records of a length and a message of Protocol Buffers (an Event),
// each with a masked CRC-32C. Written here with the few fields that scalars need. Pure.

namespace souk::hub {

inline constexpr std::string_view kEventFile = "events.tfevents";

using Scalar = std::pair<std::string, double>;

// What such a file begins with.
[[nodiscard]] std::string event_head(double seconds);
// Scalars at one step. `seconds` is the time, since 1970 or since the training began.
[[nodiscard]] std::string event_record(double seconds, std::int64_t step,
                                       std::span<const Scalar> scalars);
// An epoch, at the samples it ended with.
[[nodiscard]] std::string row_record(const wire::TrainRow& row, double began_seconds);
// A whole training.
[[nodiscard]] std::string event_file(const wire::Training& training);

}  // namespace souk::hub
