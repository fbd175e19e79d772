#pragma once

#include <cstddef>

#include "market/events.h"

// How many fields each struct of an event had in the first layout of the journal, in which a struct
// inside another has no length of its own (binary.h). Nothing is written in that layout any more,
// so these numbers never change, whatever is appended to the structs since; a new struct needs no
// row. A struct that is renamed or taken apart is changed here too: the golden journals hold it to
// that.

namespace souk::codec {

template <class T>
inline constexpr std::size_t kFirstFields = 0;

#define SOUK_FIRST_FIELDS(Type, count) \
  template <>                          \
  inline constexpr std::size_t kFirstFields<market::Type> = count;
SOUK_FIRST_FIELDS(Account, 6)
SOUK_FIRST_FIELDS(AccountCreated, 2)
SOUK_FIRST_FIELDS(AccountFrozen, 2)
SOUK_FIRST_FIELDS(Answer, 6)
SOUK_FIRST_FIELDS(Answered, 1)
SOUK_FIRST_FIELDS(AuditEntry, 5)
SOUK_FIRST_FIELDS(Audited, 1)
SOUK_FIRST_FIELDS(Availability, 2)
SOUK_FIRST_FIELDS(Avoided, 3)
SOUK_FIRST_FIELDS(ClassSet, 1)
SOUK_FIRST_FIELDS(Constraints, 8)
SOUK_FIRST_FIELDS(CreditsGranted, 3)
SOUK_FIRST_FIELDS(Feedback, 5)
SOUK_FIRST_FIELDS(FeedbackGiven, 1)
SOUK_FIRST_FIELDS(Interval, 2)
SOUK_FIRST_FIELDS(Job, 27)
SOUK_FIRST_FIELDS(JobChanged, 2)
SOUK_FIRST_FIELDS(JobEnded, 3)
SOUK_FIRST_FIELDS(JobForgotten, 1)
SOUK_FIRST_FIELDS(JobMoved, 4)
SOUK_FIRST_FIELDS(JobPart, 5)
SOUK_FIRST_FIELDS(JobPaused, 2)
SOUK_FIRST_FIELDS(JobResized, 3)
SOUK_FIRST_FIELDS(JobResult, 2)
SOUK_FIRST_FIELDS(JobResumed, 1)
SOUK_FIRST_FIELDS(JobSubmitted, 1)
SOUK_FIRST_FIELDS(JobTerms, 6)
SOUK_FIRST_FIELDS(JobWarned, 1)
SOUK_FIRST_FIELDS(Lease, 24)
SOUK_FIRST_FIELDS(LeaseCheckpointed, 2)
SOUK_FIRST_FIELDS(LeaseClosed, 4)
SOUK_FIRST_FIELDS(LeaseDraining, 3)
SOUK_FIRST_FIELDS(LeaseForgotten, 1)
SOUK_FIRST_FIELDS(LeaseGranted, 1)
SOUK_FIRST_FIELDS(LeaseRenewed, 2)
SOUK_FIRST_FIELDS(LeaseSettled, 4)
SOUK_FIRST_FIELDS(LeaseStarted, 1)
SOUK_FIRST_FIELDS(LeaseWorked, 2)
SOUK_FIRST_FIELDS(Machine, 8)
SOUK_FIRST_FIELDS(MachineAdded, 1)
SOUK_FIRST_FIELDS(MachineChanged, 3)
SOUK_FIRST_FIELDS(MachineJudged, 2)
SOUK_FIRST_FIELDS(MachineOnline, 1)
SOUK_FIRST_FIELDS(MachineRemoved, 1)
SOUK_FIRST_FIELDS(MachineSpec, 12)
SOUK_FIRST_FIELDS(Move, 4)
SOUK_FIRST_FIELDS(Offer, 9)
SOUK_FIRST_FIELDS(OfferChanged, 2)
SOUK_FIRST_FIELDS(OfferDraining, 1)
SOUK_FIRST_FIELDS(OfferPaused, 2)
SOUK_FIRST_FIELDS(OfferPosted, 1)
SOUK_FIRST_FIELDS(OfferRemoved, 1)
SOUK_FIRST_FIELDS(OfferTerms, 4)
SOUK_FIRST_FIELDS(PasswordChanged, 2)
SOUK_FIRST_FIELDS(ProfileLearnt, 2)
SOUK_FIRST_FIELDS(Retry, 3)
SOUK_FIRST_FIELDS(RoundCleared, 16)
SOUK_FIRST_FIELDS(Settings, 12)
SOUK_FIRST_FIELDS(SettingsChanged, 1)
SOUK_FIRST_FIELDS(SlotClass, 11)
SOUK_FIRST_FIELDS(Standing, 2)
SOUK_FIRST_FIELDS(Term, 5)
SOUK_FIRST_FIELDS(Token, 8)
SOUK_FIRST_FIELDS(TokenIssued, 1)
SOUK_FIRST_FIELDS(TokenRevoked, 1)
SOUK_FIRST_FIELDS(Trial, 3)
SOUK_FIRST_FIELDS(WeeklyWindow, 4)
SOUK_FIRST_FIELDS(Workers, 2)
#undef SOUK_FIRST_FIELDS

}  // namespace souk::codec
