#include "hub/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>

#include "base/check.h"
#include "blob/files.h"
#include "blob/folder.h"
#include "hub/results.h"
#include "wire/api_json.h"

namespace souk::hub {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;
using train::UnitKind;

// The rule that wins benchmark B4: docs/decisions/0011-the-default-rule.md.
constexpr std::string_view kDefaultRule = "delayed-nesterov";
constexpr std::int64_t kMostPiece = 8 << 20;
constexpr std::size_t kRemembered = 10'000;  // Units that were given out.

train::Plan plan_of(const wire::Train& spec, std::int32_t workers, const train::Needs& needs) {
  train::Plan out{.epochs = spec.epochs,
                  .batch = spec.batch,
                  .local_steps = spec.local_steps,
                  .validations = spec.validations,
                  .workers = workers,
                  .lr = spec.lr,
                  .lr_end = spec.lr_end.value_or(spec.lr),
                  .seed = spec.seed,
                  .arity = needs.arity,
                  .synchronous = needs.synchronous};
  if (spec.target) out.target = spec.target->accuracy;
  for (const auto& shard : spec.shards) out.shards.push_back(shard.samples);
  for (const auto& shard : spec.validation) out.validation.push_back(shard.samples);
  return out;
}

std::span<const float> floats(std::string_view bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void append(std::string& out, const train::Blocks& blocks) {
  for (const auto& block : blocks)
    out.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
}

}  // namespace

// What a snapshot says beside the parameters.
struct Run::Snapshot {
  train::TrainingState training;
  train::Layout layout;
  std::int64_t version = 0;
  std::int32_t planes = 0;
  std::vector<double> norms, losses;
  SOUK_FIELDS(Snapshot, training, layout, version, planes, norms, losses)
};

Run::Run(wire::Train spec, blob::Store& blobs, const base::Clock& clock, RunOptions options,
         std::unique_ptr<ParameterStore> store)
    : spec_(std::move(spec)),
      blobs_(blobs),
      clock_(clock),
      options_(std::move(options)),
      store_(std::move(store)),
      replication_(spec_.replicate),
      random_(static_cast<std::uint64_t>(spec_.seed)) {}

Result<std::unique_ptr<Run>> Run::open(const wire::Train& spec, std::int32_t workers,
                                       blob::Store& blobs, const base::Clock& clock,
                                       RunOptions options, std::unique_ptr<ParameterStore> store) {
  std::unique_ptr<Run> run(new Run(spec, blobs, clock, std::move(options), std::move(store)));
  SOUK_ASSIGN(run->rule_,
              train::make_rule({spec.rule.empty() ? std::string(kDefaultRule) : spec.rule,
                                {spec.rule_params.begin(), spec.rule_params.end()},
                                workers}));
  SOUK_ASSIGN(run->codec_, train::make_codec(spec.codec));
  const auto needs = run->rule_->needs();
  if (needs.sends == train::Sends::weights && run->codec_->keeps_residual())
    return fail(Code::invalid,
                fmt::format("codec {} sends changes, rule {} needs whole weights", spec.codec,
                            run->rule_->name()),
                "use fp32, fp16 or int8, or another rule", "codec");
  if (spec.replicate > 0 && (needs.synchronous || run->codec_->keeps_residual()))
    return fail(Code::invalid,
                fmt::format("units cannot be done twice with rule {} and codec {}",
                            run->rule_->name(), spec.codec),
                "use a rule that does not wait, and fp32, fp16 or int8", "replicate");
  std::vector<std::string> names = spec.validators;
  if (names.empty())
    for (const auto name : train::validator_names()) names.emplace_back(name);
  // Norms of whole weights say nothing about a change.
  if (needs.sends == train::Sends::weights) std::erase(names, "norm");
  for (const auto& name : names) {
    SOUK_ASSIGN(auto validator, train::make_validator(name));
    run->validators_.push_back(std::move(validator));
  }
  run->training_.emplace(plan_of(spec, workers, needs));
  run->next_snapshot_ = clock.now() + run->options_.snapshot_every;
  SOUK_TRY(run->recover());
  return run;
}

Result<> Run::recover() {
  std::ifstream in(options_.pointer);
  std::string name;
  if (!(in >> name)) return {};  // It has none yet.
  SOUK_ASSIGN(const auto root, blob::parse_digest(name));
  SOUK_ASSIGN(const auto manifest, blob::read_manifest(root, blobs_));
  SOUK_ASSIGN(const auto head, blob::read_file(manifest, "state.json", blobs_));
  SOUK_ASSIGN(auto snapshot, wire::from_json<Snapshot>(head));
  SOUK_ASSIGN(const auto data, blob::read_file(manifest, "parameters", blobs_));
  const auto size = snapshot.layout.size();
  if (data.size() != size * sizeof(float) * static_cast<std::size_t>(snapshot.planes + 1))
    return fail(Code::damaged, "the snapshot of a training has the wrong length");
  const auto values = floats(data);
  Saved saved{.values = train::blocks_of(values.first(size)), .version = snapshot.version};
  for (std::size_t p = 1; p <= static_cast<std::size_t>(snapshot.planes); ++p)
    saved.planes.push_back(train::blocks_of(values.subspan(p * size, size)));
  SOUK_TRY(store_->load(saved));
  layout_ = std::move(snapshot.layout);
  version_ = snapshot.version;
  history_.restore({snapshot.norms.begin(), snapshot.norms.end()},
                   {snapshot.losses.begin(), snapshot.losses.end()});
  // The versions under check are gone; what was saved is checked instead.
  for (auto& check : snapshot.training.checks) check.version = version_;
  if (snapshot.training.finished) snapshot.training.final_version = version_;
  auto plan = training_->plan();  // A copy: what it lies in is replaced.
  training_.emplace(std::move(plan), std::move(snapshot.training));
  SOUK_ASSIGN(const auto taken, store_->take());
  for (const auto version : training_->kept()) kept_[version] = taken;
  pin_ = blobs_.pin(manifest.chunks());
  pin_.add(root);
  return {};
}

Result<> Run::save_if_due(bool force) {
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    const bool due = now >= next_snapshot_ || since_snapshot_ >= options_.snapshot_updates;
    if (!force && (!due || since_snapshot_ == 0)) return {};
    next_snapshot_ = now + options_.snapshot_every;
    since_snapshot_ = 0;
  }
  return save();
}

