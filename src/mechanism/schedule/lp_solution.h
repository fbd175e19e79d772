#pragma once

#include <vector>

#include "mechanism/schedule/lp.h"

// Points of a SharesProgram, judged by the program alone, whoever found them.

namespace souk::mechanism {

// `shares` (jobs x types), moved inside the rows that they may have left by rounding, with the t,
// the objective and the shortfall that they then have. Bound and prices are not set.
[[nodiscard]] SharesSolution fitted(const SharesProgram& program, std::vector<double> shares);

// How far the objective may be from the best, as a share of the bound, and what rows are short of.
[[nodiscard]] double gap(const SharesSolution& solution);

// The better point and the better bound of the two, which may come from different ones.
void take_better(SharesSolution& best, SharesSolution now);

}  // namespace souk::mechanism
