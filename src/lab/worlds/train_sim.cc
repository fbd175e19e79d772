#include "lab/worlds/train_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <set>

#include "base/check.h"
#include "base/hash.h"
#include "base/random.h"
#include "train/pull.h"
#include "train/scores.h"
#include "train/session.h"

namespace souk::lab {
namespace {

using base::Code;
using base::Duration;
using base::fail;
using base::Result;
using base::Time;
using train::Sends;
using train::UnitKind;

constexpr double kMostWork = 4;       // Times the plan's steps.
constexpr double kCheckShare = 0.33;  // A sample is checked in a third of what training takes.
constexpr std::size_t kMostMachines = 10'000;

// The hub's side of a job: what hub::Run does around a session, without locks, snapshots, streams
// and replicas.
class Hub {
 public:
  explicit Hub(train::Session session) : session_(std::move(session)) {}

  train::Unit next(std::int64_t worker, Time now) { return session_.training().next(worker, now); }
  void time_spent(std::int64_t worker, Duration computed, Duration waited) {
    session_.training().time_spent(worker, computed, waited);
  }
  void begin(std::int64_t unit, std::span<const float> values, Time now);
  [[nodiscard]] train::ParameterSnapshot take() const { return train::take(parameters_); }
  [[nodiscard]] const train::ParameterSnapshot& kept(std::int64_t version) const {
    return kept_.at(version);
  }

  enum class Verdict { accepted, rejected, late };
  struct Judgement {
    Verdict verdict = Verdict::accepted;
    std::string by;  // The validator that rejected it.
  };
  struct SentUpdate {
    std::int64_t worker = 0, unit = 0, base = 0;
    train::Blocks base_blocks;
    std::string body;
    std::int64_t samples = 0;
    double loss = 0;
  };
  // `measure`: the loss of parameters on a validation shard, for updates that are judged by it.
  using Measure = std::function<Result<double>(const train::ParameterSnapshot&, std::int32_t)>;
  Result<Judgement> contribute(SentUpdate sent, Time now, const Measure& measure);
  void evaluated(std::int64_t worker, std::int64_t unit, const Learner::Evaluated& found, Time now);
  void stop(std::string reason);

  [[nodiscard]] const train::Training& training() const { return session_.training(); }
  [[nodiscard]] const train::Codec& codec() const { return session_.codec(); }
  [[nodiscard]] Sends sends() const { return session_.rule().needs().sends; }
  [[nodiscard]] double state_scale() const { return session_.state_scale(); }
  [[nodiscard]] std::string hash() const;

 private:
  struct Waiting {
    std::int64_t base = 0;
    train::Update update;
  };
  void fold(Time now);
  Result<bool> raises_loss(const train::Session::Claim& claim, const train::Update& update,
                           const Measure& measure);

