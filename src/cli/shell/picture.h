#pragma once

#include <optional>
#include <span>
#include <string>

namespace souk::cli {

// One character per value, as high as the value is between the least and the most of them; a value
// that is missing is a blank. With more values than `width`, neighbours are averaged.
std::string sparkline(std::span<const std::optional<double>> values, std::size_t width, bool utf8);

// A bar of `width` characters of which `share` (0 to 1) is full.
std::string bar(double share, std::size_t width, bool utf8);

}  // namespace souk::cli
