#include <algorithm>
#include <array>
#include <utility>

#include "market/limits.h"
#include "market/state.h"

namespace souk::market {
namespace {

using ledger::Transfer;

constexpr std::ptrdiff_t kMergedLines = 64;  // How far back a lease's line is looked for.

void tally(Tallies& tallies, const RoundCleared& e) {
  tallies.in_force = e.mechanism;
  if (e.supply == 0 || e.demand == 0) return;
  auto& t = tallies.now();
  ++t.rounds;
  t.traded += e.traded;
  t.supply += e.supply;
  t.demand += e.demand;
  t.leased += e.leased;
  t.pays = add_saturating(t.pays, e.pays.micro);
  t.gets = add_saturating(t.gets, e.gets.micro);
  if (e.price) t.priced(*e.price, e.equilibrium, e.traded);
  if (!e.best) return;
  ++t.measured;
  t.gain = add_saturating(t.gain, e.gain->micro);
  t.best = add_saturating(t.best, e.best->micro);
  t.limits = add_saturating(t.limits, e.limits.micro);
  t.measured_pays = add_saturating(t.measured_pays, e.pays.micro);
  t.measured_gets = add_saturating(t.measured_gets, e.gets.micro);
}

// What each event does. One overload each; nothing here can fail or look at a clock.
struct Applier {
  State& s;
  Time at;

  void line(AccountId account, StatementLine l) {
    if (account == ledger::kPlatform) return;
    auto& lines = s.statements[account.value - 1];
    l.at = at;
    // A lease's payments are one line each way, kept at its first place.
    const auto recent = lines.rbegin() + std::min<std::ptrdiff_t>(lines.size(), kMergedLines);
    for (auto it = lines.rbegin(); l.lease && it != recent; ++it) {
      if (it->lease == l.lease && it->kind == l.kind) {
        it->amount += l.amount;
        it->at = at;
        return;
      }
    }
    lines.push_back(std::move(l));
    if (lines.size() > kStatementLines) lines.pop_front();
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
  }

  void operator()(const MachineOnline& e) {
    s.machines.at(e.machine).online = true;
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
  }

  void operator()(const JobSubmitted& e) {
    const auto& j = s.jobs.add(e.job.id, e.job);
    count_for_token(j, {});
    s.ledger.apply({.kind = ledger::Kind::reserve,
                    .from = j.owner,
                    .hold = hold_of(j.id),
                    .amount = j.terms.budget});
    line(j.owner, {.kind = LineKind::reserve, .amount = -j.terms.budget, .job = j.id});
    ++s.index.counts[j.owner.value].live_jobs;
    s.index.job_added(j);
    s.index.job_changed(s, j);
  }

