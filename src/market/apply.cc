#include <algorithm>
#include <utility>

#include "market/lease_ends.h"
#include "market/limits.h"
#include "market/round_tally.h"
#include "market/state.h"

namespace souk::market {
namespace {

using ledger::Transfer;

constexpr std::ptrdiff_t kMergedLines = 64;  // How far back a lease's line is looked for.

// What each event does. One overload each; nothing here can fail or look at a clock.
struct Applier {
  State& s;
  Time at;

  void line(AccountId account, StatementLine l) {
    if (account == ledger::kPlatform) return;
    auto& lines = s.statements[account.value - 1];
    l.at = at;
    lines.push_back(std::move(l));
    if (lines.size() > kStatementLines) lines.pop_front();
  }

  // A lease's payments are one line each way, kept at the place of the first.
  void add_to_line(AccountId account, StatementLine l) {
    if (account == ledger::kPlatform) return;
    auto& lines = s.statements[account.value - 1];
    const auto recent = lines.rbegin() + std::min<std::ptrdiff_t>(lines.size(), kMergedLines);
    const auto known = std::find_if(lines.rbegin(), recent, [&](const StatementLine& line) {
      return line.lease == l.lease && line.kind == l.kind;
    });
    if (known == recent) return line(account, std::move(l));
    known->amount += l.amount;
    known->at = at;
  }

  void operator()(const SettingsChanged& e) {
    s.settings = e.settings;
    s.index.rebuild(s);  // Due times follow from the settings.
  }

  void operator()(const ClassSet& e) {
    const auto i = e.slot_class.id.value - 1;
    CHECK(i <= s.classes.size());
    if (i == s.classes.size()) {
      s.classes.emplace_back();
      s.prices.emplace_back();
      s.tallies.emplace_back();
      s.standings.emplace_back();
    }
    s.classes[i] = e.slot_class;
    s.index.class_set(e.slot_class);
  }

  void operator()(const AccountCreated& e) {
    s.accounts.add(e.account.id, e.account);
    s.ledger.open(e.account.id);
    s.statements.emplace_back();
    s.index.account_added(e.account);
    if (e.bonus == Credits()) return;
    s.ledger.apply({.kind = ledger::Kind::bonus, .to = e.account.id, .amount = e.bonus});
    line(e.account.id, {.kind = LineKind::bonus, .amount = e.bonus, .memo = "sign-up bonus"});
  }

  void operator()(const PasswordChanged& e) { s.accounts.at(e.account).password = e.password; }

  void operator()(const AccountFrozen& e) {
    s.accounts.at(e.account).frozen = e.reason;
    for (const auto m : s.index.machines_of[e.account.value]) s.index.offers_changed(s, m);
  }

  void operator()(const TokenIssued& e) {
    s.index.token_changed(s.tokens.add(e.token.id, e.token), 1);
  }

  void operator()(const TokenRevoked& e) {
    s.index.token_changed(s.tokens.at(e.token), -1);
    s.tokens.erase(e.token);
  }

  void operator()(const CreditsGranted& e) {
    s.ledger.apply({.kind = ledger::Kind::grant, .to = e.account, .amount = e.amount});
    line(e.account, {.kind = LineKind::grant, .amount = e.amount, .memo = e.memo});
  }

  void operator()(const MachineAdded& e) {
    s.index.machine_added(s.machines.add(e.machine.id, e.machine));
  }

  void operator()(const MachineChanged& e) {
    auto& m = s.machines.at(e.machine);
    m.name = e.name;
    m.spec = e.spec;
    s.index.machine_changed(s, m);
  }

  void operator()(const MachineOnline& e) {
    s.machines.at(e.machine).online = true;
    s.index.offers_changed(s, e.machine);
  }

  void operator()(const MachineOffline& e) {
    s.machines.at(e.machine).online = false;
    s.index.offers_changed(s, e.machine);
  }

  void operator()(const MachineJudged& e) {
    auto& m = s.machines.at(e.machine);
    m.doubted = e.failure;
    if (e.lane > Duration()) m.lane = e.lane;
    if (!e.failure.empty() && !e.untested) lose_reliability(m);
    s.index.offers_changed(s, e.machine);
  }

