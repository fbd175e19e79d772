#include "hub/run/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <new>
#include <utility>

#include "base/containment.h"
#include "base/kill_point.h"
#include "blob/folder_writer.h"
#include "hub/run/plan.h"
#include "hub/run/results.h"
#include "hub/stores/stores.h"

namespace souk::hub {
namespace {

// A worker counts the steps that it was given: what it did of a divided one is not counted.
wire::UnitDone in_whole_steps(wire::UnitDone done, const train::Unit& unit, std::int32_t batch) {
  // What is out of range is refused as it is.
  if (unit.parts == 1 || done.steps < 0 || done.steps > unit.steps * unit.parts) return done;
  done.steps /= unit.parts;
  done.samples = std::min(done.samples, done.steps * batch);
  return done;
}

bool averages(const wire::Train& spec) { return spec.average == wire::Average::tail; }

using base::Code;
using base::fail;
using base::Result;
using train::UnitKind;
using wire::UnitVerdict;

}  // namespace

Run::Run(const wire::Train& spec, train::AggregatorSpec aggregator, train::Session session,
         blob::Store& blobs, const base::Clock& clock, RunOptions options,
         std::unique_ptr<ParameterStore> store)
    : spec_(spec),
      blobs_(blobs),
      clock_(clock),
      options_(std::move(options)),
      generation_(fresh_name()),
      codecs_(spec_.codec, session.rule().needs().sends == train::Sends::weights),
      store_(std::move(store)),
      book_(spec_, std::move(session), clock),
      memory_(options_.memory, options_.owner, book_.aggregator().needs(),
              options_.spill.folder.empty() ? std::numeric_limits<std::size_t>::max()
                                            : options_.spill.over,
              averages(spec_)),
      arrivals_(memory_, options_.spill),
      snapshots_(blobs, clock,
                 {.pointer = options_.pointer,
                  .every = options_.snapshot_every,
                  .accepted = options_.snapshot_updates}),
      folding_(book_, *store_, clock, generation_, memory_,
               memory_.most_floats(options_.most_floats), options_.spill, averages(spec_)) {
  // Several updates at once, their bases, or the comparison of two need the bytes here.
  const auto needs = book_.aggregator().needs();
  if (options_.hubs != nullptr && needs.arity == 1 && !needs.base && spec_.replicate == 0 &&
      !book_.has_trials())
    hub_folding_.emplace(*options_.hubs,
                         HubFolding::Names{options_.job, generation_, std::move(aggregator)}, book_,
                         *store_, folding_, turns_, clock);
}

Result<std::unique_ptr<Run>> Run::open(const wire::Train& spec, std::int32_t workers,
                                       blob::Store& blobs, const base::Clock& clock,
                                       RunOptions options, std::unique_ptr<ParameterStore> store) {
  auto wanted = session_of(spec, workers);
  auto aggregator = wanted.rule;
  SOUK_ASSIGN(auto session, train::Session::make(std::move(wanted)));
  const auto& rule = session.rule();
  if (spec.replicate > 0 && (rule.needs().synchronous || session.codec().keeps_residual()))
    return fail(Code::invalid,
                fmt::format("units cannot be done twice with rule {} and codec {}", rule.name(),
                            spec.codec),
                "use a rule that does not wait, and fp32, fp16 or int8", "replicate");
  std::unique_ptr<Run> run(new Run(spec, std::move(aggregator), std::move(session), blobs, clock,
                                   std::move(options), std::move(store)));
  SOUK_TRY(run->recover());
  return run;
}

template <class Work>
auto Run::contained(const Work& work) const -> std::invoke_result_t<Work> {
  const auto failed = [](const std::string& why) {
    return fail(Code::conflict, "the training failed: " + why, "its job ends");
  };
  if (const auto why = failure()) return failed(*why);
  try {
    const base::Containment containment;
    return work();
  } catch (const std::bad_alloc&) {
    fail_with("the server has no memory left for it");
  } catch (const std::exception& e) {
    fail_with(e.what());
  }
  return failed(*failure());
}

void Run::fail_with(std::string why) const {
  const std::lock_guard lock(mutex_);
  if (!outcome_.failure) outcome_.failure = std::move(why);
}

std::optional<std::string> Run::failure() const {
  const std::lock_guard lock(mutex_);
  return outcome_.failure;
}

Result<> Run::recover() {
  const Turn turn(turns_);
  SOUK_ASSIGN(auto snapshot, snapshots_.recover());
  if (!snapshot) {
    book_.begin(options_.paid_through);
    return {};
  }
  folding_.average().restore(snapshot->head, snapshot->parameters);
  const auto work = static_cast<double>(snapshot->head.training.samples);
  SOUK_ASSIGN(auto parameters, folding_.load(std::move(snapshot->parameters)));
  // What it ended with was saved as its parameters.
  if (!snapshot->head.training.finished) {
    SOUK_ASSIGN(parameters, folding_.average().take(work));
  }
  book_.restore(std::move(snapshot->head), parameters, options_.paid_through);
  return {};
}

std::set<std::int32_t> Run::shards_of(const std::vector<std::string>& holds) const {
  std::set<std::int32_t> out;
  for (std::size_t i = 0; i < spec_.shards.size(); ++i)
    if (std::ranges::find(holds, spec_.shards[i].blob) != holds.end())
      out.insert(static_cast<std::int32_t>(i));
  return out;
}

Result<wire::Unit> Run::next(base::LeaseId worker, const std::vector<std::string>& holds,
                             const std::optional<wire::TimeSpent>& spent, std::uint64_t lender,
                             std::int64_t keeps) {
  return contained([&]() -> Result<wire::Unit> {
    forget_departed();
    if (spent && times_.add(worker, *spent)) {
      codecs_.measured(worker, *spent, book_.floats());
      book_.time_spent(worker, *spent);
    }
    const auto shards = shards_of(holds);
    auto unit = book_.assign(worker, shards, lender, keeps);
    // Perhaps there is nothing to do because a fold or a save has failed, or a round has just
    // ended.
    if (unit.kind == UnitKind::wait || unit.kind == UnitKind::finish) {
      const auto folded = book_.can_fold();
      catch_up(false);
      if (folded && !book_.can_fold()) unit = book_.assign(worker, shards, lender, keeps);
    }
    return described(worker, unit);
  });
}

wire::Unit Run::described(base::LeaseId worker, const train::Unit& unit) {
  wire::Unit out{.kind = unit.kind,
                 .id = unit.id,
                 .version = unit.version,
                 .pass = unit.epoch,
                 .first_step = unit.first_step * unit.parts,
                 .steps = unit.steps * unit.parts,
                 .batch = batch_of(spec_, unit.id) / unit.parts,
                 .lr = unit.lr,
                 .seed = unit.seed,
                 .send = book_.aggregator().needs().sends,
                 .state_scale = book_.state_scale(),
                 .wait = unit.wait};
  if (unit.kind == UnitKind::train) {
    // What is compared, or does such work again, must follow from the unit alone.
    const bool alone = unit.version > 0 || book_.may_be_compared(worker, unit.id);
    out.keep = !alone && spec_.local_state != wire::LocalState::fresh;
    if (out.keep) out.own = book_.aggregator().needs().own;
    out.codec = codecs_.give(worker, unit.id, alone).spec;
  }
  if (unit.id != 0) out.within = unit.deadline - clock_.now();
  // What is to be compared must come here.
  const bool to_hub = hub_folding_ && !book_.is_audited(worker, unit.id);
  if (const auto hub = to_hub ? hub_folding_->choose(worker, unit) : std::nullopt) {
    book_.use_hub(unit.id, *hub);
    out.hub = hub_folding_->pass(unit, *hub);
  }
  const auto shard = static_cast<std::size_t>(unit.shard);
  if (unit.measure) {
    // To a trainer that knows nothing of it, one more unit that learns nothing.
    out.kind = UnitKind::train;
    out.measure = true;
    out.batch = spec_.batch;
    out.send = train::Sends::delta;
    out.state_scale = 1;
  }
  if (out.kind == UnitKind::train) out.shard = spec_.shards[shard].blob;
  if (out.kind == UnitKind::evaluate) out.shard = spec_.validation[shard].blob;
  return out;
}

Result<std::int64_t> Run::receive(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                  std::string_view piece) {
  return contained([&]() -> Result<std::int64_t> {
    SOUK_TRY(book_.check_sender(worker, unit));
    // Twice what the parameters take is more than any codec needs.
    auto floats = book_.floats();
    if (floats == 0) floats = memory_.most_floats(options_.most_floats);
    const auto most = floats * sizeof(float) * 2 + (std::size_t{1} << 20);
    SOUK_ASSIGN(const auto size, arrivals_.add(worker, unit, offset, piece, most, clock_.now()));
    book_.moved(worker, piece.size());
    return size;
  });
}

Result<UnitVerdict> Run::complete(base::LeaseId worker, std::int64_t unit,
                                  const wire::UnitDone& done) {
  auto verdict = contained([&] { return judge_report(worker, unit, done); });
  if (auto why = folding_.hopeless()) fail_with(*std::move(why));
  return verdict;
}

Result<UnitVerdict> Run::judge_report(base::LeaseId worker, std::int64_t unit,
                                      const wire::UnitDone& done) {
  forget_departed();
  if (book_.crowded()) catch_up(true);
  SOUK_ASSIGN(auto opening, book_.open(worker, unit));
  SOUK_ASSIGN(auto body, arrivals_.take(worker, unit));
  if (!opening.report) {
    if (opening.hub && hub_folding_) hub_folding_->drop(unit, *opening.hub);
    return std::move(opening.verdict);
  }
  SOUK_ASSIGN(auto verdict, judge(*opening.report, done, std::move(body)));
  base::kill_point("unit-accepted");
  book_.forget_versions();
  catch_up(true);
  return verdict;
}

Result<UnitVerdict> Run::judge(OpenReport& report, const wire::UnitDone& said, Body body) {
  if (said.error) return book_.refuse(report, *said.error);
  const auto size = body->bytes().size();
  // It paused for so long that what had arrived was dropped, or it lost count: nobody's fault.
  if (said.bytes && static_cast<std::size_t>(*said.bytes) != size)
    return book_.refuse(
        report, fmt::format("{} bytes of its update have arrived; it has {}", size, *said.bytes),
        false);
  const auto& unit = report.unit();
  const auto done = in_whole_steps(said, unit, spec_.batch);
  // Nothing was done, or of a divided step only a part.
  if (unit.kind != UnitKind::init && done.steps == 0 && done.samples == 0 &&
      (size == 0 || said.steps > 0))
    return book_.give_back(report);
  book_.limit_wage(report, done.steps);
  if (unit.measure) return judge_state(report, done, std::move(body));
  if (unit.kind == UnitKind::evaluate) return book_.evaluated(report, done);
  if (unit.kind == UnitKind::init) {
    const Turn turn(turns_);
    return folding_.begin(report, done, std::move(body));
  }
  times_.did(report.worker(), batch_of(spec_, unit.id), done.steps);
  if (report.hub() && hub_folding_) {
    if (size == 0)
      return hub_folding_->judge(report, done, codecs_.of(report.worker(), unit.id).spec);
    hub_folding_->bypassed(report);
  }
  return judge_here(report, done, std::move(body));
}

bool Run::keeps_bases() const { return book_.aggregator().needs().base || spec_.replicate > 0; }

// Ids of units are larger than any number of folds: as a version it is nobody else's.
std::optional<TrialVersions> Run::try_out(const train::Update& update, std::int64_t unit) const {
  auto now = store_->take();
  if (!now) return std::nullopt;
  TrialVersions out{.before = *std::move(now)};
  out.after = train::with_update(out.before, update, book_.aggregator().needs().sends);
  out.after.version = unit;
  out.after.versions.assign(out.after.blocks.size(), unit);
  return out;
}

// Always in fp32: of all but the state there is nothing, which takes no room.
UnitVerdict Run::judge_state(OpenReport& report, const wire::UnitDone& done, Body body) {
  const auto codec = train::make_codec("fp32");
  const auto change = train::Update::read(std::move(body), **codec, book_.floats());
  if (!change) return book_.refuse(report, change.error().message);
  return book_.state_measured(report, done, *change);
}

UnitVerdict Run::judge_here(OpenReport& report, const wire::UnitDone& done, Body body) {
  const auto& unit = report.unit();
  // Read and measured without a lock: this is where the time goes.
  auto update = train::Update::read(std::move(body), *codecs_.of(report.worker(), unit.id).codec,
                                    book_.floats());
  if (!update) return book_.refuse(report, update.error().message);
  const auto who = static_cast<std::int64_t>(report.worker().value);
  train::Session::Claim claim{.worker = who,
                              .unit = unit,
                              .base = done.base,
                              .samples = done.samples,
                              .evidence = {.stats = train::stats_of(*update),
                                           .steps = done.steps,
                                           .loss = done.loss,
                                           .direction = train::direction_of(*update),
                                           .worker = who}};
  update->norm = claim.evidence.stats.norm;
  update->weight = static_cast<double>(done.samples);
  update->epoch = unit.epoch;
  update->at_work = unit.at_work;
  PendingUpdate pending{.contribution = {unit.id, done.base, *std::move(update)},
                        .claim = std::move(claim),
                        .wage = report.wage(done.epoch)};
  const auto worker = report.worker();
  std::optional<TrialVersions> trial;
  if (book_.wants_trial(report)) trial = try_out(pending.contribution.update, unit.id);
  auto known = bases_.find(worker, done.base);
  std::optional<train::Blocks> base;
  if (known) base = std::move(known->blocks);
  // While an update is folded at a hub, nothing is accepted here.
  Turn turn(turns_, std::defer_lock);
  if (hub_folding_) turn.lock();
  auto verdict = book_.judge(report, std::move(pending), std::move(base), std::move(trial));
  if (!keeps_bases() && !book_.is_audited(worker)) bases_.forget(worker);
  return verdict;
}

void Run::catch_up(bool wait) {
  book_.accept_uncompared();
  if (!folding_.behind() && !snapshots_.due(book_.mark())) return;
  Turn turn(turns_, std::defer_lock);
  if (wait)
    turn.lock();
  else if (!turn.try_lock())
    return;
  const auto done = fold_and_save();
  const std::lock_guard lock(mutex_);
  outcome_.trouble = done ? std::nullopt : std::optional(done.error());
}

Result<> Run::fold_and_save() {
  SOUK_TRY(folding_.fold_waiting());
  const auto mark = book_.mark();
  if (!snapshots_.due(mark)) return {};
  SOUK_ASSIGN(auto parameters, store_->save());
  auto head = book_.head(parameters);
  folding_.average().save(head, parameters);
  return snapshots_.save(mark, head, parameters);
}

Result<train::PackedBlocks> Run::pull(base::LeaseId worker, const PullRequest& wanted) {
  return contained([&] { return pack_parameters(worker, wanted); });
}

Result<train::PackedBlocks> Run::pack_parameters(base::LeaseId worker, const PullRequest& wanted) {
  SOUK_ASSIGN(const auto taken, parameters_for(worker, wanted));
  const auto since = wanted.version ? -1 : wanted.since;
  if (!wanted.piece && taken.size() * sizeof(float) > train::kMostPulledWhole)
    return fail(Code::too_large,
                fmt::format("{} parameters cannot be sent in one answer", taken.size()),
                "ask for pieces of them, with from=0: this needs a newer souk");
  auto out = wanted.piece
                 ? train::share_piece(taken, since, wanted.piece->from,
                                      std::min(wanted.piece->most_bytes, train::kMostPiece))
                 : train::share_changed(taken, since);
  bytes_out_ += static_cast<std::int64_t>(out.size());
  if (wanted.piece) book_.moved(worker, out.size());
  return out;
}

Result<train::ParameterSnapshot> Run::parameters_for(base::LeaseId worker,
                                                     const PullRequest& wanted) {
  if (wanted.version) {
    if (auto kept = book_.kept(*wanted.version)) return *std::move(kept);
    return fail(Code::not_found, fmt::format("version {} is not kept any more", *wanted.version),
                "ask for another unit");
  }
  const bool later = wanted.piece && wanted.piece->at;
  if (later)
    if (auto base = bases_.find(worker, *wanted.piece->at)) return *std::move(base);
  SOUK_ASSIGN(auto taken, store_->take());
  if (!later && (keeps_bases() || book_.is_audited(worker))) {
    SOUK_ASSIGN(taken.blocks, spilled(std::move(taken.blocks), options_.spill));
    bases_.remember(worker, taken);
  }
  return taken;
}

// On the core thread. What the worker has sent or pulled may be large: it is freed by others.
void Run::gone(base::LeaseId worker) {
  (void)contained([&]() -> Result<> {
    book_.gone(worker);
    return {};
  });
  const std::lock_guard lock(mutex_);
  departed_.push_back(worker);
}

void Run::forget_departed() {
  std::vector<base::LeaseId> departed;
  {
    const std::lock_guard lock(mutex_);
    departed.swap(departed_);
  }
  for (const auto worker : departed) {
    arrivals_.forget(worker);
    bases_.forget(worker);
    if (hub_folding_) hub_folding_->forget(worker);
  }
}

wire::Training Run::view() const {
  auto out = book_.view(times_);
  for (auto& w : out.by_worker)
    if (const auto lease = base::IdTraits<base::LeaseId>::parse(w.worker))
      w.codec = codecs_.latest(*lease);
  out.bytes_in = arrivals_.bytes();
  out.bytes_out = bytes_out_;
  out.folds = folding_.folds();
  out.folding = folding_.time();
  return out;
}

std::optional<base::Error> Run::trouble() const {
  const std::lock_guard lock(mutex_);
  return outcome_.trouble;
}

Result<std::optional<TrainingResult>> Run::ended() {
  {
    const std::lock_guard lock(mutex_);
    if (outcome_.ended) return outcome_.ended;
  }
  return contained([&] { return write_result(); });
}

Result<std::optional<TrainingResult>> Run::write_result() {
  const auto last = book_.final_parameters();
  if (!last) return std::nullopt;
  blob::FolderWriter folder(blobs_);
  SOUK_TRY(write_model(last->layout, last->blocks, folder));
  for (const auto& [path, content] : result_files(spec_, view()))
    SOUK_TRY(folder.add(path, content));
  SOUK_ASSIGN(auto packed, folder.finish());
  const std::lock_guard lock(mutex_);
  if (!outcome_.ended) {
    outcome_.ended = {to_string(packed.root), last->reason};
    std::swap(outcome_.pin, packed.pin);
  }
  return outcome_.ended;
}

Result<TrainingResult> Run::end(std::string reason) {
  SOUK_TRY(contained([&]() -> Result<> {
    const Turn turn(turns_);
    SOUK_ASSIGN(auto parameters, folding_.average().take(book_.work()));
    return book_.finish(std::move(reason), std::move(parameters));
  }));
  SOUK_ASSIGN(const auto done, ended());
  return *done;
}

}  // namespace souk::hub
