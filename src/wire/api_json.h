#pragma once

#include "wire/api.h"
#include "wire/choices.h"
#include "wire/json.h"
#include "wire/schema.h"

// JSON of the API's structs, compiled once (api_json.cc) instead of in every file that uses them. A
// struct that is missing from the list still works; it only costs time to build.

namespace souk::wire {

// clang-format off
#define SOUK_API_TYPES(X)                                                                          \
  X(Done) X(Account) X(NewAccount) X(Login) X(Session) X(NewPassword) X(Token) X(NewToken)         \
  X(IssuedToken) X(Grant) X(Freeze) X(SlotClass) X(SlotClassEdit) X(MachineSpec) X(Machine)        \
  X(NewMachine) X(MachineEdit) X(Offer) X(OfferPage) X(NewOffer) X(OfferEdit) X(Pause) X(Workers)  \
  X(Constraints) X(Resources) X(NewJob) X(JobEdit) X(Cancel) X(Lease) X(Job) X(WhyGroup)           \
  X(Relaxation) X(Why) X(Held) X(Heartbeat) X(Order) X(Orders) X(Work) X(LeaseStart)               \
  X(LeaseFinish) X(PriceSummary) X(PriceBucket) X(Suggestion) X(Prices) X(Balance) X(Ledger)       \
  X(StatementLine) X(Statement) X(Settings) X(SettingsEdit) X(AuditEntry) X(Feedback)              \
  X(NewFeedback) X(FaqEntry) X(Faq) X(Mechanism) X(Mechanisms) X(Health) X(Notice) X(Notices)      \
  X(Page<Account>) X(Page<Token>) X(Page<SlotClass>) X(Page<Machine>) X(Page<Job>) X(Page<Lease>)  \
  X(Page<AuditEntry>) X(Page<Feedback>) X(Batch) X(Task) X(Part) X(Page<Part>) X(Usage)            \
  X(JobUsage) X(LeaseCheckpoint) X(LogPiece) X(LogSize) X(Log) X(BlobNames) X(Challenge) X(ChallengeAnswer) \
  X(Train) X(UnitAsk) X(Unit) X(UnitDone) X(UnitVerdict) X(Training) X(Plan)                \
  X(Profile) X(JobForecast)
// clang-format on

#define SOUK_API_EXTERN(T)                                                                   \
  extern template void write_json<T>(std::string&, const T&);                                \
  extern template bool detail::read<T>(const detail::Value&, const Path&, T&, base::Error&); \
  extern template std::string Schemas::of<T>();
SOUK_API_TYPES(SOUK_API_EXTERN)
#undef SOUK_API_EXTERN

}  // namespace souk::wire
