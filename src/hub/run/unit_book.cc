#include "hub/run/unit_book.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <iterator>
#include <utility>

#include "base/check.h"
#include "hub/run/view.h"

namespace souk::hub {
namespace {

using base::Code;
using base::fail;
using base::Result;
using train::UnitKind;
using wire::UnitVerdict;

constexpr std::size_t kMostAssignments = 10'000;
// Updates that may wait beyond what one fold takes, while the store does not answer.
constexpr std::size_t kLeastUnfolded = 2, kMostUnfolded = 64;
constexpr std::size_t kMostUnfoldedBytes = std::size_t{64} << 20;
constexpr std::int64_t kSlowestLine = 50'000;  // Bytes a second.
// Parameters and an update, and some of it again: more of a model does not move for one unit.
constexpr std::size_t kModelsMoved = 3;
constexpr auto kAskAgain = base::milliseconds(100);
constexpr auto kDistrusted = base::seconds(1);  // Waits so long before it asks again.
constexpr std::string_view kEnded = "the training ended meanwhile";
constexpr std::string_view kClosed = "the lease ended before the unit was judged";

}  // namespace

// --- OpenReport -------------------------------------------------------------------------------

OpenReport::OpenReport(UnitBook& book, base::LeaseId worker, train::Unit unit)
    : book_(&book), worker_(worker), unit_(unit) {}

OpenReport::OpenReport(OpenReport&& other) noexcept
    : book_(std::exchange(other.book_, nullptr)),
      worker_(other.worker_),
      unit_(other.unit_),
      hub_(other.hub_),
      opened_(other.opened_),
      worked_(other.worked_) {}

OpenReport::~OpenReport() {
  if (book_ != nullptr) book_->reopen(*this);
}

// --- Giving out -------------------------------------------------------------------------------

UnitBook::UnitBook(wire::Train spec, train::Session session, const base::Clock& clock)
    : spec_(std::move(spec)),
      clock_(clock),
      replication_(spec_.replicate),
      state_scale_(session.state_scale()),
      has_trials_(session.scores() != nullptr),
      session_(std::move(session)),
      audits_{.random = base::Random(static_cast<std::uint64_t>(spec_.seed))} {}

void UnitBook::time_spent(base::LeaseId worker, const wire::TimeSpent& spent) {
  const std::lock_guard lock(mutex_);
  session_.training().time_spent(as_worker(worker), spent.compute,
                                 spent.prepare + spent.fetch + spent.download + spent.upload);
}

train::Unit UnitBook::assign(base::LeaseId worker, const std::set<std::int32_t>& shards,
                             std::uint64_t owner, std::int64_t keeps) {
  const std::lock_guard lock(mutex_);
  if (judging_.contains(worker)) return {.kind = UnitKind::wait, .wait = kAskAgain};
  const bool audit = can_audit(owner);
  if (owner != 0 && !audits_.policy.may_work(owner, audit))
    return {.kind = UnitKind::wait, .wait = kDistrusted};
  const auto now = clock_.now();
  auto& training = session_.training();
  const auto unit = training.next(as_worker(worker), now, shards, owner, keeps);
  use_measured_states();
  pay_settled_checks();
  pay_pending_at_the_end();
  if (unit.id == 0) return unit;
  assignments_[unit.id] = {worker, now};
  choose_audit(worker, unit, owner, audit);
  // Ids grow: the first was given up long ago.
  if (assignments_.size() > kMostAssignments) assignments_.erase(assignments_.begin());
  return unit;
}

void UnitBook::choose_audit(base::LeaseId worker, const train::Unit& unit, std::uint64_t owner,
                            bool can) {
  const auto& training = session_.training();
  std::erase_if(audits_.units, [&](const auto& u) {
    return u.first == worker && training.find(as_worker(worker), u.second) == nullptr;
  });
  const bool fresh = unit.kind == UnitKind::train && training.original(unit.id) == 0;
  if (fresh && owner != 0 && audits_.policy.choose(owner, can, audits_.random))
    audits_.units.emplace(worker, unit.id);
}

// What a unit comes to must follow from the unit alone: a built-in model, the same batch for all,
// nothing that is carried over, and no round that would wait for it.
bool UnitBook::can_audit(std::uint64_t owner) const {
  return owner != 0 && spec_.local_state != wire::LocalState::keep &&
         spec_.trainer == wire::Trainer::torch && !spec_.measure &&
         !aggregator().needs().synchronous && !codec().keeps_residual() &&
         session_.training().others_there(owner, clock_.now());
}

bool UnitBook::is_audited(base::LeaseId worker, std::int64_t unit) const {
  const std::lock_guard lock(mutex_);
  if (unit != 0) return audits_.units.contains({worker, unit});
  const auto it = audits_.units.lower_bound({worker, 0});
  return it != audits_.units.end() && it->first == worker;
}

// Not only what will be compared: else a worker could tell what will be.
bool UnitBook::may_be_compared(base::LeaseId worker, std::int64_t unit) const {
  const std::lock_guard lock(mutex_);
  return spec_.replicate > 0 || audits_.units.contains({worker, unit}) ||
         can_audit(owner_of(worker));
}

train::Audit::Owner UnitBook::owner_of(base::LeaseId worker) const {
  return session_.training().owner(as_worker(worker));
}

void UnitBook::use_hub(std::int64_t unit, std::size_t hub) {
  const std::lock_guard lock(mutex_);
  if (const auto it = assignments_.find(unit); it != assignments_.end()) it->second.hub = hub;
}

Result<> UnitBook::check_sender(base::LeaseId worker, std::int64_t unit) const {
  const std::lock_guard lock(mutex_);
  if (judging_.contains(worker))
    return fail(Code::unavailable, "the report of the unit is being judged", "ask again");
  if (session_.training().find(as_worker(worker), unit) == nullptr)
    return fail(Code::conflict, "the unit was given to somebody else", "ask for another");
  return {};
}

void UnitBook::moved(base::LeaseId worker, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto floats = model_.layout->size();  // 0: the first parameters arrive.
  if (floats > 0 && floats <= train::kMostPackedWhole) return;
  const auto until = clock_.now() + base::seconds(static_cast<std::int64_t>(bytes)) / kSlowestLine;
  for (auto& [id, assignment] : assignments_) {
    if (assignment.worker != worker) continue;
    assignment.moved += bytes;
    if (floats > 0 && assignment.moved > kModelsMoved * floats * sizeof(float)) continue;
    const auto* unit = session_.training().find(as_worker(worker), id);
    if (unit != nullptr && unit->deadline < until) session_.training().set_deadline(id, until);
  }
}

void UnitBook::gone(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  if (const auto it = judging_.find(worker); it != judging_.end())
    it->second.worker_left = true;
  else
    session_.training().gone(as_worker(worker), clock_.now());
}

void UnitBook::seal(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  pay_[worker].sealed = true;
  if (const auto it = judging_.find(worker); it != judging_.end()) it->second.sealed = true;
  for (auto& [unit, comparison] : pending_)
    for (auto& answer : comparison.answers)
      if (answer.wage.lease == worker && !std::exchange(answer.owed, true)) wages_.add(answer.wage);
  std::erase_if(check_wages_, [&](const auto& w) {
    if (w.second.lease != worker) return false;
    wages_.add(w.second);
    return true;
  });
}

// --- Reports ----------------------------------------------------------------------------------

Result<UnitBook::Opening> UnitBook::open(base::LeaseId worker, std::int64_t unit) {
  const std::lock_guard lock(mutex_);
  if (const auto* first = verdicts_.find(worker, unit)) return Opening{.verdict = *first};
  if (pay_[worker].sealed) return Opening{.verdict = {false, std::string(kClosed)}};
  if (judging_.contains(worker))
    return fail(Code::unavailable, "the report of the unit is being judged", "ask again");
  const auto at = assignments_.find(unit);
  const bool assigned = at != assignments_.end() && at->second.worker == worker;
  const auto* found = session_.training().find(as_worker(worker), unit);
  if (found == nullptr) {
    Opening late{.verdict = {false, "the unit was given to somebody else, or was done already"}};
    if (assigned) {
      late.hub = at->second.hub;
      assignments_.erase(at);
      pay_[worker].counted_until = clock_.now();
    }
    return late;
  }
  if (found->kind == UnitKind::train && crowded_locked())
    return fail(Code::unavailable,
                fmt::format("{} updates wait to be folded into the parameters", waiting_.size()),
                "ask again");
  if (wages_.owed().size() >= Wages::kMost)
    return fail(Code::unavailable, fmt::format("{} wages wait to be paid", wages_.owed().size()),
                "ask again");
  OpenReport report(*this, worker, *found);
  report.opened_ = clock_.now();
  if (assigned) {
    report.hub_ = at->second.hub;
    report.worked_ = report.opened_ - std::max(at->second.since, pay_[worker].counted_until);
  }
  judging_.emplace(worker, ReportState{unit, found->deadline});
  session_.training().set_deadline(unit, base::kNever);
  Opening out;
  out.report.emplace(std::move(report));
  return out;
}

// There was no verdict: the unit is its worker's as before. A book that is in an impossible state
// is not used any more (Run::contained).
void UnitBook::reopen(const OpenReport& report) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (counts(report))
      session_.training().set_deadline(report.unit().id, judging_.at(report.worker()).deadline);
    end_judging(report.worker());
  } catch (const std::exception&) {
  }
}