// Requires folding_: parameters and work are of the same moment.
Result<> Run::save() {
  SOUK_ASSIGN(auto saved, store_->save());
  Snapshot head;
  {
    const std::lock_guard lock(mutex_);
    head = {.training = training_->durable(clock_.now()),
            .layout = layout_,
            .version = saved.version,
            .planes = static_cast<std::int32_t>(saved.planes.size()),
            .norms = {history_.norms().begin(), history_.norms().end()},
            .losses = {history_.losses().begin(), history_.losses().end()}};
    // What it ended with is what was checked, not what came after.
    if (const auto it = kept_.find(head.training.final_version);
        head.training.finished && it != kept_.end())
      saved.values = it->second.blocks;
  }
  std::string data;
  append(data, saved.values);
  for (const auto& plane : saved.planes) append(data, plane);
  SOUK_ASSIGN(
      auto packed,
      blob::pack_files({{"parameters", data}, {"state.json", wire::to_json(head)}}, blobs_));
  SOUK_TRY(blob::replace_file(options_.pointer, to_string(packed.root) + "\n"));
  const std::lock_guard lock(mutex_);
  pin_ = std::move(packed.pin);
  return {};
}

const wire::TrainShard& Run::shard_of(const train::Unit& unit) const {
  const auto& list = unit.kind == UnitKind::evaluate ? spec_.validation : spec_.shards;
  return list[static_cast<std::size_t>(unit.shard)];
}

