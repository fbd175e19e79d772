#include <string>

#include "fuzz/target.h"
#include "wire/api/account.h"
#include "wire/api/answer.h"
#include "wire/api/batch.h"
#include "wire/api/blob.h"
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
#include "wire/api/offer.h"
#include "wire/api/plan.h"
#include "wire/api/prices.h"
#include "wire/api/slot_class.h"
#include "wire/api/system.h"
#include "wire/api/training.h"
#include "wire/api/usage.h"
#include "wire/api/why.h"
#include "wire/json.h"
#include "wire/problem.h"

// JSON into the structs of the API, requests and answers alike. What is accepted can be written,
// and what is written is read and written the same.

namespace {

using namespace souk;

template <class T>
void read_as(const boost::json::value& value) {
  const auto first = wire::from_value<T>(value);
  if (!first) {
    CHECK(!first.error().message.empty());
    return;
  }
  const auto text = wire::to_json(*first);
  const auto second = wire::from_json<T>(text);
  CHECK(second.has_value());
  CHECK(wire::to_json(*second) == text);
}

template <class... T>
void read_as_each(const boost::json::value& value) {
  (read_as<T>(value), ...);
}

// All that SOUK_JSON_HERE names.
void read_as_all(const boost::json::value& value) {
  using namespace souk::wire;
  read_as_each<
      Acknowledged, Account, NewAccount, Login, Session, NewPassword, Token, NewToken, IssuedToken,
      Grant, Freeze, SlotClass, SlotClassEdit, MachineSpec, Machine, NewMachine, MachineEdit, Offer,
      OfferPage, NewOffer, OfferEdit, Pause, Workers, Constraints, Resources, NewJob, JobEdit,
      Cancel, Lease, Job, WhyGroup, Relaxation, Why, LeaseReport, Heartbeat, Order, Orders,
      OpenLeases, LeaseStart, LeaseFinish, PriceSummary, PriceBucket, Suggestion, Prices, Balance,
      Ledger, StatementLine, Statement, Settings, SettingsEdit, AuditEntry, Feedback, NewFeedback,
      FaqEntry, Faq, Mechanism, Mechanisms, Health, Notice, Notices, Page<Account>, Page<Token>,
      Page<SlotClass>, Page<Machine>, Page<Job>, Page<Lease>, Page<AuditEntry>, Page<Feedback>,
      Batch, BatchAssignment, WorkerStatus, Page<WorkerStatus>, Usage, JobUsage, LeaseCheckpoint,
      LogPiece, LogSize, Log, BlobNames, Challenge, ChallengeAnswer, ChallengeVerdict, Train,
      UnitAsk, Unit, UnitDone, UnitVerdict, Training, JobPlan, Profile, JobForecast, CreditRequest,
      CreditRequests, NewCreditRequest, CreditAnswer, Earnings>(value);
}

}  // namespace

SOUK_FUZZ(json, .input_bytes = 4096, .malloc_mb = 4) {
  const auto value = wire::parse(input);
  if (!value) return;
  read_as_all(*value);
  (void)wire::refusal(500, input);
  std::string text;
  wire::write_value(text, *value);
  const auto again = wire::parse(text);
  CHECK(again.has_value());
  std::string same;
  wire::write_value(same, *again);
  CHECK(same == text);
}
