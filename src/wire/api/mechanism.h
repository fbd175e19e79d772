#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/time.h"

// What each mechanism did for a slot class. Which there are is in choices.h.

namespace souk::wire {

using base::Credits;
using base::Duration;

// What one mechanism did for a class while it was in force. Money is for an hour of all that was
// traded; gains are as people declared them.
struct MechanismRecord {
  std::string mechanism;
  bool in_force = false;
  std::int64_t rounds = 0;           // With supply and demand.
  std::int64_t traded = 0;           // Slots.
  std::optional<double> efficiency;  // The gain from trade, of the best there was.
  std::optional<Credits> price;      // Mean, per slot-hour.
  Credits borrowers_pay, lenders_get, platform;
  std::optional<double> served;                // Of the slots wanted in a round.
  std::optional<double> utilisation;           // Of the slots there were.
  std::optional<Duration> wait_p50, wait_p95;  // For a job's first lease, to a factor of 2.
  // Of the gain: they sum to 1. The platform's is what mechanisms leave between the sides.
  std::optional<double> borrowers_share, lenders_share, platform_share;
  std::optional<double> alpha;       // Smith's: distance of prices from the competitive ones.
  std::optional<double> volatility;  // Deviation of the log of the price from round to round.
  SOUK_FIELDS(MechanismRecord, mechanism, in_force, rounds, traded, efficiency, price,
              borrowers_pay, lenders_get, platform, served, utilisation, wait_p50, wait_p95,
              borrowers_share, lenders_share, platform_share, alpha, volatility)
};

// How a class treats its borrowers, over the jobs that the market still remembers.
struct Treatment {
  std::int64_t borrowers = 0;
  std::int64_t ended = 0;              // Jobs, without those that were cancelled.
  std::optional<double> gini_credits;  // Of all accounts of the market; 0: all have the same.
  // Of the share of the slot-time wanted that each borrower had, the rest being waited for.
  std::optional<double> gini_access;
  std::optional<double> defection;  // Borrowers with a job that waited over 15 times its run time.
  std::optional<double> completed;  // Of `ended`.
  SOUK_FIELDS(Treatment, borrowers, ended, gini_credits, gini_access, defection, completed)
};

struct MechanismRecords {
  std::string class_;
  std::vector<MechanismRecord> items;
  Treatment treatment;
  SOUK_FIELDS(MechanismRecords, class_, items, treatment)
};

}  // namespace souk::wire
