#pragma once

#include <string>

#include "base/time.h"

namespace souk::base {

// "14:02", by the clock of this computer's time zone; "2026-11-19 14:02" on another day than `now`.
std::string clock_text(Time t, Time now);

}  // namespace souk::base
