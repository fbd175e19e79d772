#include "hub/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <set>
#include <utility>

#include "base/check.h"
#include "blob/files.h"
#include "blob/folder.h"
#include "hub/results.h"
#include "hub/stores.h"
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
// A ticket outlives its unit by what the clocks of a market and its hubs may differ.
constexpr auto kTicketMargin = base::minutes(5);
constexpr auto kMissedFor = base::seconds(5);  // Doubled each time,
constexpr int kMostMissed = 7;                 // so often.
constexpr auto kAskAgain = base::milliseconds(100);

train::Session::Spec session_of(const wire::Train& spec, std::int32_t workers) {
  return {.plan = plan_of(spec, workers),
          .rule = {.name = spec.rule.empty() ? std::string(kDefaultRule) : spec.rule,
                   .params = {spec.rule_params.begin(), spec.rule_params.end()},
                   .workers = workers},
          .codec = spec.codec,
          .validators = spec.validators};
}

std::span<const float> floats(std::string_view bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

void append(std::string& out, const train::Blocks& blocks) {
  for (const auto& block : blocks)
    out.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
}

}  // namespace

train::Plan plan_of(const wire::Train& spec, std::int32_t workers) {
  train::Plan out{.epochs = spec.epochs,
                  .batch = spec.batch,
                  .local_steps = spec.local_steps,
                  .validations = spec.validations,
                  .workers = workers,
                  .lr = spec.lr,
                  .lr_end = spec.lr_end.value_or(spec.lr),
                  .seed = spec.seed};
  if (spec.target) out.target = spec.target->accuracy;
  for (const auto& shard : spec.shards) out.shards.push_back(shard.samples);
  for (const auto& shard : spec.validation) out.validation.push_back(shard.samples);
  return out;
}

// What a snapshot says beside the parameters.
struct Run::Snapshot {
  train::TrainingState training;
  train::Layout layout;
  std::int64_t version = 0;
  std::int32_t planes = 0;
  std::vector<double> norms, losses;
  SOUK_FIELDS(Snapshot, training, layout, version, planes, norms, losses)
};

Run::Run(wire::Train spec, train::RuleSpec rule, train::Session session, blob::Store& blobs,
         const base::Clock& clock, RunOptions options, std::unique_ptr<ParameterStore> store)
    : spec_(std::move(spec)),
      blobs_(blobs),
      clock_(clock),
      options_(std::move(options)),
      store_(std::move(store)),
      replication_(spec_.replicate),
      rule_(std::move(rule)),
      // Several updates at once, their bases, or the comparison of two need the bytes here.
      uses_hubs_(options_.hubs != nullptr && session.rule().needs().arity == 1 &&
                 !session.rule().needs().base && spec_.replicate == 0),
      generation_(fresh_name()),
      random_(static_cast<std::uint64_t>(spec_.seed)),
      session_(std::move(session)) {}

