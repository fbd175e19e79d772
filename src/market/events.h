#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "market/types.h"

// What has happened. Events are facts: apply() never refuses one, and once in the journal they are
// never edited. A new field goes to the end of its list, a new event to the end of Event (both are
// format); anything else is a new version with an upcast (codec/events.h).

namespace souk::market {

struct SettingsChanged {
  Settings settings;
  SOUK_FIELDS(SettingsChanged, settings)
};
struct ClassSet {
  SlotClass slot_class;
  SOUK_FIELDS(ClassSet, slot_class)
};
struct AccountCreated {
  Account account;
  Credits bonus;
  SOUK_FIELDS(AccountCreated, account, bonus)
};
struct PasswordChanged {
  AccountId account;
  std::string password;
  SOUK_FIELDS(PasswordChanged, account, password)
};
struct AccountFrozen {  // Or thawed, when `reason` is empty.
  AccountId account;
  std::string reason;
  SOUK_FIELDS(AccountFrozen, account, reason)
};
struct TokenIssued {
  Token token;
  SOUK_FIELDS(TokenIssued, token)
};
struct TokenRevoked {
  TokenId token;
  SOUK_FIELDS(TokenRevoked, token)
};
struct CreditsGranted {
  AccountId account;  // The platform's too.
  Credits amount;
  std::string memo;
  SOUK_FIELDS(CreditsGranted, account, amount, memo)
};
struct MachineAdded {
  Machine machine;
  SOUK_FIELDS(MachineAdded, machine)
};
struct MachineChanged {
  MachineId machine;
  std::string name;
  MachineSpec spec;
  SOUK_FIELDS(MachineChanged, machine, name, spec)
};
struct MachineOnline {  // Heard again after it was offline.
  MachineId machine;
  SOUK_FIELDS(MachineOnline, machine)
};
struct MachineRemoved {
  MachineId machine;
  SOUK_FIELDS(MachineRemoved, machine)
};
struct OfferPosted {
  Offer offer;
  SOUK_FIELDS(OfferPosted, offer)
};
struct OfferChanged {
  OfferId offer;
  OfferTerms terms;
  SOUK_FIELDS(OfferChanged, offer, terms)
};
struct OfferPaused {  // Or resumed, when `until` is not in the future.
  OfferId offer;
  Time until;
  SOUK_FIELDS(OfferPaused, offer, until)
};
struct OfferDraining {
  OfferId offer;
  SOUK_FIELDS(OfferDraining, offer)
};
struct OfferRemoved {
  OfferId offer;
  SOUK_FIELDS(OfferRemoved, offer)
};
struct JobSubmitted {
  Job job;
  SOUK_FIELDS(JobSubmitted, job)
};
struct JobChanged {
  JobId job;
  JobTerms terms;
  TokenId token;  // With which it was changed, if that can spend only so much.
  SOUK_FIELDS(JobChanged, job, terms, token)
};
struct JobWarned {  // Its escrow runs low.
  JobId job;
  SOUK_FIELDS(JobWarned, job)
};
struct JobPaused {
  JobId job;
  std::string reason;
  SOUK_FIELDS(JobPaused, job, reason)
};
struct JobResumed {
  JobId job;
  SOUK_FIELDS(JobResumed, job)
};
struct JobEnded {
  JobId job;
  JobState state = JobState::succeeded;
  std::string reason;
  SOUK_FIELDS(JobEnded, job, state, reason)
};
struct JobForgotten {
  JobId job;
  SOUK_FIELDS(JobForgotten, job)
};
// One clearing of one class, or, without trades, a sample of supply and demand.
struct RoundCleared {
  ClassId slot_class;
  std::string mechanism;
  std::uint64_t seed = 0;        // Of every draw in this round.
  Credits reference;             // The suggested price at the time.
  std::optional<Credits> price;  // Mean price of what was traded.
  std::int32_t traded = 0;       // Slots.
  std::int32_t supply = 0;       // Free slots on offer.
  std::int32_t demand = 0;       // Slots wanted.
  std::int32_t leased = 0;       // Slots under lease before the round.
  // For an hour of all that was traded: what is paid and got, and the gain from trade as declared,
  // beside the best there was; absent where the books were too large to look.
  Credits pays, gets;
  std::optional<Credits> gain, best;
  std::vector<Standing> standing;  // Under mechanisms with a memory; in order.
  Credits limits;                  // As `pays`: what borrowers would have paid at most.
  // The competitive price of what people declared, where there was one book and its sides cross.
  std::optional<Credits> equilibrium;
  SOUK_FIELDS(RoundCleared, slot_class, mechanism, seed, reference, price, traded, supply, demand,
              leased, pays, gets, gain, best, standing, limits, equilibrium)
};
struct LeaseGranted {
  Lease lease;
  SOUK_FIELDS(LeaseGranted, lease)
};
struct LeaseStarted {
  LeaseId lease;
  SOUK_FIELDS(LeaseStarted, lease)
};
// The borrower pays `amount` for the time up to `until`; `fee` of it goes to the platform.
struct LeaseSettled {
  LeaseId lease;
  Time until;
  Credits amount;
  Credits fee;
  SOUK_FIELDS(LeaseSettled, lease, until, amount, fee)
};
struct LeaseRenewed {
  LeaseId lease;
  Term next;
  SOUK_FIELDS(LeaseRenewed, lease, next)
};
struct LeaseDraining {
  LeaseId lease;
  Time until;  // The term now ends here at the latest.
  std::string reason;
  SOUK_FIELDS(LeaseDraining, lease, until, reason)
};
struct LeaseClosed {
  LeaseId lease;
  LeaseOutcome outcome = LeaseOutcome::none;
  std::string detail;
  std::string result;
  bool keeps_try = false;  // The job loses no try by it.
  bool excused = false;    // The job is to blame: the machine keeps its reliability.
  // Completed, of a job whose results are compared: it agrees with another, which decides the part;
  // or its pay waits for one that does.
  bool decides = false;
  Credits owed, fee;
  bool wrong = false;  // Completed, of a probe, and not with its result: the machine is to blame.
  SOUK_FIELDS(LeaseClosed, lease, outcome, detail, result, keeps_try, excused, decides, owed, fee,
              wrong)
};
struct LeaseForgotten {
  LeaseId lease;
  SOUK_FIELDS(LeaseForgotten, lease)
};
struct FeedbackGiven {
  Feedback feedback;
  SOUK_FIELDS(FeedbackGiven, feedback)
};
struct Audited {
  AuditEntry entry;
  SOUK_FIELDS(Audited, entry)
};
struct Answered {
  Answer answer;
  SOUK_FIELDS(Answered, answer)
};

struct LeaseCheckpointed {
  LeaseId lease;
  std::string checkpoint;
  SOUK_FIELDS(LeaseCheckpointed, lease, checkpoint)
};

struct MachineJudged {  // By a challenge; passed when `failure` is empty.
  MachineId machine;
  std::string failure;
  bool untested = false;  // It has not been asked yet: no blame, but no leases either.
  Duration lane;          // What a core took for a lane; 0: that was not measured.
  SOUK_FIELDS(MachineJudged, machine, failure, untested, lane)
};

struct LeaseWorked {  // This much of its time led to accepted work.
  LeaseId lease;
  Duration worked;
  std::int64_t number = 0;  // Of the wage, among those of its job.
  SOUK_FIELDS(LeaseWorked, lease, worked, number)
};

struct JobResult {  // What the job has come to so far.
  JobId job;
  std::string result;
  SOUK_FIELDS(JobResult, job, result)
};

struct ProfileLearnt {
  std::string key;
  std::string text;
  SOUK_FIELDS(ProfileLearnt, key, text)
};

struct JobResized {
  JobId job;
  std::int32_t workers = 0;
  std::string why;
  SOUK_FIELDS(JobResized, job, workers, why)
};

struct JobMoved {
  JobId job;
  ClassId slot_class;        // Where it goes on.
  std::int32_t workers = 0;  // That it is to have there; 0: as many as it may.
  std::string why;
  SOUK_FIELDS(JobMoved, job, slot_class, workers, why)
};

struct JobAimed {  // Of a probe: where its next part is to run.
  JobId job;
  MachineId machine;  // None: nowhere.
  SOUK_FIELDS(JobAimed, job, machine)
};

struct CreditsRequested {
  AccountId account;
  Credits amount;
  std::string why;
  SOUK_FIELDS(CreditsRequested, account, amount, why)
};

struct RequestAnswered {  // Credits that it grants come with an event of their own.
  AccountId account;
  Credits granted;  // 0: declined.
  std::string word;
  SOUK_FIELDS(RequestAnswered, account, granted, word)
};

struct TrialNoted {
  JobId job;
  std::string note;
  SOUK_FIELDS(TrialNoted, job, note)
};

struct LeaseReady {  // Of a gang: its machine could start, and waits for the others.
  LeaseId lease;
  SOUK_FIELDS(LeaseReady, lease)
};

struct GangChanged {
  JobId job;
  GangPhase phase = GangPhase::regrouping;
  std::string reason;
  std::string failure;  // Of a program, if that is why.
  SOUK_FIELDS(GangChanged, job, phase, reason, failure)
};

struct LeaseServed {  // So many requests were answered; the borrower pays `amount` for them.
  LeaseId lease;
  std::int64_t requests = 0;
  Credits amount;
  Credits fee;
  SOUK_FIELDS(LeaseServed, lease, requests, amount, fee)
};

struct VolumeSaved {
  Volume volume;
  SOUK_FIELDS(VolumeSaved, volume)
};

struct VolumeRemoved {
  AccountId owner;
  std::string name;
  SOUK_FIELDS(VolumeRemoved, owner, name)
};

struct MachineOffline {  // Silent for too long, with nothing to do: nobody is to count on it.
  MachineId machine;
  SOUK_FIELDS(MachineOffline, machine)
};

using AnyEvent = std::variant<
    SettingsChanged, ClassSet, AccountCreated, PasswordChanged, AccountFrozen, TokenIssued,
    TokenRevoked, CreditsGranted, MachineAdded, MachineChanged, MachineOnline, MachineRemoved,
    OfferPosted, OfferChanged, OfferPaused, OfferDraining, OfferRemoved, JobSubmitted, JobChanged,
    JobWarned, JobPaused, JobResumed, JobEnded, JobForgotten, RoundCleared, LeaseGranted,
    LeaseStarted, LeaseSettled, LeaseRenewed, LeaseDraining, LeaseClosed, LeaseForgotten,
    FeedbackGiven, Audited, Answered, LeaseCheckpointed, MachineJudged, LeaseWorked, JobResult,
    ProfileLearnt, JobResized, JobMoved, JobAimed, CreditsRequested, RequestAnswered, TrialNoted,
    LeaseReady, GangChanged, LeaseServed, VolumeSaved, VolumeRemoved, MachineOffline>;

// What it takes to copy, move and end any of them is compiled once (events.cc) and not in every
// file.
class Event : public AnyEvent {
 public:
  using AnyEvent::AnyEvent;
  Event();
  Event(const Event& other);
  Event(Event&& other) noexcept;
  Event& operator=(const Event& other);
  Event& operator=(Event&& other) noexcept;
  ~Event();
};

using Events = std::vector<Event>;

// "OfferPosted": the kind of an event, as the API and `souk journal dump` show it.
std::string_view kind_of(const Event& event);

}  // namespace souk::market

extern template class std::vector<souk::market::Event>;
