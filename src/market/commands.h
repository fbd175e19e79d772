#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "market/types.h"
#include "mechanism/mechanism.h"

// What somebody asks for. A command may be refused (decide.h), and a refused one changes nothing.

namespace souk::market {

// Who asks. The server has authenticated them; ownership is decide()'s business.
struct Actor {
  AccountId account;
  Scope scope = Scope::user;
  MachineId machine;    // With scope machine: the only machine it may act for.
  bool system = false;  // The market itself: its timers, its first account.
  TokenId token = {};   // With scope spend: the token, whose jobs and limit are its own.
};

inline constexpr Actor kSystem{.system = true};

struct ChangeSettings {
  Settings settings;
};
struct SetClass {  // Adds or edits the class of this name.
  SlotClass slot_class;
};
struct CreateAccount {
  std::string name;
  std::string password;
  bool is_operator = false;
};
struct ChangePassword {
  AccountId account;
  std::string password;
};
struct FreezeAccount {
  AccountId account;
  std::string reason;  // Empty thaws.
};
struct IssueToken {
  AccountId account;
  Scope scope = Scope::user;
  MachineId machine;
  base::Digest digest;
  std::string label;
  Time expires = base::kNever;
  std::optional<Credits> limit = {};  // With scope spend.
};
struct RevokeToken {
  TokenId token;
};
struct RevokeTokens {  // All of an account: "log out everywhere".
  AccountId account;
};
struct GrantCredits {
  AccountId account;  // The platform's account too: it pays the sign-up bonus.
  Credits amount;
  std::string memo;
};
struct AddMachine {
  std::string name;
  MachineSpec spec;
};
struct ChangeMachine {
  MachineId machine;
  std::string name;
  MachineSpec spec;
};
struct RemoveMachine {
  MachineId machine;
};
struct PostOffer {
  MachineId machine;
  ClassId slot_class;
  OfferTerms terms;
};
struct ChangeOffer {
  OfferId offer;
  OfferTerms terms;
};
struct PauseOffer {
  OfferId offer;
  Time until;  // Not in the future: resume.
};
struct DrainOffer {
  OfferId offer;
};
struct RemoveOffer {
  OfferId offer;
};
struct SubmitJob {
  std::string name;
  std::string kind = "batch";
  ClassId slot_class;
  JobTerms terms;
  std::string work;
  Retry retry;
  std::string forecast = {};
  std::int32_t planned = 0;
  std::string planned_why = {};
  std::vector<ClassId> also = {};  // Classes it may move to.
  Pay pay = Pay::time;
  std::int32_t replicate = 1;
  std::string expect = {};       // The result of each part is known: a probe. For operators.
  std::int32_t most_trials = 0;  // A sweep: so many trials at a time.
  JobId sweep = {};              // A trial of it, paid from its escrow. For the market itself.
  std::string note = {};         // Of a trial.
  bool gang = false;             // Its workers are granted, started and ended together,
  bool led = false;              // and the others end when worker 0 has.
  Credits per_request = {};      // A service: for each request, beside the price of the time.
  std::vector<std::string> volumes = {};  // Of its owner's, that its workers may change.
  ClassId least_class = {};               // Job::least_class.
};
struct ChangeJob {
  JobId job;
  JobTerms terms;
};
struct PauseJob {
  JobId job;
  std::string reason = {};  // For the market itself; of people it is who they are.
};
struct ResumeJob {
  JobId job;
};
struct CancelJob {
  JobId job;
  std::string reason;
};
// It runs; of a gang: it could, and the last of them starts all.
struct StartLease {
  LeaseId lease;
  std::int32_t epoch = 0;
};
// The machine is alive and still holds these leases.
struct LeaseAndEpoch {
  LeaseId lease;
  std::int32_t epoch = 0;
};
struct Heartbeat {
  MachineId machine;
  std::vector<LeaseAndEpoch> leases;
};
// The program ended (completed, failed), the lender takes the slots back (released), or the machine
// cannot run it (unstarted).
struct FinishLease {
  LeaseId lease;
  std::int32_t epoch = 0;
  LeaseOutcome outcome = LeaseOutcome::completed;
  std::string detail;
  std::string result;    // The name of a blob.
  bool excused = false;  // Unstarted because of the job: its machine is not to blame.
  bool doubts = false;   // If the result of a probe is wrong: no lease until a challenge is passed.
};
struct CheckpointLease {  // Whoever continues this part begins here.
  LeaseId lease;
  std::int32_t epoch = 0;
  std::string checkpoint;
};
struct ExpireLease {  // Silent for too long (liveness.h).
  LeaseId lease;
  bool untaken = false;  // Its machine has never taken it up: the job loses no try.
};
// The machine holds data that the job needs: of equal machines, the job takes this one.
struct Near {
  JobId job;
  MachineId machine;
  auto operator<=>(const Near&) const = default;
};
// Of a job that is paid by work: `worked` more of the lease's time led to something useful.
// `number` counts the wages of one job, from 1: a wage up to Job::paid_through was paid before, and
// is not paid again. 0: not numbered.
struct AcceptWork {
  LeaseId lease;
  std::int32_t epoch = 0;
  Duration worked;
  std::int64_t number = 0;
};
// What a job has come to; if that is complete, its leases end and it succeeds; without a result it
// failed.
struct ReportResult {
  JobId job;
  std::string result;
  bool complete = false;
  std::string reason;
};
struct NoteTrial {  // What is known of a trial now.
  JobId job;
  std::string note;
};
// All trials of a sweep have ended. The sweep succeeds, unless it `failed`.
struct EndSweep {
  JobId job;
  bool failed = false;
  std::string reason;
};
struct ResizeJob {
  JobId job;
  std::int32_t workers = 0;
  std::string why;
  bool promptly = false;  // Whoever is too many gets notice now, not when its term ends.
};
// Of a service: the lease's program has answered so many more.
struct ServeRequests {
  LeaseId lease;
  std::int32_t epoch = 0;
  std::int64_t requests = 0;
};
// What is in a volume of the job from now on. A lease that has just ended may still say so.
struct SaveVolume {
  LeaseId lease;
  std::int32_t epoch = 0;
  std::string name;
  std::string blob;
};
struct RemoveVolume {
  AccountId owner;
  std::string name;
};
// The job goes on in another of its classes. The leases that it has end at once.
struct MoveJob {
  JobId job;
  ClassId slot_class;
  std::int32_t workers = 0;  // That it is to have there; 0: as many as it may.
  std::string why;
};
struct AimProbe {  // The next part of a probe runs on this machine; none: nowhere.
  JobId job;
  MachineId machine;
};
struct LearnProfile {  // Replaces what was known under this key.
  std::string key;
  std::string text;
};
// What one slot of the machine was measured to do for the job.
struct Pace {
  JobId job;
  MachineId machine;
  double steps_per_s = 0;  // 0: the job cannot run there.
};
struct JobWork {
  JobId job;
  mechanism::JobProgress work;
};
// Slots of an offer that a program gives to a job, by the ids of the book that it saw.
struct ProposedTrade {
  JobId job;
  OfferId offer;
  std::int32_t units = 0;
  Credits pays, gets;  // Per slot-hour.
};
// What the program of a class said to the books of its round (decide/program_books.h).
struct ProgramAnswer {
  std::vector<ProposedTrade> trades;
  std::vector<JobId> unanswered;  // In order: jobs in books to which it gave no good answer.
};
struct Clear {  // One round of one class.
  ClassId slot_class;
  std::uint64_t seed = 0;
  std::vector<Near> near;  // In order.
  // Of a class whose mechanism is a program, which was asked before; nothing: its fallback clears.
  std::optional<ProgramAnswer> answer;
  // For mechanisms that want them (Mechanism::wants_rates). A job without paces runs alike
  // everywhere; a machine that a job has no pace on counts as the mean of those it has.
  std::vector<Pace> paces;     // In order of (job, machine).
  std::vector<JobWork> works;  // In order of job.
  // Machines that have not been heard lately, in order: they get no lease.
  std::vector<MachineId> unheard = {};
};
struct JudgeMachine {  // It passed a challenge, or failed it because of `failure`.
  MachineId machine;
  std::string failure;
  bool untested = false;  // Not asked yet, which is why it lends nothing.
  Duration lane = {};     // What a core took for a lane of the challenge it passed.
};
struct Tick {                      // Whatever is due by now: ends of terms, deadlines, retention.
  std::vector<LeaseId> fetching;   // Being set up, with progress: not given up for that. In order.
  std::vector<MachineId> unheard;  // Silent for too long: what lends nothing goes offline.
};
struct GiveFeedback {
  FeedbackCategory category = FeedbackCategory::question;
  std::string text;
};
struct RequestCredits {  // Of the operator, for the actor's own account.
  Credits amount;
  std::string why;
};
struct AnswerRequest {
  AccountId account;
  Credits amount;  // To be granted; 0: it is declined.
  std::string word;
};

using AnyCommand =
    std::variant<ChangeSettings, SetClass, CreateAccount, ChangePassword, FreezeAccount, IssueToken,
                 RevokeToken, RevokeTokens, GrantCredits, AddMachine, ChangeMachine, RemoveMachine,
                 PostOffer, ChangeOffer, PauseOffer, DrainOffer, RemoveOffer, SubmitJob, ChangeJob,
                 PauseJob, ResumeJob, CancelJob, StartLease, Heartbeat, FinishLease, ExpireLease,
                 Clear, Tick, GiveFeedback, CheckpointLease, JudgeMachine, AcceptWork, ReportResult,
                 LearnProfile, ResizeJob, MoveJob, AimProbe, RequestCredits, AnswerRequest,
                 NoteTrial, EndSweep, ServeRequests, SaveVolume, RemoveVolume>;

// As Event: what it takes to copy, move and end any of them is compiled once (commands.cc).
class Command : public AnyCommand {
 public:
  using AnyCommand::AnyCommand;
  Command();
  Command(const Command& other);
  Command(Command&& other) noexcept;
  Command& operator=(const Command& other);
  Command& operator=(Command&& other) noexcept;
  ~Command();
};

struct Request {
  Time now;
  Actor actor;
  Command command;
};

}  // namespace souk::market
