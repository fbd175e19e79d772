#pragma once

#include <cstdint>
#include <optional>
#include <string>

// How many workers a training that runs should have, to be done in time and no dearer than that.
// Pure; what it knows is what was measured of the run itself, so prices, revocations, stragglers
// and owners who came back are all in it.
//
// Work left / (pace of a worker x time left) workers are needed. Souk adds workers once what it has
// is not enough by kShort, and aims at kSpare more than needed; it takes workers away only once
// kExcess times what is needed would still be fewer. In between nothing changes: a cluster that is
// resized at every breath never gets to work.

namespace souk::advisor {

inline constexpr double kShort = 1.05;
inline constexpr double kSpare = 1.2;
inline constexpr double kExcess = 1.5;

struct Running {
  double left = 1;       // Of the work, 0 to 1.
  double seconds = 0;    // Until the deadline.
  double pace = 0;       // Work that one worker does in a second; above 0.
  std::int32_t aim = 1;  // Workers that it is to have now.
  std::int32_t least = 1, most = 1;
  double price = 0;    // Credits that a worker costs in a second.
  double credits = 0;  // That may still be spent.
};

struct Resize {
  std::int32_t workers = 0;
  std::string why;
};

// Nothing: it is well as it is, or no number would be better. More workers are never asked for
// than the credits left pay for until the end.
[[nodiscard]] std::optional<Resize> resize(const Running& r);

[[nodiscard]] std::string workers_text(std::int32_t n);  // "1 worker", "2 workers"

}  // namespace souk::advisor