Result<wire::Unit> Run::next(base::LeaseId worker, const std::vector<std::string>& holds) {
  const std::lock_guard lock(mutex_);
  std::set<std::int32_t> shards;
  for (std::size_t i = 0; i < spec_.shards.size(); ++i)
    if (std::ranges::find(holds, spec_.shards[i].blob) != holds.end())
      shards.insert(static_cast<std::int32_t>(i));
  const auto now = clock_.now();
  const auto unit = training_->next(static_cast<std::int64_t>(worker.value), now, shards);
  wire::Unit out{.kind = std::string(to_string(unit.kind)),
                 .id = unit.id,
                 .version = unit.version,
                 .pass = unit.epoch,
                 .first_step = unit.first_step,
                 .steps = unit.steps,
                 .batch = spec_.batch,
                 .lr = unit.lr,
                 .seed = unit.seed,
                 .send = std::string(to_string(rule_->needs().sends)),
                 .codec = spec_.codec,
                 .wait = unit.wait};
  if (unit.id != 0) {
    out.within = unit.deadline - now;
    given_[unit.id] = now;
    if (given_.size() > kRemembered) given_.erase(given_.begin());  // Ids grow: it is long lost.
  }
  if (unit.kind == UnitKind::train || unit.kind == UnitKind::evaluate)
    out.shard = shard_of(unit).blob;
  return out;
}

Result<std::int64_t> Run::receive(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                  std::string_view piece) {
  const std::lock_guard lock(mutex_);
  if (training_->find(static_cast<std::int64_t>(worker.value), unit) == nullptr)
    return fail(Code::conflict, "the unit was given to somebody else", "ask for another");
  auto& body = arrived_[unit];
  const auto have = std::ssize(body);
  if (std::ssize(piece) > kMostPiece)
    return fail(Code::too_large, fmt::format("a piece of {} bytes", piece.size()));
  if (offset > have || offset < 0)
    return fail(Code::conflict, fmt::format("{} bytes have arrived", have), "go on from there");
  // Twice what the parameters take is more than any codec needs.
  const auto most =
      (layout_.tensors.empty() ? options_.most_floats : layout_.size()) * sizeof(float) * 2 +
      (1 << 20);
  if (static_cast<std::size_t>(offset) + piece.size() > most)
    return fail(Code::too_large, fmt::format("an update of more than {} bytes", most));
  if (offset + std::ssize(piece) > have) {
    body.resize(static_cast<std::size_t>(offset));
    body.append(piece);
    bytes_in_ += offset + std::ssize(piece) - have;
  }
  return std::ssize(body);
}

wire::UnitVerdict Run::rejected(std::int64_t unit, std::string why, bool blame) {
  training_->reject(unit, clock_.now(), blame);
  return {false, std::move(why)};
}

Result<Run::Judged> Run::complete(base::LeaseId worker, std::int64_t unit,
                                  const wire::UnitDone& done) {
  std::string body;
  train::Unit asked;
  Judged out;
  Duration worked;
  {
    const std::lock_guard lock(mutex_);
    const auto* found = training_->find(static_cast<std::int64_t>(worker.value), unit);
    if (found == nullptr) {
      arrived_.erase(unit);
      out.verdict = {false, "the unit was given to somebody else, or was done already"};
      return out;
    }
    asked = *found;
    if (auto node = arrived_.extract(unit)) body = std::move(node.mapped());
    if (const auto it = given_.find(unit); it != given_.end()) {
      worked = clock_.now() - it->second;
      given_.erase(it);
    }
    if (done.error) {
      out.verdict = rejected(unit, *done.error);
      return out;
    }
    if (asked.kind == UnitKind::evaluate) {
      const auto accuracy = done.metrics.find("accuracy");
      const auto right = accuracy == done.metrics.end() ? 0 : accuracy->second;
      if (done.samples <= 0 || !(right >= 0 && right <= 1)) {
        out.verdict = rejected(unit, "a check needs samples, and an accuracy of 0 to 1");
        return out;
      }
      training_->evaluated(unit, done.samples, done.loss, right, clock_.now());
      out.verdict.accepted = true;
    }
  }
  if (asked.kind == UnitKind::init) {
    SOUK_ASSIGN(out.verdict, begin(worker, unit, done, std::move(body)));
  } else if (asked.kind == UnitKind::train) {
    SOUK_ASSIGN(out, contribute(worker, asked, done, std::move(body), worked));
  }
  if (asked.kind != UnitKind::train && out.verdict.accepted)
    out.paid.push_back({worker, done.epoch, worked});
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    const auto kept = training_->kept();
    std::erase_if(kept_, [&](const auto& k) { return !kept.contains(k.first); });
    finished = training_->state().finished;
  }
  const std::lock_guard lock(folding_);
  SOUK_TRY(save_if_due(finished));
  return out;
}