  void operator()(const MachineRemoved& e) {
    s.index.machine_removed(s.machines.at(e.machine));
    s.machines.erase(e.machine);
  }

  void operator()(const OfferPosted& e) {
    s.index.offer_added(s, s.offers.add(e.offer.id, e.offer));
  }

  void operator()(const OfferChanged& e) {
    auto& o = s.offers.at(e.offer);
    o.terms = e.terms;
    s.index.offer_changed(s, o, true);
  }

  void operator()(const OfferPaused& e) {
    auto& o = s.offers.at(e.offer);
    o.paused_until = e.until;
    s.index.offer_changed(s, o, false);
  }

  void operator()(const OfferDraining& e) {
    auto& o = s.offers.at(e.offer);
    o.draining = true;
    s.index.offer_changed(s, o, false);
  }

  void operator()(const OfferRemoved& e) {
    s.index.offer_removed(s.offers.at(e.offer));
    s.offers.erase(e.offer);
  }

  // After `j` changed: `before` is what it took of its token's limit until now.
  void count_for_token(const Job& j, const TokenShare& before) {
    if (!j.token) return;
    auto* token = s.tokens.find(j.token);
    if (token == nullptr) return;  // Revoked: nobody can spend with it.
    const auto now = share_of(j);
    token->used += now.used - before.used;
    token->spent += now.spent - before.spent;
  }

  void spend(Job& j, Credits amount) {
    const auto share = share_of(j);
    j.spent += amount;
    count_for_token(j, share);
    if (j.sweep) spend(s.jobs.at(j.sweep), amount);
  }

  // Between the escrow of a sweep and that of one of its trials.
  void move_escrow(const Job& from, const Job& to, Credits amount) {
    s.ledger.apply({.kind = ledger::Kind::release, .hold = hold_of(from.id), .amount = amount});
    s.ledger.apply({.kind = ledger::Kind::reserve,
                    .from = to.owner,
                    .hold = hold_of(to.id),
                    .amount = amount});
  }

  void add_trial(const Job& j) {
    auto& sweep = s.jobs.at(j.sweep);
    move_escrow(sweep, j, j.terms.budget);
    sweep.trials.push_back(j.id);
    sweep.state = JobState::running;
    if (sweep.started == Time()) sweep.started = at;
    s.index.job_changed(s, sweep);
  }

  // Its hold is closed, and had `left`.
  void end_trial(const Job& j, Credits left) {
    auto& sweep = s.jobs.at(j.sweep);
    if (left > Credits())
      s.ledger.apply({.kind = ledger::Kind::reserve,
                      .from = j.owner,
                      .hold = hold_of(sweep.id),
                      .amount = left});
    std::erase(sweep.trials, j.id);
    if (sweep.trials.empty() && sweep.state == JobState::running) sweep.state = JobState::queued;
    s.index.job_changed(s, sweep);
  }

  void operator()(const JobSubmitted& e) {
    const auto& j = s.jobs.add(e.job.id, e.job);
    count_for_token(j, {});
    if (j.sweep) {
      add_trial(j);
    } else {
      s.ledger.apply({.kind = ledger::Kind::reserve,
                      .from = j.owner,
                      .hold = hold_of(j.id),
                      .amount = j.terms.budget});
      line(j.owner, {.kind = LineKind::reserve, .amount = -j.terms.budget, .job = j.id});
    }
    ++s.index.counts[j.owner.value].live_jobs;
    s.index.job_added(j);
    s.index.job_changed(s, j);
  }

  void operator()(const JobChanged& e) {
    auto& j = s.jobs.at(e.job);
    const auto more = e.terms.budget - j.terms.budget;
    if (j.sweep && more > Credits()) {
      move_escrow(s.jobs.at(j.sweep), j, more);
      j.warned = false;
    } else if (j.sweep && more < Credits()) {
      move_escrow(j, s.jobs.at(j.sweep), -more);
    } else if (more > Credits()) {
      s.ledger.apply(
          {.kind = ledger::Kind::reserve, .from = j.owner, .hold = hold_of(j.id), .amount = more});
      line(j.owner, {.kind = LineKind::reserve, .amount = -more, .job = j.id});
      j.warned = false;
    } else if (more < Credits()) {
      s.ledger.apply({.kind = ledger::Kind::release, .hold = hold_of(j.id), .amount = -more});
      line(j.owner, {.kind = LineKind::refund, .amount = -more, .job = j.id});
    }
    s.index.job_leaves(j);
    const auto share = share_of(j);
    if (more > Credits() && j.token && e.token == j.token) j.token_budget += more;
    j.token_budget = std::min(j.token_budget, e.terms.budget);
    j.terms = e.terms;
    count_for_token(j, share);
    s.index.job_changed(s, j);
  }

