#include "hub/run/unit_book.h"

#include <fmt/format.h>

#include <algorithm>
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
constexpr std::size_t kMostUnfolded = 64;
constexpr auto kAskAgain = base::milliseconds(100);
constexpr std::string_view kEnded = "the training ended meanwhile";
constexpr std::string_view kClosed = "the lease ended before the unit was judged";

std::int64_t as_worker(base::LeaseId lease) { return static_cast<std::int64_t>(lease.value); }

train::ParameterSnapshot taken_of(train::Blocks blocks, std::int64_t version) {
  train::ParameterSnapshot out{.blocks = std::move(blocks), .version = version};
  out.versions.resize(out.blocks.size(), version);
  return out;
}

}  // namespace

// --- OpenReport -------------------------------------------------------------------------------

OpenReport::OpenReport(UnitBook& book, base::LeaseId worker, train::Unit unit)
    : book_(&book), worker_(worker), unit_(unit) {}

OpenReport::OpenReport(OpenReport&& other) noexcept
    : book_(std::exchange(other.book_, nullptr)),
      worker_(other.worker_),
      unit_(other.unit_),
      hub_(other.hub_),
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
      session_(std::move(session)),
      random_(static_cast<std::uint64_t>(spec_.seed)) {}

train::Unit UnitBook::assign(base::LeaseId worker, const std::set<std::int32_t>& shards) {
  const std::lock_guard lock(mutex_);
  if (judging_.contains(worker)) return {.kind = UnitKind::wait, .wait = kAskAgain};
  const auto now = clock_.now();
  const auto unit = session_.training().next(as_worker(worker), now, shards);
  if (unit.id == 0) return unit;
  assignments_[unit.id] = {worker, now};
  // Ids grow: the first was given up long ago.
  if (assignments_.size() > kMostAssignments) assignments_.erase(assignments_.begin());
  return unit;
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

void UnitBook::gone(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  if (const auto it = judging_.find(worker); it != judging_.end())
    it->second.worker_left = true;
  else
    session_.training().gone(as_worker(worker), clock_.now());
}

void UnitBook::seal(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  sealed_.insert(worker);
  if (const auto it = judging_.find(worker); it != judging_.end()) it->second.sealed = true;
  for (auto& [unit, update] : pending_)
    if (update.wage.lease == worker && !std::exchange(update.owed, true)) wages_.add(update.wage);
}

// --- Reports ----------------------------------------------------------------------------------

Result<UnitBook::Opening> UnitBook::open(base::LeaseId worker, std::int64_t unit) {
  const std::lock_guard lock(mutex_);
  if (const auto* first = verdicts_.find(worker, unit)) return Opening{.verdict = *first};
  if (sealed_.contains(worker)) return Opening{.verdict = {false, std::string(kClosed)}};
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
  if (assigned) {
    report.hub_ = at->second.hub;
    report.worked_ = clock_.now() - at->second.since;
  }
  judging_.emplace(worker, ReportState{unit, found->deadline});
  session_.training().set_deadline(unit, base::kNever);
  Opening out;
  out.report.emplace(std::move(report));
  return out;
}

// There was no verdict: the unit is its worker's as before.
void UnitBook::reopen(const OpenReport& report) noexcept {
  const std::lock_guard lock(mutex_);
  if (counts(report))
    session_.training().set_deadline(report.unit().id, judging_.at(report.worker()).deadline);
  end_judging(report.worker());
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

UnitVerdict UnitBook::evaluated(OpenReport& report, const wire::UnitDone& done) {
  const auto metric = done.metrics.find("accuracy");
  const auto accuracy = metric == done.metrics.end() ? 0 : metric->second;
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  if (done.samples <= 0 || !(accuracy >= 0 && accuracy <= 1))
    return refuse_locked(report, "a check needs samples, and an accuracy of 0 to 1", true);
  session_.training().evaluated(report.unit().id, done.samples, done.loss, accuracy, clock_.now());
  wages_.add(report.wage(done.epoch));
  pay_pending_at_the_end();
  return close(report, {true, ""});
}

UnitVerdict UnitBook::initialised(OpenReport& report, const wire::UnitDone& done,
                                  train::Layout layout) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  layout_ = std::make_shared<train::Layout>(std::move(layout));
  session_.training().initialised(report.unit().id, clock_.now());
  wages_.add(report.wage(done.epoch));
  return close(report, {true, ""});
}

UnitVerdict UnitBook::judge(OpenReport& report, PendingUpdate update,
                            std::optional<train::Blocks> base) {
  std::optional<PendingUpdate> original;
  {
    const std::lock_guard lock(mutex_);
    if (auto verdict = begin_judging(report, update, std::move(base), original)) return *verdict;
  }
  // Both are read as a whole: not under the lock.
  const bool agreed =
      train::Replication::agree(original->contribution.update, update.contribution.update);
  const std::lock_guard lock(mutex_);
  return compared(report, *std::move(original), update, agreed);
}

// Without a verdict it is to be compared with `original`, which nobody else has meanwhile.
std::optional<UnitVerdict> UnitBook::begin_judging(OpenReport& report, PendingUpdate& update,
                                                   std::optional<train::Blocks> base,
                                                   std::optional<PendingUpdate>& original) {
  if (!counts(report)) return close(report, not_counted(report));
  const auto now = clock_.now();
  auto& training = session_.training();
  const auto& unit = report.unit();
  if (auto refusal = session_.judge(update.claim, version_, now))
    return close(report, {false, std::move(refusal->why)});
  if (aggregator().needs().base) {
    if (!base) return refuse_locked(report, "its base is not known any more", true);
    update.contribution.update.base = *base;
  }
  if (const auto id = training.original(unit.id); id != 0) {
    if (update.claim.evidence.steps != unit.steps || update.claim.base != unit.version)
      return refuse_locked(report, "a part, or another base, proves nothing", false);
    auto& entry = pending_.at(id);
    CHECK(!entry.comparing);
    original = std::move(entry);  // Its wage stays: it is paid if the training ends meanwhile.
    entry.comparing = true;
    return std::nullopt;
  }
  if (base && wants_comparison(update, now)) {
    const auto version = update.claim.base;
    kept_.try_emplace(version, taken_of(*std::move(base), version));
    training.hold(unit.id, version, now);
    pending_.emplace(unit.id, std::move(update));
  } else {
    accept(std::move(update));
  }
  return close(report, {true, ""});
}

bool UnitBook::wants_comparison(const PendingUpdate& update, base::Time now) {
  const auto& training = session_.training();
  const auto& claim = update.claim;
  return spec_.replicate > 0 && claim.base > 0 && claim.evidence.steps == claim.unit.steps &&
         training.active(now) > 1 &&
         replication_.check(training.workers().at(claim.worker).streak, random_);
}

// Two answers to the same unit, from the same parameters: both are right, or neither is believed.
UnitVerdict UnitBook::compared(OpenReport& report, PendingUpdate original,
                               const PendingUpdate& second, bool agreed) {
  if (const auto entry = pending_.extract(original.claim.unit.id))
    original.owed = entry.mapped().owed;
  if (!counts(report)) return close(report, not_counted(report));
  const auto now = clock_.now();
  session_.training().replicated(report.unit().id, agreed, now);
  if (!agreed) {
    session_.training().reject(original.claim.unit.id, now);
    return close(report, {false, "another worker came to another result"});
  }
  accept(std::move(original));
  wages_.add(second.wage);
  return close(report, {true, ""});
}

std::optional<UnitVerdict> UnitBook::judge_there(OpenReport& report,
                                                 const train::Session::Claim& claim) {
  const std::lock_guard lock(mutex_);
  if (!counts(report)) return close(report, not_counted(report));
  if (auto refusal = session_.judge(claim, version_, clock_.now()))
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

void UnitBook::accept_uncompared() {
  if (spec_.replicate == 0) return;
  const std::lock_guard lock(mutex_);
  for (const auto id : session_.training().unchecked(clock_.now()))
    if (const auto it = pending_.find(id); it != pending_.end() && !it->second.comparing)
      accept(std::move(pending_.extract(it).mapped()));
}

// Whoever waits for a comparison was told that the work is accepted, and nobody will compare it
// now.
void UnitBook::pay_pending_at_the_end() {
  if (!session_.training().state().finished) return;
  for (const auto& [unit, update] : pending_)
    if (!update.owed) wages_.add(update.wage);
  pending_.clear();
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
  return waiting_.size() >= session_.training().plan().arity + kMostUnfolded;
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
  version_ = version;
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
  return layout_->size();
}

wire::Training UnitBook::view(const TimeBook& times) const {
  const std::lock_guard lock(mutex_);
  return view_of(spec_, session_, version_, times, clock_.now());
}

double UnitBook::progress() const {
  const std::lock_guard lock(mutex_);
  return session_.training().progress();
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
                   .layout = *layout_,
                   .version = parameters.version,
                   .planes = static_cast<std::int32_t>(parameters.planes.size()),
                   .norms = {history.norms().begin(), history.norms().end()},
                   .losses = {history.losses().begin(), history.losses().end()},
                   .owed = wages_.owed(),
                   .next_wage = wages_.next()};
  // What it ended with is what was checked, not what came after.
  if (const auto it = kept_.find(out.training.final_version);
      out.training.finished && it != kept_.end())
    parameters.values = it->second.blocks;
  return out;
}

void UnitBook::restore(SnapshotHead head, const train::ParameterSnapshot& parameters,
                       std::int64_t paid_through) {
  const std::lock_guard lock(mutex_);
  layout_ = std::make_shared<train::Layout>(std::move(head.layout));
  version_ = head.version;
  wages_.restore(std::move(head.owed), head.next_wage, paid_through);
  // The versions under check are gone; what was saved is checked instead.
  for (auto& check : head.training.checks) check.version = version_;
  if (head.training.finished) head.training.final_version = version_;
  session_.restore(std::move(head.training), head.norms, head.losses);
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
  return FinalParameters{it->second.blocks, *layout_, s.reason};
}

}  // namespace souk::hub