  train::Session session_;
  base::Random random_{1};  // Which updates are scored.
  train::Parameters parameters_;
  std::vector<Waiting> waiting_;
  std::map<std::int64_t, train::ParameterSnapshot> kept_;
};

void Hub::begin(std::int64_t unit, std::span<const float> values, Time now) {
  const auto planes = session_.rule().needs().planes;
  parameters_ = train::Parameters(values.size(), planes);
  const std::vector<train::Blocks> zero(planes,
                                        train::blocks_of(std::vector<float>(values.size())));
  parameters_.load(train::blocks_of(values), zero, 0);
  session_.training().initialised(unit, now);
}

// At once and for nothing, where in a job others measure it meanwhile: what is learnt is the same.
Result<bool> Hub::raises_loss(const train::Session::Claim& claim, const train::Update& update,
                              const Measure& measure) {
  auto* scores = session_.scores();
  if (scores == nullptr ||
      !scores->choose(claim.worker, training().workers().at(claim.worker).streak, random_))
    return false;
  const auto now = take();
  const auto shards = training().plan().validation.size();
  const auto shard = static_cast<std::int32_t>(random_.below(shards));
  train::Score score{.worker = claim.worker, .steps = claim.evidence.steps};
  SOUK_ASSIGN(score.before, measure(now, shard));
  SOUK_ASSIGN(score.after, measure(train::with_update(now, update, sends()), shard));
  const bool refused = !scores->judge(score).empty();
  scores->note(score, refused);
  return refused;
}

Result<Hub::Judgement> Hub::contribute(SentUpdate sent, Time now, const Measure& measure) {
  const auto* unit = training().find(sent.worker, sent.unit);
  if (unit == nullptr) return Judgement{Verdict::late, {}};
  SOUK_ASSIGN(auto update, train::Update::read(std::move(sent.body), codec(), parameters_.size()));
  const auto stats = train::stats_of(update);
  const train::Session::Claim claim{
      .worker = sent.worker,
      .unit = *unit,
      .base = sent.base,
      .samples = sent.samples,
      .evidence = {stats, unit->steps, sent.loss, train::direction_of(update), sent.worker}};
  if (const auto refusal = session_.judge(claim, parameters_.version(), now))
    return Judgement{refusal->by.empty() ? Verdict::late : Verdict::rejected,
                     std::string(refusal->by)};
  if (session_.rule().needs().base) update.base = std::move(sent.base_blocks);
  update.norm = stats.norm;
  update.weight = static_cast<double>(sent.samples);
  update.epoch = claim.unit.epoch;
  update.at_work = claim.unit.at_work;
  SOUK_ASSIGN(const auto raises, raises_loss(claim, update, measure));
  if (raises) {
    session_.refuse(claim.unit.id, "it raises the loss", now);
    return Judgement{Verdict::rejected, std::string(train::kScore)};
  }
  waiting_.push_back({sent.base, std::move(update)});
  session_.accept(claim, now);
  if (session_.to_fold(waiting_.size()) > 0) fold(now);
  return Judgement{};
}

void Hub::fold(Time now) {
  std::vector<train::Update> updates;
  for (auto& w : waiting_) {
    w.update.staleness = parameters_.version() - w.base;
    updates.push_back(std::move(w.update));
  }
  waiting_.clear();
  session_.rule().fold(parameters_, updates);
  session_.training().folded();
  if (session_.training().begin_check(parameters_.version(), now))
    kept_[parameters_.version()] = take();
}

void Hub::evaluated(std::int64_t worker, std::int64_t unit, const Learner::Evaluated& found,
                    Time now) {
  if (training().find(worker, unit) == nullptr) return;
  session_.training().evaluated(unit, {found.samples, found.loss, {{"accuracy", found.accuracy}}},
                                now);
  const auto wanted = training().kept();
  std::erase_if(kept_, [&](const auto& k) { return !wanted.contains(k.first); });
}

void Hub::stop(std::string reason) {
  kept_[parameters_.version()] = take();
  session_.training().finish(std::move(reason), parameters_.version());
}

std::string Hub::hash() const {
  std::string bytes;
  for (const auto& block : kept(training().state().final_version).blocks)
    bytes.append(reinterpret_cast<const char*>(block->data()), block->size() * sizeof(float));
  return base::to_string(base::blake2b(bytes));
}

struct Machine {
  double speed = 1;
  bool adversary = false;
  bool up = true;
  std::int64_t life = 0;  // Events of a life before this one are nobody's.
  std::int64_t has = -1;  // The version it holds.
  std::vector<float> residual;
  train::Unit unit;
  train::ParameterSnapshot base;  // What the unit begins from.
  Time asked;
  Time computes_from;
  Duration computed;  // Since it asked.
  Hub::SentUpdate sent;
};

// asks for a unit; has computed it; its answer has arrived; dies; is back. In `kill` no machine is
// named yet.
enum class Happening { ask, computed, arrived, vanish, back, kill };

struct Event {
  Time at;
  std::int64_t machine = 0;
  std::int64_t serial = 0;
  Happening what = Happening::ask;
  std::int64_t life = 0;
  auto operator<=>(const Event&) const = default;
};

class Simulation {
 public:
  Simulation(const SimConfig& config, Learner& learner, Hub& hub)
      : config_(config),
        fleet_(config.fleet),
        learner_(learner),
        hub_(hub),
        random_(static_cast<std::uint64_t>(config.plan.seed) * 0x9e3779b97f4a7c15ULL) {
    const auto count = static_cast<std::size_t>(config.rule.workers);
    const auto adversaries = [&](std::size_t machines) {
      return std::floor(static_cast<double>(machines) * fleet_.adversaries + 1e-9);
    };
    for (std::size_t i = 0; i < count; ++i)
      machines_.push_back({.speed = fleet_.speeds[i % fleet_.speeds.size()],
                           .adversary = adversaries(i + 1) > adversaries(i)});
  }

