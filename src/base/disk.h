#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace souk::base {

struct DiskSpace {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  // For those who are not root.
};

// Of the disk that `path` is on. Asks the system, which takes microseconds.
[[nodiscard]] Result<DiskSpace> disk_space(const std::string& path);

// What is kept free on the disk of a data folder unless the operator says otherwise: 1 GiB, or a
// twentieth of a small disk.
[[nodiscard]] std::uint64_t usual_reserve(const DiskSpace& disk);

// May `amount` more bytes be written where `reserve` bytes are to stay free? Code::unavailable if
// not; `what` begins the sentence: "files". Where the system cannot tell, writing will.
[[nodiscard]] Result<> check_reserve(const std::string& path, std::uint64_t amount,
                                     std::uint64_t reserve, std::string_view what);

}  // namespace souk::base