// The first parameters, by whoever came first.
Result<wire::UnitVerdict> Run::begin(base::LeaseId /*worker*/, std::int64_t unit,
                                     const wire::UnitDone& done, std::string body) {
  train::Layout layout;
  for (const auto& t : done.tensors) layout.tensors.push_back({t.name, t.shape});
  const std::lock_guard folding(folding_);
  const std::lock_guard lock(mutex_);
  if (const auto good = check_layout(layout, options_.most_floats); !good)
    return rejected(unit, good.error().message);
  SOUK_ASSIGN(const auto fp32, train::make_codec("fp32"));
  const auto first = train::Update::read(std::move(body), *fp32, layout.size());
  if (!first) return rejected(unit, first.error().message);
  if (!train::stats_of(*first).finite) return rejected(unit, "the first parameters are not finite");
  Saved saved;
  train::Block scratch(train::kBlock);
  for (std::size_t i = 0; i < first->count(); ++i) {
    const auto values = first->block(i, scratch);
    saved.values.push_back(std::make_shared<train::Block>(values.begin(), values.end()));
  }
  for (std::size_t p = 0; p < rule_->needs().planes; ++p)
    saved.planes.push_back(train::blocks_of(std::vector<float>(layout.size())));
  SOUK_TRY(store_->load(saved));
  layout_ = std::move(layout);
  training_->initialised(unit, clock_.now());
  since_snapshot_ = options_.snapshot_updates;  // Saved at once.
  return wire::UnitVerdict{true, ""};
}

Result<Run::Judged> Run::contribute(base::LeaseId worker, const train::Unit& unit,
                                    const wire::UnitDone& done, std::string body, Duration worked) {
  // Read and measured without a lock: this is where the time goes.
  auto update = train::Update::read(std::move(body), *codec_, layout_.size());
  const auto stats = update ? train::stats_of(*update) : train::Stats{};
  const auto who = static_cast<std::int64_t>(worker.value);
  Judged out{.verdict = {true, ""}};
  bool fold = false;
  {
    const std::lock_guard lock(mutex_);
    const auto refuse = [&](std::string why, bool blame = true) {
      return Judged{.verdict = rejected(unit.id, std::move(why), blame)};
    };
    if (training_->find(who, unit.id) == nullptr)
      return Judged{.verdict = {false, "the unit was given to somebody else meanwhile"}};
    if (!update) return refuse(update.error().message);
    if (done.steps < 1 || done.steps > unit.steps || done.samples < 1 ||
        done.samples > done.steps * spec_.batch)
      return refuse(
          fmt::format("{} steps and {} samples were not asked for", done.steps, done.samples));
    if (done.base < 0 || done.base > version_)
      return refuse(fmt::format("there is no version {}", done.base));
    if (rule_->needs().synchronous && done.base != version_)
      return refuse("the round it belongs to is over", false);
    const train::Evidence evidence{stats, done.steps, done.loss};
    for (const auto& validator : validators_) {
      if (validator->name() != "finite" && insisted(unit, worker)) continue;
      if (auto why = validator->judge(evidence, history_); !why.empty()) {
        refused_[{unit.epoch, unit.shard, unit.first_step}].push_back(worker);
        if (refused_.size() > kRemembered) refused_.erase(refused_.begin());
        return refuse(why);
      }
    }
    const auto pulled = pulled_.find(worker);
    const bool base_known = pulled != pulled_.end() && pulled->second.version == done.base;
    if (rule_->needs().base) {
      if (!base_known) return refuse("its base is not known any more");
      update->base = pulled->second.blocks;
    }
    update->norm = stats.norm;
    update->weight = static_cast<double>(done.samples);
    update->epoch = unit.epoch;
    Believed believed{{unit.id, done.base, *std::move(update)},
                      evidence,
                      done.samples,
                      {worker, done.epoch, worked}};
    if (const auto original = training_->original(unit.id)) {
      if (done.steps != unit.steps || done.base != unit.version)
        return refuse("a part, or another base, proves nothing", false);
      compare(original, unit.id, std::move(believed), out);
    } else if (spec_.replicate > 0 && base_known && done.base > 0 && done.steps == unit.steps &&
               training_->active(clock_.now()) > 1 &&
               replication_.check(training_->workers().at(who).streak, random_)) {
      train::Taken taken{.blocks = pulled->second.blocks, .version = done.base};
      taken.versions.resize(taken.blocks.size(), done.base);
      kept_.try_emplace(done.base, std::move(taken));
      training_->hold(unit.id, done.base, clock_.now());
      held_.emplace(unit.id, std::move(believed));
    } else {
      out.paid.push_back(believed.paid);
      accept(std::move(believed));
    }
    for (const auto id : training_->unchecked(clock_.now()))
      if (auto node = held_.extract(id)) {
        out.paid.push_back(node.mapped().paid);
        accept(std::move(node.mapped()));
      }
    fold = waiting_.size() >= rule_->needs().arity || (training_->flush() && !waiting_.empty());
  }
  if (fold) SOUK_TRY(fold_waiting());
  return out;
}