  void operator()(const JobWarned& e) { s.jobs.at(e.job).warned = true; }

  void operator()(const JobPaused& e) {
    auto& j = s.jobs.at(e.job);
    j.state = JobState::paused;
    j.reason = e.reason;
    s.index.job_changed(s, j);
  }

  void operator()(const JobResumed& e) {
    auto& j = s.jobs.at(e.job);
    j.state = j.leases.empty() && j.trials.empty() ? JobState::queued : JobState::running;
    j.reason.clear();
    s.index.job_changed(s, j);
  }

  void operator()(const JobEnded& e) {
    auto& j = s.jobs.at(e.job);
    CHECK(j.leases.empty() && j.trials.empty());
    const auto left = s.ledger.hold(hold_of(j.id))->left;
    s.ledger.apply({.kind = ledger::Kind::close, .hold = hold_of(j.id)});
    if (j.sweep)
      end_trial(j, left);
    else if (left > Credits())
      line(j.owner, {.kind = LineKind::refund, .amount = left, .job = j.id});
    const auto share = share_of(j);
    j.state = e.state;
    j.reason = e.reason;
    j.ended = at;
    count_for_token(j, share);
    if (e.state == JobState::succeeded && j.started > Time() && !is_sweep(j))
      s.prices[j.slot_class.value - 1].ran(at - j.started);
    --s.index.counts[j.owner.value].live_jobs;
    s.index.job_changed(s, j);
    if (const auto trials = s.index.trials_of.find(j.id); trials != s.index.trials_of.end())
      for (const auto trial : trials->second) s.index.job_changed(s, s.jobs.at(trial));
  }

  void operator()(const TrialNoted& e) { s.jobs.at(e.job).note = e.note; }

  void operator()(const JobForgotten& e) {
    s.index.job_due.erase(e.job);
    s.index.job_removed(s.jobs.at(e.job));
    s.jobs.erase(e.job);
  }

  void operator()(const RoundCleared& e) {
    auto& history = s.prices[e.slot_class.value - 1];
    history.sampled(at, e.supply, e.demand, e.leased);
    if (e.price) history.cleared(*e.price);
    history.drop_before(at - s.settings.history);
    if (!e.standing.empty()) s.standings[e.slot_class.value - 1] = e.standing;
    tally(s.tallies[e.slot_class.value - 1], e);
  }

  void operator()(const LeaseGranted& e) {
    const auto& l = s.leases.add(e.lease.id, e.lease);
    auto& offer = s.offers.at(l.offer);
    offer.leased += l.slots;
    s.index.offer_leased(offer);
    auto& job = s.jobs.at(l.job);
    if (job.epoch == 0) s.tallies[l.slot_class.value - 1].now().waited(at - job.created);
    if (is_gang(job) && job.held == 0) begin_anew(job);
    job.leases.push_back(l.id);
    job.held += l.slots;
    job.epoch = l.epoch;
    job.state = JobState::running;
    if (is_probe(job)) {
      job.aimed = {};
      job.probed.push_back(l.lender);
    }
    s.index.job_changed(s, job);
    s.index.lease_opened(s, l);
    // Trading with oneself says nothing about what others would pay.
    if (l.borrower != l.lender) s.prices[l.slot_class.value - 1].traded(at, l.term.pays, l.slots);
  }

  void operator()(const LeaseStarted& e) {
    auto& l = s.leases.at(e.lease);
    l.state = LeaseState::running;
    l.started = l.settled_until = at;
    auto& job = s.jobs.at(l.job);
    if (job.started == Time()) job.started = at;
    s.index.lease_changed(s, l);
    const auto waits = [&](LeaseId id) { return s.leases.at(id).state == LeaseState::granted; };
    if (!is_gang(job) || std::ranges::any_of(job.leases, waits)) return;
    job.gang.phase = GangPhase::running;
    s.index.job_changed(s, job);
  }