  void operator()(const JobChanged& e) {
    auto& j = s.jobs.at(e.job);
    const auto more = e.terms.budget - j.terms.budget;
    if (more > Credits()) {
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
    j.state = j.leases.empty() ? JobState::queued : JobState::running;
    j.reason.clear();
    s.index.job_changed(s, j);
  }

  void operator()(const JobEnded& e) {
    auto& j = s.jobs.at(e.job);
    CHECK(j.leases.empty());
    const auto left = s.ledger.hold(hold_of(j.id))->left;
    s.ledger.apply({.kind = ledger::Kind::close, .hold = hold_of(j.id)});
    if (left > Credits()) line(j.owner, {.kind = LineKind::refund, .amount = left, .job = j.id});
    const auto share = share_of(j);
    j.state = e.state;
    j.reason = e.reason;
    j.ended = at;
    count_for_token(j, share);
    if (e.state == JobState::succeeded && j.started > Time())
      s.prices[j.slot_class.value - 1].ran(at - j.started);
    --s.index.counts[j.owner.value].live_jobs;
    s.index.job_changed(s, j);
  }

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
      line(l.borrower, {.kind = LineKind::spend, .amount = -e.amount, .job = l.job, .lease = l.id});
      line(l.lender,
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

  void operator()(const LeaseClosed& e) {
    auto& l = s.leases.at(e.lease);
    const bool ran = l.started > Time();
    l.state = LeaseState::closed;
    l.outcome = e.outcome;
    l.detail = e.detail;
    l.ended = at;
    l.next.reset();
    auto& offer = s.offers.at(l.offer);
    offer.leased -= l.slots;
    s.index.lease_closed(s, l);
    auto& job = s.jobs.at(l.job);
    std::erase(job.leases, l.id);
    job.held -= l.slots;
    const bool undecided = is_replicated(job) && !e.decides;
    if (l.outcome == LeaseOutcome::completed && !undecided) job.done += l.slots;
    if (l.outcome == LeaseOutcome::completed && undecided)
      part_of(job, l.part)
          .answers.push_back(
              {l.id, l.lender, l.machine, e.result, e.owed, e.fee, std::min(at, l.term.until)});
    else if (!job.work.empty())
      note_end(job, l, e);
    if (job.leases.empty() && job.state == JobState::running) job.state = JobState::queued;
    avoid(job, l);
    s.index.job_changed(s, job);
    if (e.wrong)
      lose_reliability(s.machines.at(l.machine));
    else if (!e.excused)
      judge(s.machines.at(l.machine), l.outcome, ran);
    s.index.offers_changed(s, l.machine);
  }

  static JobPart& part_of(Job& job, std::int32_t index) {
    const auto it = std::ranges::lower_bound(job.parts, index, {}, &JobPart::index);
    if (it != job.parts.end() && it->index == index) return *it;
    return *job.parts.insert(it, JobPart{.index = index});
  }

  // Of two who agree and one who does not, that one has lost.
  void blame_odd_ones(Job& job, const std::vector<PartAnswer>& answers, const std::string& result) {
    for (const auto& answer : answers) {
      if (answer.result == result) continue;
      if (auto* machine = s.machines.find(answer.machine)) {
        lose_reliability(*machine);
        s.index.offers_changed(s, machine->id);
      }
      if (const auto* lease = s.leases.find(answer.lease)) keep_away(job, lease->machine);
    }
  }

  void note_end(Job& job, const Lease& l, const LeaseClosed& e) {
    const auto& result = e.result;
    if (l.outcome == LeaseOutcome::completed) {
      auto& part = part_of(job, l.part);
      blame_odd_ones(job, std::exchange(part.answers, {}), result);
      part.done = true;
      part.result = result;
    } else if (came_to_nothing(l.outcome) && !e.keeps_try &&
               !(paid_by_work(job) && l.outcome != LeaseOutcome::failed)) {
      auto& part = part_of(job, l.part);
      ++part.tries;
      if (!result.empty()) part.result = result;  // What a failure left is worth a look.
    }
  }

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

  // The job keeps away from a machine that failed it, twice as long each time.
  void avoid(Job& job, const Lease& l) {
    std::erase_if(job.avoided, [&](const Avoided& a) { return a.until <= at - base::hours(24); });
    if (came_to_nothing(l.outcome)) keep_away(job, l.machine);
  }

  void keep_away(Job& job, MachineId machine) {
    auto it = std::ranges::find(job.avoided, machine, &Avoided::machine);
    if (it == job.avoided.end()) {
      if (job.avoided.size() == kAvoidedPerJob) job.avoided.erase(job.avoided.begin());
      it = job.avoided.insert(job.avoided.end(), Avoided{.machine = machine});
    }
    it->until = at + base::minutes(5) * (std::int64_t{1} << std::min(it->times++, 8));
  }

  static void lose_reliability(Machine& m) { m.reliability_ppm -= m.reliability_ppm / 5; }

  static void judge(Machine& m, LeaseOutcome outcome, bool ran) {
    if (outcome == LeaseOutcome::lost || outcome == LeaseOutcome::unstarted) {
      lose_reliability(m);
      m.online = false;
      ++m.leases;
    } else if (ran && outcome != LeaseOutcome::released) {
      m.reliability_ppm += (1'000'000 - m.reliability_ppm) / 5;
      ++m.leases;
    }
  }

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

template <class... E>
constexpr std::string_view name_of(const std::variant<E...>& event) {
  // "std::string_view ...short_name() [T = souk::market::OfferPosted]"
  constexpr auto short_name = []<class T>() {
    std::string_view text = __PRETTY_FUNCTION__;
    text = text.substr(text.rfind("::") + 2);
    return text.substr(0, text.find_first_of(" ];>"));
  };
  static constexpr std::array names { short_name.template operator()<E>()... };
  return names[event.index()];
}

}  // namespace

std::string_view kind_of(const Event& event) { return name_of(event); }

void apply(State& state, Time at, const Event& event) {
  CHECK(at >= state.now);
  state.now = at;
  ++state.events;
  drop_old_keys(state, at);
  std::visit(Applier{state, at}, event);
}

}  // namespace souk::market