// A unit that two others were refused for is odd, not its workers. One that works alone is believed
// the third time: else it would never get on.
bool Run::insisted(const train::Unit& unit, base::LeaseId worker) const {
  const auto it = refused_.find({unit.epoch, unit.shard, unit.first_step});
  if (it == refused_.end()) return false;
  std::set<base::LeaseId> others(it->second.begin(), it->second.end());
  others.erase(worker);
  const auto there_are = training_->active(clock_.now()) - 1;
  if (there_are == 0) return it->second.size() >= 2;
  return std::ssize(others) >= std::min(there_are, 2);
}

void Run::accept(Believed update) {
  history_.accept(update.evidence);
  training_->accept(update.contribution.id, update.evidence.steps, update.samples,
                    update.evidence.loss, clock_.now());
  waiting_.push_back(std::move(update.contribution));
  ++since_snapshot_;
}

// Two answers to the same unit, from the same parameters: both are right, or nobody is believed.
void Run::compare(std::int64_t original, std::int64_t replica, Believed second, Judged& out) {
  auto node = held_.extract(original);
  CHECK(node);
  auto& first = node.mapped();
  const bool agreed =
      train::Replication::agree(first.contribution.update, second.contribution.update);
  training_->replicated(replica, agreed, clock_.now());
  if (!agreed) {
    training_->reject(original, clock_.now());
    out.verdict = {false, "another worker came to another result"};
    return;
  }
  out.paid = {first.paid, second.paid};
  accept(std::move(first));
}

// Whoever comes first folds for all who wait behind.
Result<> Run::fold_waiting() {
  const std::lock_guard folding(folding_);
  std::vector<Contribution> batch;
  {
    const std::lock_guard lock(mutex_);
    const auto arity = rule_->needs().arity;
    if (waiting_.empty() || (waiting_.size() < arity && !training_->flush())) return {};
    // An immediate rule takes all; a buffered one its number.
    auto count = arity == 1 ? waiting_.size() : std::min(arity, waiting_.size());
    std::move(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count),
              std::back_inserter(batch));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }
  const auto version = store_->fold(*rule_, batch);
  const std::lock_guard lock(mutex_);
  if (!version) {  // They were accepted: the next fold takes them along.
    waiting_.insert(waiting_.begin(), std::move_iterator(batch.begin()),
                    std::move_iterator(batch.end()));
    return std::unexpected(version.error());
  }
  version_ = *version;
  training_->folded();
  if (training_->begin_check(*version, clock_.now())) {
    SOUK_ASSIGN(kept_[*version], store_->take());
  }
  return {};
}

