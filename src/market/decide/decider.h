#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "market/decide/decide.h"
#include "market/limits.h"

namespace souk::market {

// The mechanism that a class names, if a market can run it. For kExternal: its fallback.
[[nodiscard]] Result<std::unique_ptr<mechanism::Mechanism>> rule_of(
    const std::string& name, const std::map<std::string, std::string>& params);

// What an offer of this class without a reserve asks for now, under the class's mechanism.
[[nodiscard]] Credits market_ask(const State& s, const SlotClass& slot_class, Time now);

inline constexpr std::string_view kAllFinished = "all workers finished";

// Who loses by a lease that came to nothing; by default both sides do.
struct Blame {
  bool keeps_try = false;  // The job does not.
  bool excused = false;    // The machine does not.
};

// One decision in the making: the inside of decide(). Handlers append to `out`; a handler that
// returns an error has no effect. Spread over the files of this folder by subject.
class Decider {
 public:
  // What it decides is put behind what is in `events`.
  Decider(const State& state, Time at, const Actor& actor, Events events)
      : out(std::move(events)), s(state), now(at), actor_(actor) {}

  // accounts.cc
  Result<> operator()(const ChangeSettings& c);
  Result<> operator()(const SetClass& c);
  Result<> operator()(const CreateAccount& c);
  Result<> operator()(const ChangePassword& c);
  Result<> operator()(const FreezeAccount& c);
  Result<> operator()(const IssueToken& c);
  Result<> operator()(const RevokeToken& c);
  Result<> operator()(const RevokeTokens& c);
  Result<> operator()(const GrantCredits& c);
  Result<> operator()(const GiveFeedback& c);
  Result<> operator()(const RequestCredits& c);
  Result<> operator()(const AnswerRequest& c);
  // offers.cc
  Result<> operator()(const AddMachine& c);
  Result<> operator()(const ChangeMachine& c);
  Result<> operator()(const RemoveMachine& c);
  Result<> operator()(const JudgeMachine& c);
  Result<> operator()(const PostOffer& c);
  Result<> operator()(const ChangeOffer& c);
  Result<> operator()(const PauseOffer& c);
  Result<> operator()(const DrainOffer& c);
  Result<> operator()(const RemoveOffer& c);
  // jobs.cc
  Result<> operator()(const SubmitJob& c);
  Result<> operator()(const ChangeJob& c);
  Result<> operator()(const PauseJob& c);
  Result<> operator()(const ResumeJob& c);
  Result<> operator()(const CancelJob& c);
  Result<> operator()(const MoveJob& c);
  Result<> operator()(const AimProbe& c);
  // sweeps.cc
  Result<> operator()(const NoteTrial& c);
  Result<> operator()(const EndSweep& c);
  // services.cc
  Result<> operator()(const ServeRequests& c);
  Result<> operator()(const SaveVolume& c);
  Result<> operator()(const RemoveVolume& c);
  // leases.cc
  Result<> operator()(const StartLease& c);
  Result<> operator()(const Heartbeat& c);
  Result<> operator()(const FinishLease& c);
  Result<> operator()(const CheckpointLease& c);
  Result<> operator()(const AcceptWork& c);
  Result<> operator()(const ReportResult& c);
  Result<> operator()(const LearnProfile& c);
  Result<> operator()(const ResizeJob& c);
  Result<> operator()(const ExpireLease& c);
  Result<> operator()(const Tick& c);
  // round.cc
  Result<> operator()(const Clear& c);

  Events out;

 private:
  [[nodiscard]] bool is_operator() const { return actor_.scope == Scope::operator_; }
  [[nodiscard]] bool is_system() const { return actor_.system; }
  Result<> need_operator(std::string_view what) const;
  // The actor is `owner`, an operator, or the system. A machine's token is refused.
  Result<> need_owner(AccountId owner, std::string_view what) const;
  template <class Tag>
  Result<> need_owner(AccountId owner, base::Id<Tag> id) const {
    if (acts_for(owner)) return {};  // No words needed.
    return need_owner(owner, std::string(Tag::noun) + " " + to_string(id));
  }
  [[nodiscard]] bool acts_for(AccountId owner) const {
    return is_system() || is_operator() ||
           (actor_.account == owner && actor_.scope != Scope::machine);
  }
  // As need_owner, or the actor is the agent of this machine.
  Result<> need_agent(const Machine& machine) const;
  // As need_owner; a token that can spend only so much acts for the jobs it submitted itself.
  Result<> need_job(const Job& job) const;
  // With such a token: are `more` credits left of its limit?
  Result<> need_allowance(Credits more) const;
  [[nodiscard]] bool is_spender() const { return actor_.scope == Scope::spend; }
  Result<> need_active(AccountId account) const;  // Not frozen.
  // The actor is a person with an account that is not frozen, not a machine, not the market.
  Result<> need_person(std::string_view what) const;
  void audit(std::string action, std::string subject, std::string detail = {});
  // The same, if the thing belongs to somebody other than the actor.
  void audit_other(AccountId owner, std::string action, std::string subject,
                   std::string detail = {});

