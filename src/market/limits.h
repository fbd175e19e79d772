#pragma once

#include <cstddef>
#include <cstdint>

#include "base/credits.h"
#include "base/time.h"

// Every bound of the market in one place. Each is hit by a test.

namespace souk::market {

inline constexpr std::size_t kNameMin = 2;
inline constexpr std::size_t kNameMax = 40;
inline constexpr std::size_t kTextMax = 4'000;      // Feedback, memos, reasons.
inline constexpr std::size_t kWorkMax = 64 * 1024;  // The description of a job's work.
inline constexpr std::size_t kProfileMax = 32 * 1024;
inline constexpr std::size_t kProfiles = 2'000;    // Kept in all.
inline constexpr std::int32_t kPartsMax = 10'000;  // Of a job with work.
inline constexpr std::size_t kNameOfBlobMax = 128;
inline constexpr std::int32_t kProbePartsMax = 1'000;  // Each is one use of a probe.
inline constexpr std::int32_t kRetriesMax = 1'000;
inline constexpr std::size_t kListMax = 64;          // Packages, regions, lenders...
inline constexpr std::size_t kWordMax = 100;         // The name of a package, region or provider.
inline constexpr std::size_t kDescriptionMax = 200;  // Of a machine's CPU, GPU or system.
inline constexpr std::size_t kPackagesMax = 1'000;   // Of a machine, with all environments,
inline constexpr std::size_t kPackageBytesMax = 32 * 1024;  // and all their names.
inline constexpr std::size_t kEnvironmentsMax = 16;         // Of a machine.
inline constexpr std::size_t kWindowsMax = 32;              // Weekly windows of an offer.
inline constexpr std::size_t kMachinesPerAccount = 1'000;
inline constexpr std::size_t kOffersPerMachine = 64;
inline constexpr std::size_t kLiveJobsPerAccount = 1'000;
inline constexpr std::int32_t kTrialsAtATime = 64;   // Of one sweep,
inline constexpr std::size_t kTrialsPerSweep = 256;  // and in all.
inline constexpr std::size_t kTokensPerAccount = 100;
inline constexpr std::size_t kClasses = 64;
inline constexpr std::size_t kAvoidedPerJob = 32;
inline constexpr std::size_t kOtherClassesPerJob = 8;
inline constexpr std::size_t kMovesPerJob = 16;     // Kept; it may move more often.
inline constexpr std::int32_t kSlotsMax = 100'000;  // Of one offer, or workers of one job.
// Per slot-hour: keeps price x slots x time far from overflow.
inline constexpr base::Credits kMostPrice{1'000'000'000'000};
inline constexpr base::Duration kLongestLease = base::days(3650);
inline constexpr std::size_t kVolumesPerAccount = 100;
inline constexpr std::size_t kVolumesPerJob = 8;
inline constexpr std::size_t kFeedback = 10'000;     // Kept in all.
inline constexpr std::int32_t kRequestsPerDay = 5;   // For credits, of one account.
inline constexpr std::size_t kStatementLines = 500;  // Kept per account.
inline constexpr std::size_t kAuditEntries = 10'000;
// That an idempotency key was used is known for this long, however many there are.
inline constexpr base::Duration kKeysFor = base::hours(24);
// The answers themselves are kept for a shorter time, and while they are not too many.
inline constexpr base::Duration kAnswersFor = base::hours(1);
inline constexpr std::size_t kAnswerBytesPerAccount = 1 << 20;
inline constexpr std::size_t kAnswerBytes = 64 << 20;      // In all.
inline constexpr std::size_t kConstraintSets = 64;         // Distinct ones that one round clears,
inline constexpr std::size_t kSetsSearched = 256;          // and for which it looks for a match.
inline constexpr std::size_t kClassMovesPerRound = 1'024;  // Jobs that go on in another class.
inline constexpr std::size_t kDuePerTick = 4'096;

}  // namespace souk::market