  Result<SimResult> run(const std::function<void(double)>& progress);

 private:
  void after(Duration d, std::int64_t machine, Happening what) {
    const auto life = machine < 0 ? 0 : machines_[static_cast<std::size_t>(machine)].life;
    events_.insert({now_ + d, machine, ++serial_, what, life});
  }
  Result<> happen(const Event& event);
  Result<> ask(std::int64_t id);
  Result<> computed(std::int64_t id);
  Result<> arrived(std::int64_t id);
  void vanish(std::int64_t id);
  void kill();
  void attack(Machine& m, std::vector<float>& values);
  void note_target();
  [[nodiscard]] Duration work_time(const Machine& m) const;
  [[nodiscard]] static Duration transfer(std::int64_t bytes, double mbit) {
    return mbit <= 0 ? Duration() : Duration(std::llround(static_cast<double>(bytes) * 8 / mbit));
  }

  const SimConfig& config_;
  const Fleet& fleet_;
  Learner& learner_;
  Hub& hub_;
  base::Random random_;
  std::vector<Machine> machines_;
  std::set<Event> events_;
  Time now_;
  std::int64_t serial_ = 0;
  SimResult out_;
};

Duration Simulation::work_time(const Machine& m) const {
  const auto step = fleet_.step.seconds() / m.speed;
  double steps = static_cast<double>(m.unit.steps);
  if (m.unit.kind == UnitKind::evaluate)
    steps = kCheckShare *
            static_cast<double>(config_.plan.validation[static_cast<std::size_t>(m.unit.shard)]) /
            config_.plan.batch;
  return m.unit.kind == UnitKind::init ? Duration() : Duration(std::llround(steps * step * 1e6));
}

Result<> Simulation::ask(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  hub_.time_spent(id, m.computed, now_ - m.asked - m.computed);
  m.asked = now_;
  m.computed = {};
  m.unit = hub_.next(id, now_);
  if (m.unit.kind == UnitKind::finish) return {};
  if (m.unit.kind == UnitKind::wait) {
    after(m.unit.wait + fleet_.round_trip, id, Happening::ask);
    return {};
  }
  auto begins_after = fleet_.round_trip;
  if (m.unit.kind != UnitKind::init) {
    const bool check = m.unit.kind == UnitKind::evaluate;
    m.base = check ? hub_.kept(m.unit.version) : hub_.take();
    const auto bytes = std::ssize(train::pack_changed(m.base, check ? -1 : m.has));
    m.has = check ? -1 : m.base.version;
    out_.bytes_down += bytes;
    begins_after = begins_after + transfer(bytes, fleet_.down_mbit);
  }
  m.computes_from = now_ + begins_after;
  const auto ready = begins_after + work_time(m);
  after(ready, id, Happening::computed);
  // Drawn for every unit, so that runs with other chances meet the same dice.
  const auto chance = random_.unit(), where = random_.unit();
  if (chance < fleet_.preempt)
    after(Duration(std::llround(where * static_cast<double>(ready.us))), id, Happening::vanish);
  return {};
}

void Simulation::attack(Machine& m, std::vector<float>& values) {
  std::vector<float> base(values.size());
  if (hub_.sends() == Sends::weights) train::copy_out(m.base.blocks, base);
  double norm = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    norm += std::pow(static_cast<double>(values[i] - base[i]), 2);
  const auto reach = static_cast<float>(std::sqrt(3 * norm / static_cast<double>(values.size())));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto change = values[i] - base[i];
    switch (fleet_.attack) {
      case Attack::sign_flip:
        values[i] = base[i] - change;
        break;
      case Attack::nan:
        values[i] = std::numeric_limits<float>::quiet_NaN();
        break;
      case Attack::free_rider:
        values[i] = base[i];
        break;
      case Attack::random:
        values[i] = base[i] + reach * static_cast<float>(2 * random_.unit() - 1);
        break;
    }
  }
}

Result<> Simulation::computed(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  m.sent = {.worker = id, .unit = m.unit.id, .base = m.base.version};
  if (m.unit.kind == UnitKind::train) {
    m.computed = now_ - m.computes_from;
    out_.computed += m.computed.seconds();
    std::vector<float> base(m.base.size());
    train::copy_out(m.base.blocks, base);
    SOUK_ASSIGN(auto trained, learner_.train(base, m.unit, hub_.sends(), hub_.state_scale(),
                                             config_.keep ? fmt::format("{}/{}", id, m.life) : ""));
    if (m.adversary) attack(m, trained.values);
    if (hub_.codec().keeps_residual()) m.residual.resize(trained.values.size());
    m.sent.body = train::pack(trained.values, hub_.codec(), m.residual);
    m.sent.samples = trained.samples;
    m.sent.loss = trained.loss;
    m.sent.base_blocks = m.base.blocks;
  }
  const auto bytes = std::ssize(m.sent.body);
  out_.bytes_up += bytes;
  after(fleet_.round_trip + transfer(bytes, fleet_.up_mbit), id, Happening::arrived);
  return {};
}

Result<> Simulation::arrived(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  if (m.unit.kind == UnitKind::init) {
    SOUK_ASSIGN(const auto values, learner_.init(m.unit.seed));
    if (hub_.training().find(id, m.unit.id) != nullptr) hub_.begin(m.unit.id, values, now_);
  } else if (m.unit.kind == UnitKind::evaluate) {
    std::vector<float> values(m.base.size());
    train::copy_out(m.base.blocks, values);
    SOUK_ASSIGN(const auto found, learner_.evaluate(values, m.unit.shard));
    hub_.evaluated(id, m.unit.id, found, now_);
    note_target();
  } else {
    const auto measure = [&](const train::ParameterSnapshot& p,
                             std::int32_t shard) -> Result<double> {
      std::vector<float> values(p.size());
      train::copy_out(p.blocks, values);
      SOUK_ASSIGN(const auto found, learner_.evaluate(values, shard));
      return found.loss;
    };
    SOUK_ASSIGN(const auto judged, hub_.contribute(std::move(m.sent), now_, measure));
    const auto verdict = judged.verdict;
    using enum Hub::Verdict;
    if (verdict == late) ++out_.late;
    if (verdict == rejected) ++(m.adversary ? out_.rejected_adversary : out_.rejected_honest);
    if (verdict == rejected && !m.adversary) ++out_.honest_rejected_by[judged.by];
    if (verdict == accepted) {
      ++out_.accepted;
      if (m.adversary)
        ++out_.accepted_adversary;
      else
        out_.useful += work_time(m).seconds();
    }
  }
  m.unit = {};
  return ask(id);
}

void Simulation::vanish(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  if (m.unit.kind == UnitKind::train) {
    ++out_.lost;
    // Unless it was sending already, or still fetching.
    const auto spent = std::clamp(now_ - m.computes_from, Duration(), work_time(m));
    if (m.sent.unit != m.unit.id) out_.computed += spent.seconds();
  }
  ++m.life;
  m.up = false;
  m.has = -1;
  m.residual.clear();
  m.unit = {};
  after(fleet_.away, id, Happening::back);
}

void Simulation::kill() {
  std::vector<std::int64_t> up;
  for (std::size_t i = 0; i < machines_.size(); ++i)
    if (machines_[i].up) up.push_back(static_cast<std::int64_t>(i));
  if (!up.empty()) vanish(up[random_.below(up.size())]);
  after(fleet_.kill_every, -1, Happening::kill);
}

// A check's time is that of its version, not of its answer.
void Simulation::note_target() {
  if (!config_.target || out_.seconds_to_target) return;
  for (const auto& row : hub_.training().state().rows)
    if (row.accuracy >= *config_.target) {
      out_.seconds_to_target = row.at.seconds();
      return;
    }
}

Result<> Simulation::happen(const Event& event) {
  if (event.what == Happening::kill) return kill(), Result<>();
  auto& m = machines_[static_cast<std::size_t>(event.machine)];
  if (event.life != m.life) return {};
  switch (event.what) {
    case Happening::ask:
      return ask(event.machine);
    case Happening::computed:
      return computed(event.machine);
    case Happening::arrived:
      return arrived(event.machine);
    case Happening::vanish:
      return vanish(event.machine), Result<>();
    case Happening::back:
      m.up = true;
      return ask(event.machine);
    case Happening::kill:
      break;
  }
  return {};
}

Result<SimResult> Simulation::run(const std::function<void(double)>& progress) {
  for (std::size_t i = 0; i < machines_.size(); ++i)
    after(Duration(), static_cast<std::int64_t>(i), Happening::ask);
  if (fleet_.kill_every > Duration()) after(fleet_.kill_every, -1, Happening::kill);
  const auto& state = hub_.training().state();
  std::int64_t planned = 0;
  for (const auto samples : config_.plan.shards)
    planned += (samples + config_.plan.batch - 1) / config_.plan.batch * config_.plan.epochs;
  while (!state.finished) {
    CHECK(!events_.empty());
    const auto event = *events_.begin();
    events_.erase(events_.begin());
    now_ = event.at;
    SOUK_TRY(happen(event));
    progress(hub_.training().progress());
    if (static_cast<double>(state.useful_steps + state.wasted_steps) >
        kMostWork * static_cast<double>(planned) + 1000)
      hub_.stop("it got nowhere");
  }
  out_.rule = config_.rule.name;
  out_.reason = state.reason;
  for (const auto& r : state.rows)
    out_.rows.push_back(
        {r.epoch, r.at.seconds(), r.samples, r.loss, r.accuracy, r.mean(), r.low, r.high});
  if (!out_.rows.empty()) {
    out_.accuracy = out_.rows.back().accuracy;
    out_.seconds = out_.rows.back().seconds;
  }
  out_.samples = state.samples;
  out_.goodput = out_.computed > 0 ? out_.useful / out_.computed : 0;
  out_.hash = hub_.hash();
  return std::move(out_);
}

Result<> check(const SimConfig& config) {
  const auto refuse = [](std::string message, std::string hint, std::string field) {
    return fail(Code::invalid, std::move(message), std::move(hint), std::move(field));
  };
  const auto& f = config.fleet;
  const auto bad = [](double share) { return !(share >= 0 && share < 1); };
  if (config.rule.workers < 1 || static_cast<std::size_t>(config.rule.workers) > kMostMachines)
    return refuse(fmt::format("workers is {}", config.rule.workers),
                  fmt::format("write a whole number from 1 to {}", kMostMachines), "workers");
  if (f.speeds.empty() || std::ranges::any_of(f.speeds, [](double s) { return !(s > 0); }))
    return refuse("a machine's speed is not above 0", "write 1 for the usual", "speeds");
  if (bad(f.preempt))
    return refuse(fmt::format("preempt is {}", f.preempt), "write a chance below 1", "preempt");
  if (bad(f.adversaries))
    return refuse(fmt::format("adversaries is {}", f.adversaries), "write a share below 1",
                  "adversaries");
  if (f.step <= Duration())
    return refuse("a step takes no time", "write a duration above 0", "step");
  return {};
}

}  // namespace

Result<SimResult> simulate(const SimConfig& config, Learner& learner,
                           const std::function<void(double)>& progress) {
  SOUK_TRY(check(config));
  SOUK_ASSIGN(auto session, train::Session::make({.plan = config.plan,
                                                  .rule = config.rule,
                                                  .codec = config.codec,
                                                  .validators = config.validators}));
  Hub hub(std::move(session));
  return Simulation(config, learner, hub).run(progress);
}

}  // namespace souk::lab