  template <class I, class T>
  Result<const T*> find(const Table<I, T>& table, I id) const;
  Result<const SlotClass*> find_class(ClassId id) const;

  Result<> need_room_for_job(JobId id, Credits budget) const;
  Result<> make_room_for_token(const IssueToken& c);
  Result<> check_limit(const IssueToken& c) const;
  Result<> check_spec(const MachineSpec& spec) const;
  Result<> check_machine_name(AccountId owner, std::string_view name, MachineId except) const;
  Result<> check_terms(const OfferTerms& terms) const;
  Result<> check_fits(const Machine& m, ClassId slot_class, std::int32_t slots,
                      OfferId except) const;
  Result<> check_terms(const JobTerms& terms) const;
  Result<> check_constraints(const Constraints& c) const;
  void move_waiting(const Clear& c, std::vector<JobId> served);
  bool is_needed(const Lease& l, Credits price) const;
  Result<> check_results(const SubmitJob& c) const;
  Result<> check_least_class(const SubmitJob& c, const SlotClass& first) const;
  Result<> check_sweep(const SubmitJob& c) const;
  Result<> check_service(const SubmitJob& c) const;
  Result<> check_volumes(const SubmitJob& c) const;
  // Is the sweep of a trial there, with room and credits for it?
  Result<> need_room_for_trial(const SubmitJob& c) const;
  Result<> need_credits_of(const Job& sweep, Credits more) const;

  // The open lease that a report with this epoch is about.
  Result<const Lease*> reported(LeaseId id, std::int32_t epoch) const;
  void settle(const Lease& l, Time until);
  void settle_overtime(const Lease& l);
  // Of the term in force, for `time` in all.
  void bill(const Lease& l, Duration time, Time until);
  void close(const Lease& l, LeaseOutcome outcome, std::string detail, std::string result = {},
             Blame blame = {});
  // Closes a lease that came to nothing, and its job when it is not to be tried again.
  void give_up(const Lease& l, LeaseOutcome outcome, std::string detail, std::string result = {},
               Blame blame = {});
  // Of a job whose results are compared: what is to be paid now, and the end of the lease.
  void compare(const Lease& l, const FinishLease& c);
  // Of a probe, with another result than it must have.
  void refuse_result(const Lease& l, const FinishLease& c);
  void pay(const PartAnswer& answer);
  // Nobody contradicted them, and the job ends: whoever cancels gets no answer for nothing.
  void pay_undecided(const Job& j);
  void drain(const Lease& l, std::string reason);
  void end_job(const Job& j, JobState state, std::string reason);
  void pause_job(const Job& j, std::string reason);
  void warn_if_low(const Job& j, Credits about_to_pay);
  // The newest of its workers that are more than `most` get notice.
  void drain_surplus(const Job& j, std::int32_t most);
  bool still_wanted(const Job& job, const Lease& lease) const;
  Credits price_in_force(const Lease& l) const;
  void renew_or_drain(const Lease& l);
  void attend(const Lease& l);

  // gangs.cc. Of a lease that is no gang's worker_leaves() and worker_left() do nothing.
  void make_ready(const Lease& l);
  void attend_waiting(const Lease& l);
  void worker_leaves(const Lease& l, std::string_view reason);  // After it was told to drain.
  void worker_left(const Lease& l, std::string_view reason);    // After it was closed.
  void worker_failed(const Lease& l, const std::string& detail);
  void worker_done(const Lease& l);
  void regroup(const Job& gang, const Lease& l, std::string reason, std::string failure);
  void send_away(const Job& gang, const Lease& l, const std::string& reason);
  void judge_failure(const Job& gang, const Lease& last);
  void fail_gang(const Job& gang, std::string why);
  void end_gang(const Job& gang);
  // Are all its leases closed by this decision?
  bool is_last(const Job& gang) const;
  bool goes_on_without(const Job& gang, const Lease& l) const;

  const State& s;
  const Time now;
  const Actor actor_;
  std::map<JobId, Credits> promised_;  // Of jobs' budgets, by renewals in this decision.
  std::set<JobId> touched_, ended_;    // Jobs, in this decision.
  // Likewise: gangs whose workers were all told to go, workers that go, and leases closed by job.
  std::set<JobId> sent_away_;
  std::set<LeaseId> leaving_;
  std::map<JobId, std::int32_t> closed_;
};

template <class I, class T>
Result<const T*> Decider::find(const Table<I, T>& table, I id) const {
  if (const T* found = table.find(id)) return found;
  return base::fail(
      base::Code::not_found,
      std::string("there is no ") + std::string(base::IdTraits<I>::noun) + " " + to_string(id));
}

}  // namespace souk::market