Result<std::string> Run::pull(base::LeaseId worker, std::int64_t since,
                              std::optional<std::int64_t> version) {
  train::Taken taken;
  if (version) {
    const std::lock_guard lock(mutex_);
    const auto it = kept_.find(*version);
    if (it == kept_.end())
      return fail(Code::not_found, fmt::format("version {} is not kept any more", *version),
                  "ask for another unit");
    taken = it->second;
    since = -1;
  } else {
    SOUK_ASSIGN(taken, store_->take());
  }
  if (since < 0)  // A newcomer has nothing.
    std::ranges::fill(taken.versions, std::numeric_limits<std::int64_t>::max());
  auto out = train::pack_changed(taken, since);
  const std::lock_guard lock(mutex_);
  if (!version && (rule_->needs().base || spec_.replicate > 0))
    pulled_[worker] = {taken.version, std::move(taken.blocks)};
  bytes_out_ += std::ssize(out);
  return out;
}

void Run::gone(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  training_->gone(static_cast<std::int64_t>(worker.value), clock_.now());
  pulled_.erase(worker);
}

wire::Training Run::view() const {
  const std::lock_guard lock(mutex_);
  const auto& s = training_->state();
  const auto now = clock_.now();
  wire::Training out{.state = s.finished      ? "finished"
                              : s.initialised ? "training"
                                              : "waiting",
                     .reason = s.reason,
                     .rule = std::string(rule_->name()),
                     .epoch = training_->epoch(),
                     .epochs = spec_.epochs,
                     .progress = training_->progress(),
                     .version = version_,
                     .samples = s.samples,
                     .loss = training_->recent_loss(),
                     .elapsed = training_->elapsed(now),
                     .workers = training_->active(now),
                     .wasted_steps = s.wasted_steps,
                     .useful_steps = s.useful_steps,
                     .bytes_in = bytes_in_,
                     .bytes_out = bytes_out_};
  if (!s.rows.empty()) out.accuracy = s.rows.back().accuracy;
  if (spec_.target) out.target = spec_.target->accuracy;
  if (out.progress > 0.01 && !s.finished)
    out.left = Duration(static_cast<std::int64_t>(static_cast<double>(out.elapsed.us) *
                                                  (1 - out.progress) / out.progress));
  for (const auto& r : s.rows)
    out.rows.push_back({.epoch = r.epoch,
                        .at = r.at,
                        .samples = r.samples,
                        .version = r.version,
                        .loss = r.loss,
                        .validation_loss = r.validation_loss,
                        .accuracy = r.accuracy,
                        .mean = r.checks == 0 ? 0 : r.sum / r.checks,
                        .low = r.low,
                        .high = r.high,
                        .workers = r.workers});
  for (const auto& [id, w] : training_->workers())
    out.by_worker.push_back(
        {.worker = to_string(base::LeaseId(static_cast<std::uint64_t>(id))),
         .units = w.units,
         .steps = w.steps,
         .lost = w.lost,
         .rejected = w.rejected,
         .steps_per_second = w.seconds_per_step > 0 ? 1 / w.seconds_per_step : 0});
  return out;
}

Result<std::optional<Ended>> Run::ended() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return ended_;
    if (!training_->state().finished) return std::nullopt;
  }
  SOUK_ASSIGN(auto result, write_results());
  const std::lock_guard lock(mutex_);
  ended_ = {std::move(result), training_->state().reason};
  return ended_;
}

Result<Ended> Run::end(std::string reason) {
  {
    const std::lock_guard folding(folding_);
    SOUK_ASSIGN(auto taken, store_->take());
    const std::lock_guard lock(mutex_);
    if (!training_->state().initialised)
      return fail(Code::conflict, "nothing was trained", "it ended before its first unit");
    training_->finish(std::move(reason), taken.version);
    kept_.try_emplace(training_->state().final_version, std::move(taken));
  }
  SOUK_ASSIGN(const auto done, ended());
  return *done;
}

Result<std::string> Run::write_results() {
  train::Blocks blocks;
  train::Layout layout;
  {
    const std::lock_guard lock(mutex_);
    const auto it = kept_.find(training_->state().final_version);
    CHECK(it != kept_.end());
    blocks = it->second.blocks;
    layout = layout_;
  }
  const auto files = result_files(spec_, view(), layout, blocks);
  SOUK_ASSIGN(auto packed, blob::pack_files({files.begin(), files.end()}, blobs_));
  const std::lock_guard lock(mutex_);
  pin_ = std::move(packed.pin);
  return to_string(packed.root);
}

}  // namespace souk::hub
