#pragma once

#include "wire/api/account.h"
#include "wire/api/answer.h"
#include "wire/api/batch.h"
#include "wire/api/blob.h"
#include "wire/api/budget.h"
#include "wire/api/choices.h"
#include "wire/api/earnings.h"
#include "wire/api/events.h"
#include "wire/api/feedback.h"
#include "wire/api/heartbeat.h"
#include "wire/api/job.h"
#include "wire/api/lease.h"
#include "wire/api/ledger.h"
#include "wire/api/log.h"
#include "wire/api/machine.h"
#include "wire/api/mechanism.h"
#include "wire/api/offer.h"
#include "wire/api/plan.h"
#include "wire/api/prices.h"
#include "wire/api/slot_class.h"
#include "wire/api/sweep.h"
#include "wire/api/system.h"
#include "wire/api/training.h"
#include "wire/api/usage.h"
#include "wire/api/why.h"
#include "wire/json.h"
#include "wire/schema.h"

// What goes over the wire under /v1 is in wire/api/, by subject: the bodies of requests (New...,
// ...Edit) and of responses. The server, the CLI, the OpenAPI document and generated clients all
// follow from these structs. Prices are credits per slot-hour. An absent price means "market".
// Times are UTC.
//
// This header has their JSON, compiled once (api_json.cc) instead of in every file that uses them.
// A struct that is missing from the list still works; it only costs time to build.

namespace souk::wire {

// clang-format off
#define SOUK_API_TYPES(X)                                                                          \
  X(Acknowledged) X(Account) X(NewAccount) X(Login) X(Session) X(NewPassword) X(Token)             \
  X(NewToken) X(IssuedToken) X(Grant) X(Freeze) X(SlotClass) X(SlotClassEdit) X(MachineSpec)       \
  X(Machine) X(NewMachine) X(MachineEdit) X(Offer) X(OfferPage) X(NewOffer) X(OfferEdit) X(Pause)  \
  X(Workers) X(Constraints) X(Resources) X(NewJob) X(JobEdit) X(Cancel) X(Lease) X(Job)            \
  X(WhyGroup) X(Relaxation) X(Why) X(LeaseReport) X(Heartbeat) X(Order) X(Orders) X(OpenLeases)    \
  X(LeaseStart) X(LeaseFinish) X(PriceSummary) X(PriceBucket) X(Suggestion) X(Prices) X(Balance)   \
  X(Ledger) X(StatementLine) X(Statement) X(Settings) X(SettingsEdit) X(AuditEntry) X(Feedback)    \
  X(NewFeedback) X(FaqEntry) X(Faq) X(Mechanism) X(Mechanisms) X(Health) X(Notice) X(Notices)      \
  X(Page<Account>) X(Page<Token>) X(Page<SlotClass>) X(Page<Machine>) X(Page<Job>) X(Page<Lease>)  \
  X(Page<AuditEntry>) X(Page<Feedback>) X(Batch) X(BatchAssignment) X(WorkerStatus)                \
  X(Page<WorkerStatus>) X(Usage) X(JobUsage) X(LeaseCheckpoint) X(LogPiece) X(LogSize) X(Log)      \
  X(BlobNames) X(Challenge) X(ChallengeAnswer) X(ChallengeVerdict) X(Train) X(UnitAsk) X(Unit) X(UnitDone)             \
  X(UnitVerdict) X(Training) X(JobPlan) X(Profile) X(JobForecast) X(CreditRequest)                \
  X(CreditRequests) X(NewCreditRequest) X(CreditAnswer) X(Earnings)
// clang-format on

#define SOUK_API_EXTERN(T)                                                                   \
  extern template void write_json<T>(std::string&, const T&);                                \
  extern template bool detail::read<T>(const detail::Value&, const Path&, T&, base::Error&); \
  extern template std::string Schemas::of<T>();
SOUK_API_TYPES(SOUK_API_EXTERN)
#undef SOUK_API_EXTERN

}  // namespace souk::wire