void UnitBook::limit_wage(OpenReport& report, std::int64_t steps) const {
  const std::lock_guard lock(mutex_);
  if (const auto most = session_.training().fair_time(report.unit().id, steps))
    report.worked_ = std::min(report.worked_, *most);
}

void UnitBook::end_judging(base::LeaseId worker) {
  const auto judging = judging_.extract(worker);
  CHECK(judging);
  if (judging.mapped().worker_left) session_.training().gone(as_worker(worker), clock_.now());
}

bool UnitBook::counts(const OpenReport& report) const {
  if (judging_.at(report.worker()).sealed) return false;
  return session_.training().find(as_worker(report.worker()), report.unit().id) != nullptr;
}

UnitVerdict UnitBook::not_counted(const OpenReport& report) const {
  return {false, std::string(judging_.at(report.worker()).sealed ? kClosed : kEnded)};
}

UnitVerdict UnitBook::close(OpenReport& report, UnitVerdict verdict) {
  if (verdict.accepted) verdict.worked = report.worked_;
  assignments_.erase(report.unit().id);
  audits_.units.erase({report.worker(), report.unit().id});
  pay_[report.worker()].counted_until = report.opened_;
  verdicts_.add(report.worker(), report.unit().id, verdict);
  end_judging(report.worker());
  report.book_ = nullptr;
  return verdict;
}