  void operator()(const LeaseReady& e) { s.leases.at(e.lease).ready = at; }

  void operator()(const GangChanged& e) {
    auto& job = s.jobs.at(e.job);
    job.gang.phase = e.phase;
    job.gang.failure = e.failure;
    if (e.phase == GangPhase::regrouping) ++job.gang.restarts;
    if (job.leases.empty()) job.gang.phase = GangPhase::forming;
    s.index.job_changed(s, job);
  }

  void operator()(const LeaseSettled& e) {
    auto& l = s.leases.at(e.lease);
    if (e.amount > Credits()) {
      // What was agreed and not paid for is no price.
      if (l.borrower != l.lender)
        s.prices[l.slot_class.value - 1].paid(at, {l.borrower, l.lender}, l.term.pays,
                                              l.term_paid == Credits() ? l.slots : 0);
      s.ledger.apply({.kind = ledger::Kind::post,
                      .to = l.lender,
                      .hold = hold_of(l.job),
                      .amount = e.amount,
                      .fee = e.fee});
      // Most leases pay once: what has no line yet need not be looked for.
      const auto add = l.paid == Credits() ? &Applier::line : &Applier::add_to_line;
      (this->*add)(l.borrower,
                   {.kind = LineKind::spend, .amount = -e.amount, .job = l.job, .lease = l.id});
      (this->*add)(
          l.lender,
          {.kind = LineKind::earn, .amount = e.amount - e.fee, .job = l.job, .lease = l.id});
    }
    l.paid += e.amount;
    l.earned += e.amount - e.fee;
    l.term_paid += e.amount;
    l.term_earned += e.amount - e.fee;
    l.settled_until = e.until;
    if (l.next && e.until >= l.term.until) {
      const auto billed = std::min(l.worked, term_length(l));
      l.worked_before = l.worked_before + billed;
      l.worked = l.worked - billed;
      l.term = *l.next;
      l.next.reset();
      l.term_paid = l.term_earned = Credits();
    }
    spend(s.jobs.at(l.job), e.amount);
    s.index.lease_changed(s, l);
  }

  void operator()(const LeaseServed& e) {
    auto& l = s.leases.at(e.lease);
    l.requests += e.requests;
    if (e.amount == Credits()) return;
    s.ledger.apply({.kind = ledger::Kind::post,
                    .to = l.lender,
                    .hold = hold_of(l.job),
                    .amount = e.amount,
                    .fee = e.fee});
    add_to_line(l.borrower,
                {.kind = LineKind::spend, .amount = -e.amount, .job = l.job, .lease = l.id});
    add_to_line(l.lender,
                {.kind = LineKind::earn, .amount = e.amount - e.fee, .job = l.job, .lease = l.id});
    l.paid += e.amount;
    l.earned += e.amount - e.fee;
    spend(s.jobs.at(l.job), e.amount);
  }

  void operator()(const VolumeSaved& e) {
    s.volumes[volume_key(e.volume.owner, e.volume.name)] = e.volume;
  }
  void operator()(const VolumeRemoved& e) { s.volumes.erase(volume_key(e.owner, e.name)); }

  void operator()(const LeaseRenewed& e) {
    auto& l = s.leases.at(e.lease);
    l.next = e.next;
    s.index.lease_changed(s, l);
  }

  void operator()(const LeaseDraining& e) {
    auto& l = s.leases.at(e.lease);
    l.state = LeaseState::draining;
    l.term.until = std::min(l.term.until, e.until);
    l.next.reset();
    l.detail = e.reason;
    s.index.lease_changed(s, l);
  }

  void operator()(const LeaseClosed& e) { close_lease(s, at, e); }

  void operator()(const LeaseCheckpointed& e) {
    const auto& l = s.leases.at(e.lease);
    part_of(s.jobs.at(l.job), l.part).checkpoint = e.checkpoint;
  }

  void operator()(const LeaseWorked& e) {
    auto& l = s.leases.at(e.lease);
    l.worked = l.worked + e.worked;
    auto& job = s.jobs.at(l.job);
    job.paid_through = std::max(job.paid_through, e.number);
  }
  void operator()(const JobResized& e) {
    auto& job = s.jobs.at(e.job);
    job.planned = e.workers;
    job.planned_why = e.why;
    s.index.job_changed(s, job);
  }

