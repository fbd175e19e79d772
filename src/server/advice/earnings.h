#pragma once

#include <cstdint>

#include "base/time.h"
#include "market/state.h"
#include "wire/api/earnings.h"

// What a machine that joins now would earn. Pure.
//
// Of each hour of the last kEarningsLookBack the market knows how many slots of a class were leased
// (L), free (S) and wanted (D), on the average. With `slots` more of them, a share
//   min(1, (L + D) / (L + S + slots))
// of all would have been in use: demand that was not filled counts as much as demand that was. An
// hour of which nothing is known had neither. What is paid is the price that suggestions start from
// (market::anchor_price), which nobody moves alone, less the operator's fee.
//
// The interval is the one in which the next week lies with a chance of nine in ten, if days come
// and go as they did: Student's, from how much the days differed. With less than two days it is all
// that is possible.

namespace souk::server {

inline constexpr auto kEarningsLookBack = base::days(7);

[[nodiscard]] wire::ClassEarnings expected_earnings(const market::State& s,
                                                    const market::SlotClass& slot_class,
                                                    std::int32_t slots, base::Time now);

}  // namespace souk::server