Result<std::unique_ptr<Run>> Run::open(const wire::Train& spec, std::int32_t workers,
                                       blob::Store& blobs, const base::Clock& clock,
                                       RunOptions options, std::unique_ptr<ParameterStore> store) {
  auto asked = session_of(spec, workers);
  auto by = asked.rule;
  SOUK_ASSIGN(auto session, train::Session::make(std::move(asked)));
  const auto& rule = session.rule();
  if (spec.replicate > 0 && (rule.needs().synchronous || session.codec().keeps_residual()))
    return fail(Code::invalid,
                fmt::format("units cannot be done twice with rule {} and codec {}", rule.name(),
                            spec.codec),
                "use a rule that does not wait, and fp32, fp16 or int8", "replicate");
  std::unique_ptr<Run> run(new Run(spec, std::move(by), std::move(session), blobs, clock,
                                   std::move(options), std::move(store)));
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
  Saved saved{.values = train::blocks_of(values.first(size)),
              .version = snapshot.version,
              .generation = generation_};
  for (std::size_t p = 1; p <= static_cast<std::size_t>(snapshot.planes); ++p)
    saved.planes.push_back(train::blocks_of(values.subspan(p * size, size)));
  SOUK_TRY(store_->load(saved));
  layout_ = std::move(snapshot.layout);
  version_ = snapshot.version;
  // The versions under check are gone; what was saved is checked instead.
  for (auto& check : snapshot.training.checks) check.version = version_;
  if (snapshot.training.finished) snapshot.training.final_version = version_;
  session_.restore(std::move(snapshot.training), snapshot.norms, snapshot.losses);
  SOUK_ASSIGN(const auto taken, store_->take());
  for (const auto version : session_.training().kept()) kept_[version] = taken;
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
    head = {.training = session_.training().durable(clock_.now()),
            .layout = layout_,
            .version = saved.version,
            .planes = static_cast<std::int32_t>(saved.planes.size()),
            .norms = {session_.history().norms().begin(), session_.history().norms().end()},
            .losses = {session_.history().losses().begin(), session_.history().losses().end()}};
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

Result<wire::Unit> Run::next(base::LeaseId worker, const std::vector<std::string>& holds,
                             const std::optional<wire::TimeSpent>& spent) {
  const std::lock_guard lock(mutex_);
  if (spent) spent_.add(worker, *spent);
  std::set<std::int32_t> shards;
  for (std::size_t i = 0; i < spec_.shards.size(); ++i)
    if (std::ranges::find(holds, spec_.shards[i].blob) != holds.end())
      shards.insert(static_cast<std::int32_t>(i));
  auto now = clock_.now();
  if (folding_there_) {
    if (folding_there_->worker == worker)
      return wire::Unit{.kind = UnitKind::wait, .wait = kAskAgain};
    now = std::min(now, folding_there_->deadline - base::microseconds(1));
  }
  const auto unit = session_.training().next(static_cast<std::int64_t>(worker.value), now, shards);
  wire::Unit out{.kind = unit.kind,
                 .id = unit.id,
                 .version = unit.version,
                 .pass = unit.epoch,
                 .first_step = unit.first_step,
                 .steps = unit.steps,
                 .batch = batch_of(unit.id),
                 .lr = unit.lr,
                 .seed = unit.seed,
                 .send = session_.rule().needs().sends,
                 .state_scale = session_.state_scale(),
                 .codec = spec_.codec,
                 .wait = unit.wait};
  if (unit.id != 0) {
    out.within = unit.deadline - now;
    const auto hub = hub_for(worker, unit);
    given_[unit.id] = {worker, clock_.now(), hub};
    if (hub) {
      const auto name = name_of(unit.id, *hub);
      out.hub = options_.hubs->pass(*hub, name.job, name.update, unit.deadline + kTicketMargin);
    }
    if (given_.size() > kRemembered) given_.erase(given_.begin());  // Ids grow: it is long lost.
  }
  if (unit.kind == UnitKind::train || unit.kind == UnitKind::evaluate)
    out.shard = shard_of(unit).blob;
  return out;
}

std::int32_t Run::batch_of(std::int64_t unit) const {
  if (!spec_.measure) return spec_.batch;
  const auto part = unit % 2 == 0 ? 1 : unit % 4 == 1 ? 2 : 4;
  return std::max(1, spec_.batch / part);
}

std::optional<std::size_t> Run::hub_for(base::LeaseId worker, const train::Unit& unit) const {
  if (!uses_hubs_ || unit.kind != UnitKind::train) return std::nullopt;
  const auto it = missed_.find(worker);
  if (it != missed_.end() && clock_.now() < it->second.until) return std::nullopt;
  return options_.hubs->choose(unit.id);
}

// Once may be the hub's fault, which is then left out. Later ones are perhaps the worker's: a hub
// that it cannot reach, or an update that it never sent.
void Run::missed(base::LeaseId worker) {
  auto& m = missed_[worker];
  if (++m.times > 1)
    m.until = clock_.now() + kMissedFor * (std::int64_t{1} << std::min(m.times, kMostMissed));
}

// Units of different lives may have the same id; their updates must not be taken for each other.
Remote::Name Run::name_of(std::int64_t unit, std::size_t hub) const {
  return {hub, options_.job, fmt::format("{}-{}", unit, generation_)};
}

Result<std::int64_t> Run::receive(base::LeaseId worker, std::int64_t unit, std::int64_t offset,
                                  std::string_view piece) {
  const std::lock_guard lock(mutex_);
  if (session_.training().find(static_cast<std::int64_t>(worker.value), unit) == nullptr)
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

Result<Run::Judged> Run::complete(base::LeaseId worker, std::int64_t unit,
                                  const wire::UnitDone& done) {
  std::string body;
  train::Unit asked;
  Judged out;
  Duration worked;
  std::optional<std::size_t> hub;
  if (auto late = too_late(worker, unit)) return *std::move(late);
  {
    const std::lock_guard lock(mutex_);
    const auto* found = session_.training().find(static_cast<std::int64_t>(worker.value), unit);
    if (found == nullptr) return Judged{.verdict = {false, "the unit was taken back meanwhile"}};
    if (folding_there_ && folding_there_->worker == worker)
      return fail(Code::unavailable, "its update is being folded", "ask again");
    asked = *found;
    if (auto node = arrived_.extract(unit)) body = std::move(node.mapped());
    if (const auto it = given_.find(unit); it != given_.end()) {
      worked = clock_.now() - it->second.at;
      hub = it->second.hub;
    }
    if (done.error) return refuse(unit, *done.error);
    if (asked.kind == UnitKind::train) spent_.did(worker, batch_of(unit), done.steps);
    if (asked.kind == UnitKind::evaluate) {
      const auto accuracy = done.metrics.find("accuracy");
      const auto right = accuracy == done.metrics.end() ? 0 : accuracy->second;
      if (done.samples <= 0 || !(right >= 0 && right <= 1))
        return refuse(unit, "a check needs samples, and an accuracy of 0 to 1");
      session_.training().evaluated(unit, done.samples, done.loss, right, clock_.now());
      out.verdict.accepted = true;
    }
  }
  if (asked.kind == UnitKind::init) {
    SOUK_ASSIGN(out.verdict, begin(worker, unit, done, std::move(body)));
  } else if (asked.kind == UnitKind::train) {
    if (hub && body.empty()) {
      SOUK_ASSIGN(out, contribute_there(worker, asked, done, *hub, worked));
    } else {
      if (hub) bypassed(worker, unit, *hub);
      SOUK_ASSIGN(out, contribute(worker, asked, done, std::move(body), worked));
    }
  }
  if (asked.kind != UnitKind::train && out.verdict.accepted)
    out.paid.push_back({worker, done.epoch, worked});
  bool finished = false;
  {
    const std::lock_guard lock(mutex_);
    given_.erase(unit);
    const auto kept = session_.training().kept();
    std::erase_if(kept_, [&](const auto& k) { return !kept.contains(k.first); });
    finished = session_.training().state().finished;
  }
  const std::lock_guard lock(folding_);
  SOUK_TRY(save_if_due(finished));
  return out;
}

// What was sent for a unit that does not count any more is not kept.
std::optional<Run::Judged> Run::too_late(base::LeaseId worker, std::int64_t unit) {
  std::optional<std::size_t> hub;
  {
    const std::lock_guard lock(mutex_);
    if (session_.training().find(static_cast<std::int64_t>(worker.value), unit) != nullptr)
      return std::nullopt;
    if (const auto it = given_.find(unit); it != given_.end() && it->second.worker == worker) {
      hub = it->second.hub;
      arrived_.erase(unit);
      given_.erase(it);
    }
  }
  if (hub) (void)options_.hubs->drop(name_of(unit, *hub));
  return Judged{.verdict = {false, "the unit was given to somebody else, or was done already"}};
}

// The first parameters, by whoever came first.
Result<wire::UnitVerdict> Run::begin(base::LeaseId /*worker*/, std::int64_t unit,
                                     const wire::UnitDone& done, std::string body) {
  train::Layout layout;
  for (const auto& t : done.tensors) layout.tensors.push_back({t.name, t.shape});
  const std::lock_guard folding(folding_);
  const std::lock_guard lock(mutex_);
  if (const auto good = check_layout(layout, options_.most_floats); !good)
    return refuse(unit, good.error().message).verdict;
  SOUK_ASSIGN(const auto fp32, train::make_codec("fp32"));
  const auto first = train::Update::read(std::move(body), *fp32, layout.size());
  if (!first) return refuse(unit, first.error().message).verdict;
  if (!train::stats_of(*first).finite)
    return refuse(unit, "the first parameters are not finite").verdict;
  Saved saved;
  train::Block scratch(train::kBlock);
  for (std::size_t i = 0; i < first->count(); ++i) {
    const auto values = first->block(i, scratch);
    saved.values.push_back(std::make_shared<train::Block>(values.begin(), values.end()));
  }
  for (std::size_t p = 0; p < session_.rule().needs().planes; ++p)
    saved.planes.push_back(train::blocks_of(std::vector<float>(layout.size())));
  saved.generation = generation_;
  SOUK_TRY(store_->load(saved));
  layout_ = std::move(layout);
  session_.training().initialised(unit, clock_.now());
  since_snapshot_ = options_.snapshot_updates;  // Saved at once.
  return wire::UnitVerdict{true, ""};
}

Result<Run::Judged> Run::contribute(base::LeaseId worker, const train::Unit& unit,
                                    const wire::UnitDone& done, std::string body, Duration worked) {
  // Read and measured without a lock: this is where the time goes.
  auto update = train::Update::read(std::move(body), session_.codec(), layout_.size());
  const auto who = static_cast<std::int64_t>(worker.value);
  train::Evidence evidence{.steps = done.steps, .loss = done.loss, .worker = who};
  if (update) {
    evidence.stats = train::stats_of(*update);
    evidence.direction = train::direction_of(*update);
  }
  Judged out{.verdict = {true, ""}};
  bool fold = false;
  // While an update is folded at a hub, nothing is accepted here.
  std::unique_lock folding(folding_, std::defer_lock);
  if (uses_hubs_) folding.lock();
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.now();
    auto& training = session_.training();
    const train::Session::Claim claim{.worker = who,
                                      .unit = unit,
                                      .base = done.base,
                                      .samples = done.samples,
                                      .evidence = std::move(evidence)};
    if (training.find(claim.worker, unit.id) == nullptr)
      return Judged{.verdict = {false, "the unit was given to somebody else meanwhile"}};
    if (!update) return refuse(unit.id, update.error().message);
    if (auto refusal = session_.judge(claim, version_, now))
      return Judged{.verdict = {false, std::move(refusal->why)}};
    const auto pulled = pulled_.find(worker);
    const bool base_known = pulled != pulled_.end() && pulled->second.version == done.base;
    if (session_.rule().needs().base) {
      if (!base_known) return refuse(unit.id, "its base is not known any more");
      update->base = pulled->second.blocks;
    }
    update->norm = claim.evidence.stats.norm;
    update->weight = static_cast<double>(done.samples);
    update->epoch = unit.epoch;
    Believed believed{
        {unit.id, done.base, *std::move(update)}, claim, {worker, done.epoch, worked}};
    if (const auto original = training.original(unit.id)) {
      if (done.steps != unit.steps || done.base != unit.version)
        return refuse(unit.id, "a part, or another base, proves nothing", false);
      compare(original, unit.id, std::move(believed), out);
    } else if (spec_.replicate > 0 && base_known && done.base > 0 && done.steps == unit.steps &&
               training.active(now) > 1 &&
               replication_.check(training.workers().at(claim.worker).streak, random_)) {
      train::Taken taken{.blocks = pulled->second.blocks, .version = done.base};
      taken.versions.resize(taken.blocks.size(), done.base);
      kept_.try_emplace(done.base, std::move(taken));
      training.hold(unit.id, done.base, now);
      held_.emplace(unit.id, std::move(believed));
    } else {
      out.paid.push_back(believed.paid);
      accept(std::move(believed));
    }
    for (const auto id : training.unchecked(now))
      if (auto node = held_.extract(id)) {
        out.paid.push_back(node.mapped().paid);
        accept(std::move(node.mapped()));
      }
    fold = session_.to_fold(waiting_.size()) > 0;
  }
  if (!fold) return out;
  if (!folding) folding.lock();
  SOUK_TRY(fold_waiting());
  return out;
}

// The worker sent to the market what was meant for a hub.
void Run::bypassed(base::LeaseId worker, std::int64_t unit, std::size_t hub) {
  (void)options_.hubs->drop(name_of(unit, hub));  // A hub that is gone is noticed by this.
  const std::lock_guard lock(mutex_);
  missed(worker);
}

// Folded before it is accepted, because a hub may be gone at any time: what is not in the
// parameters does not count as done.
Result<Run::Judged> Run::contribute_there(base::LeaseId worker, const train::Unit& unit,
                                          const wire::UnitDone& done, std::size_t hub,
                                          Duration worked) {
  const auto name = name_of(unit.id, hub);
  auto claim = unsettled(unit.id);
  // Without a lock: this is where the time goes.
  auto measured = claim ? Measured{} : options_.hubs->measure(name, spec_.codec, layout_.size());
  const std::lock_guard folding(folding_);
  SOUK_TRY(fold_waiting());
  std::optional<Judged> refused;
  {
    const std::lock_guard lock(mutex_);
    const auto who = static_cast<std::int64_t>(worker.value);
    if (session_.training().find(who, unit.id) == nullptr) {
      refused = {.verdict = {false, "the unit was given to somebody else meanwhile"}};
    } else if (!measured) {
      const auto code = measured.error().code;
      if (code == Code::not_found) missed(worker);
      refused = refuse(unit.id, measured.error().message, code == Code::invalid);
    } else if (!claim) {
      claim = {.worker = who,
               .unit = unit,
               .base = done.base,
               .samples = done.samples,
               .evidence = {.stats = measured->stats,
                            .steps = done.steps,
                            .loss = done.loss,
                            .direction = std::move(measured->direction),
                            .worker = who}};
      if (auto refusal = session_.judge(*claim, version_, clock_.now()))
        refused = {.verdict = {false, std::move(refusal->why)}};
    }
    if (!refused) folding_there_ = {worker, unit.deadline};
  }
  if (refused) {
    (void)options_.hubs->drop(name);
    return *std::move(refused);
  }
  auto version = fold_there(name, *claim);
  const std::lock_guard lock(mutex_);
  auto out = folded_there(*std::move(claim), version, {worker, done.epoch, worked});
  if (std::exchange(folding_there_, std::nullopt)->gone) leave(worker);
  return out;
}

// The new version; nothing: it is not folded, and never will be.
Result<std::optional<std::int64_t>> Run::fold_there(const Remote::Name& name,
                                                    const train::Session::Claim& claim) {
  auto version = options_.hubs->fold(name, {.id = claim.unit.id,
                                            .base = claim.base,
                                            .epoch = claim.unit.epoch,
                                            .weight = static_cast<double>(claim.samples),
                                            .codec = spec_.codec,
                                            .generation = generation_,
                                            .rule = rule_});
  if (version) return *version;
  SOUK_ASSIGN(const bool folded, store_->bar(claim.unit.id));
  if (!folded) return std::nullopt;
  SOUK_ASSIGN(const auto taken, store_->take());
  return taken.version;
}

Result<Run::Judged> Run::folded_there(train::Session::Claim claim,
                                      const Result<std::optional<std::int64_t>>& version,
                                      Paid paid) {
  const auto& training = session_.training();
  const auto id = claim.unit.id;
  if (!version) {  // Its worker asks again.
    std::erase_if(unsettled_, [&](const auto& u) {
      return training.find(u.second.worker, u.first) == nullptr;
    });
    unsettled_.insert_or_assign(id, std::move(claim));
    return std::unexpected(version.error());
  }
  unsettled_.erase(id);
  const bool counts = training.find(claim.worker, id) != nullptr;
  if (!*version && counts) return refuse(id, "its hub was lost before it was folded", false);
  const Judged too_late{.verdict = {false, "the training ended meanwhile"}};
  if (!*version) return too_late;
  if (counts) {
    session_.accept(claim, clock_.now());
    ++since_snapshot_;
  }
  missed_.erase(paid.lease);
  SOUK_TRY(folded(**version));
  if (!counts) return too_late;
  return Judged{.verdict = {true, ""}, .paid = {paid}};
}

std::optional<train::Session::Claim> Run::unsettled(std::int64_t unit) const {
  const std::lock_guard lock(mutex_);
  const auto it = unsettled_.find(unit);
  return it == unsettled_.end() ? std::nullopt : std::optional(it->second);
}

Run::Judged Run::refuse(std::int64_t unit, std::string why, bool blame) {
  given_.erase(unit);
  return {.verdict = {false, session_.refuse(unit, std::move(why), clock_.now(), blame).why}};
}

void Run::accept(Believed update) {
  session_.accept(update.claim, clock_.now());
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
  session_.training().replicated(replica, agreed, clock_.now());
  if (!agreed) {
    session_.training().reject(original, clock_.now());
    out.verdict = {false, "another worker came to another result"};
    return;
  }
  out.paid = {first.paid, second.paid};
  accept(std::move(first));
}

// Whoever comes first folds for all who wait behind.
Result<> Run::fold_waiting() {
  std::vector<Contribution> batch;
  {
    const std::lock_guard lock(mutex_);
    const auto end =
        waiting_.begin() + static_cast<std::ptrdiff_t>(session_.to_fold(waiting_.size()));
    if (end == waiting_.begin()) return {};
    std::move(waiting_.begin(), end, std::back_inserter(batch));
    waiting_.erase(waiting_.begin(), end);
  }
  const auto before = clock_.now();
  const auto version = store_->fold(session_.rule(), batch);
  const std::lock_guard lock(mutex_);
  folds_ += std::ssize(batch);
  folding_time_ = folding_time_ + (clock_.now() - before);
  if (!version) {  // They were accepted: the next fold takes them along.
    waiting_.insert(waiting_.begin(), std::move_iterator(batch.begin()),
                    std::move_iterator(batch.end()));
    return std::unexpected(version.error());
  }
  return folded(*version);
}

Result<> Run::folded(std::int64_t version) {
  version_ = version;
  session_.training().folded();
  if (session_.training().begin_check(version, clock_.now())) {
    SOUK_ASSIGN(kept_[version], store_->take());
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
  auto out = train::pack_changed(taken, since);
  const std::lock_guard lock(mutex_);
  if (!version && (session_.rule().needs().base || spec_.replicate > 0))
    pulled_[worker] = {taken.version, std::move(taken.blocks)};
  bytes_out_ += std::ssize(out);
  return out;
}

void Run::gone(base::LeaseId worker) {
  const std::lock_guard lock(mutex_);
  if (folding_there_ && folding_there_->worker == worker)
    folding_there_->gone = true;
  else
    leave(worker);
}

void Run::leave(base::LeaseId worker) {
  session_.training().gone(static_cast<std::int64_t>(worker.value), clock_.now());
  pulled_.erase(worker);
  missed_.erase(worker);
}

wire::Training Run::view() const {
  const std::lock_guard lock(mutex_);
  const auto& s = session_.training().state();
  const auto now = clock_.now();
  wire::Training out{.state = s.finished      ? wire::TrainingState::finished
                              : s.initialised ? wire::TrainingState::training
                                              : wire::TrainingState::waiting,
                     .reason = s.reason,
                     .rule = std::string(session_.rule().name()),
                     .epoch = session_.training().epoch(),
                     .epochs = spec_.epochs,
                     .progress = session_.training().progress(),
                     .version = version_,
                     .samples = s.samples,
                     .loss = session_.training().recent_loss(),
                     .elapsed = session_.training().elapsed(now),
                     .workers = session_.training().active(now),
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
                        .mean = r.mean(),
                        .low = r.low,
                        .high = r.high,
                        .workers = r.workers});
  for (const auto& [id, w] : session_.training().workers())
    out.by_worker.push_back(
        {.worker = to_string(base::LeaseId(static_cast<std::uint64_t>(id))),
         .units = w.units,
         .steps = w.steps,
         .lost = w.lost,
         .rejected = w.rejected,
         .steps_per_second = w.seconds_per_step > 0 ? 1 / w.seconds_per_step : 0,
         .spent = spent_.of(base::LeaseId(static_cast<std::uint64_t>(id)))});
  out.spent = spent_.all();
  out.by_batch = spent_.by_batch();
  out.folds = folds_;
  out.folding = folding_time_;
  return out;
}

double Run::progress() const {
  const std::lock_guard lock(mutex_);
  return session_.training().progress();
}

Result<std::optional<Ended>> Run::ended() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return ended_;
    if (!session_.training().state().finished) return std::nullopt;
  }
  SOUK_ASSIGN(auto result, write_results());
  const std::lock_guard lock(mutex_);
  ended_ = {std::move(result), session_.training().state().reason};
  return ended_;
}

Result<Ended> Run::end(std::string reason) {
  {
    const std::lock_guard folding(folding_);
    SOUK_ASSIGN(auto taken, store_->take());
    const std::lock_guard lock(mutex_);
    if (!session_.training().state().initialised)
      return fail(Code::conflict, "nothing was trained", "it ended before its first unit");
    session_.training().finish(std::move(reason), taken.version);
    kept_.try_emplace(session_.training().state().final_version, std::move(taken));
  }
  SOUK_ASSIGN(const auto done, ended());
  return *done;
}

Result<std::string> Run::write_results() {
  train::Blocks blocks;
  train::Layout layout;
  {
    const std::lock_guard lock(mutex_);
    const auto it = kept_.find(session_.training().state().final_version);
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