  void operator()(const JobAimed& e) {
    auto& job = s.jobs.at(e.job);
    job.aimed = e.machine;
    s.index.job_changed(s, job);
  }

  void operator()(const JobMoved& e) {
    auto& job = s.jobs.at(e.job);
    CHECK(job.leases.empty());
    s.index.job_leaves(job);
    job.moves.push_back({at, job.slot_class, e.slot_class, e.why});
    if (job.moves.size() > kMovesPerJob) job.moves.erase(job.moves.begin());
    std::ranges::replace(job.also, e.slot_class, job.slot_class);
    job.slot_class = e.slot_class;
    job.planned = e.workers;
    job.planned_why = e.workers > 0 ? e.why : "";
    s.index.job_changed(s, job);
  }

  void operator()(const ProfileLearnt& e) {
    s.profiles[e.key] = {e.text, at};
    if (s.profiles.size() <= kProfiles) return;
    s.profiles.erase(std::ranges::min_element(
        s.profiles, {}, [](const auto& known) { return std::pair(known.second.at, known.first); }));
  }

  void operator()(const JobResult& e) { s.jobs.at(e.job).result = e.result; }

  void operator()(const LeaseForgotten& e) {
    s.index.lease_due.erase(e.lease);
    s.leases.erase(e.lease);
  }

  void operator()(const FeedbackGiven& e) {
    s.feedback.add(e.feedback.id, e.feedback);
    if (s.feedback.size() > kFeedback) s.feedback.erase(s.feedback.after({}));
  }

  // An open one is replaced: only the last counts.
  void operator()(const CreditsRequested& e) {
    auto& r = s.requests[e.account];
    const bool same_day = r.times > 0 && at - r.day < base::days(1);
    r = {.amount = e.amount,
         .why = e.why,
         .at = at,
         .day = same_day ? r.day : at,
         .times = same_day ? r.times + 1 : 1};
  }

  void operator()(const RequestAnswered& e) {
    auto& r = s.requests.at(e.account);
    r.answered = at;
    r.granted = e.granted;
    r.word = e.word;
  }

  void operator()(const Audited& e) {
    s.audit.push_back(e.entry);
    if (s.audit.size() > kAuditEntries) s.audit.pop_front();
  }

  void operator()(const Answered& e) {
    auto answer = e.answer;
    if (answer.key_hash == 0) answer.key_hash = key_hash_of(answer.account, answer.key);
    if (!answer.numbered) {
      s.keys.push_back(
          {answer.account, answer.key_hash, answer.fingerprint, pack_id(answer.made), answer.at});
      s.index.key_added(s, s.keys.back());
    }
    while (!s.answers.empty() && (s.answers.front().at + kAnswersFor <= at ||
                                  s.index.answer_bytes >= std::int64_t{kAnswerBytes})) {
      s.index.answer_dropped(s.answers.front());
      s.answers.pop_front();
    }
    if (answer.body.empty()) return;
    s.answers.push_back(std::move(answer));
    s.index.answer_added(s.answers.back());
    empty_oldest_answers(s.answers.back().account);
  }

  // Who has too many is told of the oldest only what was done.
  void empty_oldest_answers(AccountId account) {
    auto& counts = s.index.counts[account.value];
    const auto dropped = s.index.answers_dropped;
    auto& first = counts.first_answer;
    for (first = std::max(first, dropped);
         counts.answer_bytes > std::int64_t{kAnswerBytesPerAccount}; ++first) {
      auto& old = s.answers[first - dropped];
      if (old.account != account || old.body.empty()) continue;
      s.index.answer_emptied(old);
      old.body = std::string();
    }
  }
};

// Whatever happens lets keys grow old, also when nobody may use new ones.
void drop_old_keys(State& s, Time at) {
  while (!s.keys.empty() && s.keys.front().at + kKeysFor <= at) {
    s.index.key_dropped(s.keys.front());
    s.keys.pop_front();
  }
}

}  // namespace

void apply(State& state, Time at, const Event& event) {
  CHECK(at >= state.now);
  state.now = at;
  ++state.events;
  drop_old_keys(state, at);
  std::visit(Applier{state, at}, event);
}

}  // namespace souk::market