UnitVerdict UnitBook::refuse(OpenReport& report, std::string why, bool blame) {
  const std::lock_guard lock(mutex_);
  return refuse_locked(report, std::move(why), blame);
}

UnitVerdict UnitBook::refuse_locked(OpenReport& report, std::string why, bool blame) {
  if (!counts(report)) return close(report, not_counted(report));
  auto refusal = session_.refuse(report.unit().id, std::move(why), clock_.now(), blame);
  return close(report, {false, std::move(refusal.why)});
}

UnitVerdict UnitBook::give_back(OpenReport& report) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  session_.training().give_back(report.unit().id, clock_.now());
  return close(report, {false, "nothing was done of it"});
}

UnitVerdict UnitBook::evaluated(OpenReport& report, const wire::UnitDone& done) {
  train::Measured measured{.samples = done.samples, .loss = done.loss, .metrics = done.metrics};
  measured.metrics.erase(std::string(train::kLoss));  // It has a field of its own.
  const auto there_are = spec_.validation[static_cast<std::size_t>(report.unit().shard)].samples;
  // A script may leave some out when it loads a shard; the built-in trainer does not.
  const bool all =
      spec_.trainer == wire::Trainer::torch ? done.samples == there_are : done.samples <= there_are;
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  if (done.samples <= 0 || !std::isfinite(done.loss))
    return refuse_locked(report, "a check needs samples, and a loss that is finite", true);
  if (const auto sound = train::check_metrics(measured.metrics); !sound)
    return refuse_locked(report, fmt::format("{}: {}", sound.error().message, sound.error().hint),
                         true);
  if (!all)
    return refuse_locked(
        report,
        fmt::format("the check is of {} samples, and {} were looked at", there_are, done.samples),
        true);
  const auto unit = report.unit().id;
  if (session_.training().original(unit) != 0) return measured_trial(report, done);
  check_wages_.emplace(unit, report.wage(done.epoch));
  session_.training().evaluated(unit, std::move(measured), clock_.now());
  const auto wrong = pay_settled_checks();
  pay_pending_at_the_end();
  if (wrong.contains(unit)) return close(report, {false, std::string(kOthersDiffer)});
  return close(report, {true, ""});
}

