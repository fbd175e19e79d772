#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "wire/api/sweep.h"

// Which settings a sweep tries. Pure: the same sweep gives the same points in the same order, on
// every machine and after every restart.

namespace souk::job {

// A value for each parameter, as JSON.
using Point = std::map<std::string, std::string>;

// The combinations of its values; 0: a parameter is a range, which has no end of them.
[[nodiscard]] std::int64_t combinations(const wire::Sweep& sweep);

// The values of one parameter in a grid. Of a range: `steps` of them, the ends included.
[[nodiscard]] std::vector<std::string> grid_values(const wire::SweepParameter& parameter);

// What each of its trials is to try. Requires a sweep that was checked (sweep_work.h). A grid
// changes its last parameter first. Draws of equal points are made again.
[[nodiscard]] std::vector<Point> points_of(const wire::Sweep& sweep);

}  // namespace souk::job