std::set<std::int64_t> UnitBook::pay_settled_checks() {
  std::set<std::int64_t> wrong;
  for (const auto& settled : session_.training().take_settled()) {
    model_.states.erase(settled.unit);
    const auto wage = check_wages_.extract(settled.unit);
    if (!wage) continue;
    if (settled.right) {
      wages_.add(wage.mapped());
      continue;
    }
    wrong.insert(settled.unit);
    if (const auto owner = owner_of(wage.mapped().lease); owner != 0) audits_.policy.wrong(owner);
  }
  return wrong;
}

UnitVerdict UnitBook::initialised(OpenReport& report, const wire::UnitDone& done,
                                  train::Layout layout) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  use_layout(std::move(layout));
  session_.training().initialised(report.unit().id, clock_.now());
  wages_.add(report.wage(done.epoch));
  return close(report, {true, ""});
}

std::optional<UnitVerdict> UnitBook::judge_there(OpenReport& report,
                                                 const train::Session::Claim& claim) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  if (auto refusal = session_.judge(claim, model_.version, clock_.now()))
    return close(report, {false, std::move(refusal->why)});
  return std::nullopt;
}

UnitVerdict UnitBook::accept_folded(OpenReport& report, const train::Session::Claim& claim,
                                    const Wage& wage) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  session_.accept(claim, clock_.now());
  wages_.add(wage);
  return close(report, {true, ""});
}

void UnitBook::accept(PendingUpdate update) {
  session_.accept(update.claim, clock_.now());
  if (!update.owed) wages_.add(update.wage);
  waiting_.push_back(std::move(update.contribution));
}

// Whoever waits for a comparison was told that the work is accepted, and nobody will compare it
// now.
void UnitBook::pay_pending_at_the_end() {
  if (!session_.training().state().finished) return;
  for (const auto& [unit, comparison] : pending_)
    for (const auto& answer : comparison.answers)
      if (!answer.owed) wages_.add(answer.wage);
  pending_.clear();
  for (const auto& [unit, wage] : check_wages_) wages_.add(wage);
  check_wages_.clear();
  model_.states.clear();
}

// --- Wages ------------------------------------------------------------------------------------

std::vector<Wage> UnitBook::owed() const {
  const std::lock_guard lock(mutex_);
  return wages_.owed();
}

void UnitBook::acknowledge(std::int64_t number) {
  const std::lock_guard lock(mutex_);
  wages_.acknowledge(number);
}

// --- Folds ------------------------------------------------------------------------------------

bool UnitBook::can_fold() const {
  const std::lock_guard lock(mutex_);
  return session_.to_fold(waiting_.size()) > 0;
}

bool UnitBook::crowded() const {
  const std::lock_guard lock(mutex_);
  return crowded_locked();
}

bool UnitBook::crowded_locked() const {
  const auto fit =
      kMostUnfoldedBytes / std::max<std::size_t>(model_.layout->size() * sizeof(float), 1);
  return waiting_.size() >=
         session_.training().plan().arity + std::clamp(fit, kLeastUnfolded, kMostUnfolded);
}

std::vector<Contribution> UnitBook::take_batch() {
  const std::lock_guard lock(mutex_);
  const auto end =
      waiting_.begin() + static_cast<std::ptrdiff_t>(session_.to_fold(waiting_.size()));
  std::vector<Contribution> out(std::move_iterator(waiting_.begin()), std::move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return out;
}

void UnitBook::give_back(std::vector<Contribution> batch) {
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.begin(), std::move_iterator(batch.begin()),
                  std::move_iterator(batch.end()));
}

bool UnitBook::folded(std::int64_t version) {
  const std::lock_guard lock(mutex_);
  model_.version = version;
  session_.training().folded();
  return session_.training().check_due();
}

void UnitBook::begin_check(train::ParameterSnapshot parameters) {
  const std::lock_guard lock(mutex_);
  const auto version = parameters.version;
  if (session_.training().begin_check(version, clock_.now()))
    kept_.insert_or_assign(version, std::move(parameters));
}

// --- The training as a whole --------------------------------------------------------------------

std::optional<train::ParameterSnapshot> UnitBook::kept(std::int64_t version) const {
  const std::lock_guard lock(mutex_);
  const auto it = kept_.find(version);
  return it == kept_.end() ? std::nullopt : std::optional(it->second);
}

void UnitBook::forget_versions() {
  std::vector<train::ParameterSnapshot> freed;  // After the lock.
  const std::lock_guard lock(mutex_);
  const auto needed = session_.training().kept();
  for (auto it = kept_.begin(); it != kept_.end();) {
    if (needed.contains(it->first)) {
      ++it;
    } else {
      freed.push_back(std::move(it->second));
      it = kept_.erase(it);
    }
  }
}

std::size_t UnitBook::floats() const {
  const std::lock_guard lock(mutex_);
  return model_.layout->size();
}

wire::Training UnitBook::view(const TimeBook& times) const {
  const std::lock_guard lock(mutex_);
  return view_of(spec_, session_, model_.version, times, clock_.now());
}

double UnitBook::progress() const {
  const std::lock_guard lock(mutex_);
  return session_.training().progress();
}

double UnitBook::work() const {
  const std::lock_guard lock(mutex_);
  return static_cast<double>(session_.training().state().samples);
}

void UnitBook::begin(std::int64_t paid_through) {
  const std::lock_guard lock(mutex_);
  wages_.restore({}, 1, paid_through);
}

SaveMark UnitBook::mark() const {
  const std::lock_guard lock(mutex_);
  const auto& s = session_.training().state();
  return {s.initialised, s.finished, wages_.next()};
}

SnapshotHead UnitBook::head(SavedParameters& parameters) const {
  const std::lock_guard lock(mutex_);
  const auto& history = session_.history();
  SnapshotHead out{.training = session_.training().durable(clock_.now()),
                   .layout = *model_.layout,
                   .version = parameters.version,
                   .planes = static_cast<std::int32_t>(parameters.planes.size()),
                   .losses = {history.losses().begin(), history.losses().end()},
                   .owed = wages_.owed(),
                   .next_wage = wages_.next()};
  for (const auto& size : history.sizes()) {
    out.norms.push_back(size.norm);
    out.steps.push_back(size.steps);
  }
  // What it ended with is what was checked, not what came after.
  if (const auto it = kept_.find(out.training.final_version);
      out.training.finished && it != kept_.end())
    parameters.values = it->second.blocks;
  return out;
}

void UnitBook::restore(SnapshotHead head, const train::ParameterSnapshot& parameters,
                       std::int64_t paid_through) {
  const std::lock_guard lock(mutex_);
  model_.version = head.version;
  // Who was never answered asks again.
  for (const auto& wage : head.owed)
    if (wage.unit != 0)
      verdicts_.add(wage.lease, wage.unit, {.accepted = true, .worked = wage.worked});
  wages_.restore(std::move(head.owed), head.next_wage, paid_through);
  // The versions under check are gone; what was saved is checked instead.
  for (auto& check : head.training.checks) check.version = model_.version;
  if (head.training.finished) head.training.final_version = model_.version;
  std::deque<train::Size> sizes;
  for (std::size_t i = 0; i < head.norms.size(); ++i)
    sizes.push_back({head.norms[i], i < head.steps.size() ? head.steps[i] : 0});
  session_.restore(std::move(head.training), std::move(sizes),
                   {head.losses.begin(), head.losses.end()});
  use_layout(std::move(head.layout));
  for (const auto version : session_.training().kept()) kept_[version] = parameters;
}

Result<> UnitBook::finish(std::string reason, train::ParameterSnapshot parameters) {
  const std::lock_guard lock(mutex_);
  auto& training = session_.training();
  if (!training.state().initialised)
    return fail(Code::conflict, "nothing was trained", "it ended before its first unit");
  training.finish(std::move(reason), parameters.version);
  kept_.try_emplace(training.state().final_version, std::move(parameters));
  pay_pending_at_the_end();
  return {};
}

std::optional<UnitBook::FinalParameters> UnitBook::final_parameters() const {
  const std::lock_guard lock(mutex_);
  const auto& s = session_.training().state();
  if (!s.finished) return std::nullopt;
  const auto it = kept_.find(s.final_version);
  CHECK(it != kept_.end());
  return FinalParameters{it->second.blocks, *model_.layout, s.reason};
}

}  // namespace souk::hub
