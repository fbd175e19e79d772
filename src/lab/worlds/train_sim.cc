#include "lab/worlds/train_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/check.h"
#include "base/random.h"
#include "lab/worlds/simulated_hub.h"
#include "train/lanes.h"
#include "train/units/fetch_ahead.h"

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

// A unit and what it begins from.
struct Task {
  train::Unit unit;
  train::ParameterSnapshot base;
  Time began;                   // To be fetched, computed or sent, whichever it is at.
  std::vector<float> own = {};  // Added to the base (train::Needs::own).
};

struct Answer {
  Task task;
  SimulatedHub::SentUpdate sent;
};

bool is_train(const std::optional<Answer>& answer) {
  return answer && answer->task.unit.kind == UnitKind::train && !answer->task.unit.measure;
}

// What an agent's coach does (agent/coach.h): its trainer computes one unit; meanwhile the answer
// to the one before goes up, and then the next comes down, as late as it may.
struct Machine {
  double speed = 1;
  bool adversary = false;
  bool up = true;
  std::int64_t life = 0;                // Events of a life before this one are nobody's.
  std::int64_t has = -1;                // The version it holds.
  std::vector<float> residual, change;  // `change`: its last, in units that it learns from.
  std::optional<Task> computing, fetched;
  std::optional<Answer> done;
  // On its line there is one thing at a time.
  std::optional<Task> fetching;
  std::optional<Answer> sending;
  train::FetchAhead ahead;
  Time ask_at;
  Duration computed, idle;         // Since it asked,
  std::optional<Time> idle_since;  // but for what follows this.
};

// It may be time to ask for a unit; its parameters are here; it is computed; its answer has
// arrived; the machine dies; is back. In `kill` no machine is named yet.
enum class Happening { look, fetched, computed, arrived, vanish, back, kill };

struct Event {
  Time at;
  std::int64_t machine = 0;
  std::int64_t serial = 0;
  Happening what = Happening::look;
  std::int64_t life = 0;
  auto operator<=>(const Event&) const = default;
};

class Simulation {
 public:
  Simulation(const SimConfig& config, Learner& learner, SimulatedHub& hub)
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
  void go_on(std::int64_t id);
  void ask(std::int64_t id);
  void begin(std::int64_t id, Task task);
  void fetched(std::int64_t id);
  Result<> computed(std::int64_t id);
  Result<SimulatedHub::SentUpdate> answer(std::int64_t id, const Task& task);
  void send(std::int64_t id);
  Result<> arrived(std::int64_t id);
  Result<> contribute(Machine& m, Answer answer);
  void vanish(std::int64_t id);
  void kill();
  void attack(const Task& task, std::vector<float>& values);
  void note_target();
  [[nodiscard]] Duration work_time(const Machine& m, const train::Unit& unit) const;
  [[nodiscard]] static Duration transfer(std::int64_t bytes, double mbit) {
    return mbit <= 0 ? Duration() : Duration(std::llround(static_cast<double>(bytes) * 8 / mbit));
  }

  const SimConfig& config_;
  const Fleet& fleet_;
  Learner& learner_;
  SimulatedHub& hub_;
  base::Random random_;
  std::vector<Machine> machines_;
  std::set<Event> events_;
  Time now_;
  std::int64_t serial_ = 0;
  SimResult out_;
};

Duration Simulation::work_time(const Machine& m, const train::Unit& unit) const {
  const auto step = fleet_.step.seconds() / m.speed;
  double steps = static_cast<double>(unit.steps);
  if (unit.measure)
    steps *= kCheckShare;
  else if (unit.kind == UnitKind::evaluate)
    steps = kCheckShare *
            static_cast<double>(config_.plan.validation[static_cast<std::size_t>(unit.shard)]) /
            config_.plan.batch;
  return unit.kind == UnitKind::init ? Duration() : Duration(std::llround(steps * step * 1e6));
}

// Whatever can be done now. An answer goes before a question, so that what is fetched contains it.
void Simulation::go_on(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  if (m.fetched && !m.computing) begin(id, *std::exchange(m.fetched, std::nullopt));
  if (m.fetching || m.sending) return;
  if (m.done) return send(id);
  if (m.fetched || m.ask_at == base::kNever) return;
  if (now_ >= m.ask_at) return ask(id);
  after(m.ask_at - now_, id, Happening::look);
}

void Simulation::ask(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  if (!m.computing) {
    if (m.idle_since) m.idle = m.idle + (now_ - *m.idle_since);
    m.idle_since = now_;
  }
  hub_.time_spent(id, std::exchange(m.computed, {}), std::exchange(m.idle, {}));
  Task task{.unit = hub_.next(id, now_, m.computing ? m.computing->unit.id : 0), .began = now_};
  if (task.unit.kind == UnitKind::finish) return;
  if (task.unit.kind == UnitKind::wait) {
    m.idle_since.reset();  // That is no fault of its line.
    m.ask_at = now_ + task.unit.wait + fleet_.round_trip;
    return go_on(id);
  }
  auto takes = fleet_.round_trip;
  if (task.unit.kind != UnitKind::init) {
    const bool check = task.unit.kind == UnitKind::evaluate;
    task.base = check ? hub_.kept(task.unit.version) : hub_.take();
    const auto bytes = std::ssize(train::pack_changed(task.base, check ? -1 : m.has));
    m.has = check ? -1 : task.base.version;
    out_.bytes_down += bytes;
    takes = takes + transfer(bytes, fleet_.down_mbit);
  }
  // Drawn for every unit, so that runs with other chances meet the same dice.
  const auto chance = random_.unit(), where = random_.unit();
  const auto ready = takes + work_time(m, task.unit);
  m.fetching = std::move(task);
  after(takes, id, Happening::fetched);
  if (chance < fleet_.preempt)
    after(Duration(std::llround(where * static_cast<double>(ready.us))), id, Happening::vanish);
}

void Simulation::fetched(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  m.fetched = std::exchange(m.fetching, std::nullopt);
  if (m.fetched->unit.kind == UnitKind::train) m.ahead.fetched(now_ - m.fetched->began);
  go_on(id);
}

void Simulation::begin(std::int64_t id, Task task) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  if (m.idle_since) m.idle = m.idle + (now_ - *std::exchange(m.idle_since, std::nullopt));
  m.ask_at = config_.in_turn                     ? base::kNever
             : task.unit.kind == UnitKind::train ? m.ahead.ask_at(now_, task.unit.steps)
                                                 : Time();
  task.began = now_;
  if (task.unit.kind == UnitKind::train && !task.unit.measure && config_.keep && hub_.own() > 0 &&
      (is_train(m.done) || is_train(m.sending)))
    task.own = m.change;
  after(work_time(m, task.unit), id, Happening::computed);
  m.computing = std::move(task);
}

void Simulation::attack(const Task& task, std::vector<float>& values) {
  std::vector<float> base(values.size());
  if (hub_.sends() == Sends::weights) train::copy_out(task.base.blocks, base);
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

Result<SimulatedHub::SentUpdate> Simulation::answer(std::int64_t id, const Task& task) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  SimulatedHub::SentUpdate out{.worker = id, .unit = task.unit.id, .base = task.base.version};
  if (task.unit.kind != UnitKind::train && !task.unit.measure) return out;
  std::vector<float> base(task.base.size());
  train::copy_out(task.base.blocks, base);
  if (task.unit.measure) {
    SOUK_ASSIGN(auto measured, learner_.train(base, task.unit, Sends::delta, 1, ""));
    if (m.adversary) attack(task, measured.values);
    const auto fp32 = train::make_codec("fp32");
    out.body = train::pack(measured.values, **fp32, {});
    return out;
  }
  if (!task.own.empty())
    train::add_times(base.data(), task.own.data(), static_cast<float>(hub_.own()), base.size());
  SOUK_ASSIGN(auto trained, learner_.train(base, task.unit, hub_.sends(), hub_.state_scale(),
                                           config_.keep ? fmt::format("{}/{}", id, m.life) : ""));
  m.change = trained.values;
  if (m.adversary) attack(task, trained.values);
  if (hub_.codec().keeps_residual()) m.residual.resize(trained.values.size());
  out.body = train::pack(trained.values, hub_.codec(), m.residual);
  out.samples = trained.samples;
  out.loss = trained.loss;
  out.base_blocks = task.base.blocks;
  return out;
}

Result<> Simulation::computed(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  auto task = *std::exchange(m.computing, std::nullopt);
  SOUK_ASSIGN(auto sent, answer(id, task));
  if (task.unit.kind == UnitKind::train) {
    const auto took = now_ - task.began;
    m.computed = m.computed + took;
    out_.computed += took.seconds();
    m.ahead.computed(task.unit.steps, took);
  }
  m.idle_since = now_;
  m.ask_at = {};
  m.done = {std::move(task), std::move(sent)};
  go_on(id);
  return {};
}

void Simulation::send(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  m.sending = std::exchange(m.done, std::nullopt);
  m.sending->task.began = now_;
  const auto bytes = std::ssize(m.sending->sent.body);
  out_.bytes_up += bytes;
  after(fleet_.round_trip + transfer(bytes, fleet_.up_mbit), id, Happening::arrived);
}

Result<> Simulation::arrived(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  auto answer = *std::exchange(m.sending, std::nullopt);
  const auto& [unit, base, began, own] = answer.task;
  if (unit.kind == UnitKind::init) {
    SOUK_ASSIGN(const auto values, learner_.init(unit.seed));
    if (hub_.training().find(id, unit.id) != nullptr)
      hub_.begin(unit.id, values, learner_.layout(), now_);
  } else if (unit.measure) {
    SOUK_TRY(hub_.state_measured(std::move(answer.sent), now_));
  } else if (unit.kind == UnitKind::evaluate) {
    std::vector<float> values(base.size());
    train::copy_out(base.blocks, values);
    SOUK_ASSIGN(const auto found, learner_.evaluate(values, unit.shard));
    hub_.evaluated(id, unit.id, found, now_);
    note_target();
  } else {
    m.ahead.handed_in(now_ - began);
    SOUK_TRY(contribute(m, std::move(answer)));
  }
  go_on(id);
  return {};
}

Result<> Simulation::contribute(Machine& m, Answer answer) {
  const auto measure = [&](const train::ParameterSnapshot& p,
                           std::int32_t shard) -> Result<double> {
    std::vector<float> values(p.size());
    train::copy_out(p.blocks, values);
    SOUK_ASSIGN(const auto found, learner_.evaluate(values, shard));
    return found.loss;
  };
  SOUK_ASSIGN(const auto judged, hub_.contribute(std::move(answer.sent), now_, measure));
  const auto verdict = judged.verdict;
  using enum SimulatedHub::Verdict;
  if (verdict == late) ++out_.late;
  if (verdict == rejected) ++(m.adversary ? out_.rejected_adversary : out_.rejected_honest);
  if (verdict == rejected && !m.adversary) ++out_.honest_rejected_by[judged.by];
  if (verdict == accepted) {
    ++out_.accepted;
    if (m.adversary)
      ++out_.accepted_adversary;
    else
      out_.useful += work_time(m, answer.task.unit).seconds();
  }
  return {};
}

void Simulation::vanish(std::int64_t id) {
  auto& m = machines_[static_cast<std::size_t>(id)];
  const auto lost = [&](const train::Unit& unit) {
    out_.lost += unit.kind == UnitKind::train ? 1 : 0;
  };
  if (m.computing) {
    lost(m.computing->unit);
    if (m.computing->unit.kind == UnitKind::train)
      out_.computed += (now_ - m.computing->began).seconds();
  }
  if (m.fetched) lost(m.fetched->unit);
  if (m.fetching) lost(m.fetching->unit);
  if (m.done) lost(m.done->task.unit);
  if (m.sending) lost(m.sending->task.unit);
  m = {.speed = m.speed, .adversary = m.adversary, .up = false, .life = m.life + 1};
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
    case Happening::look:
      return go_on(event.machine), Result<>();
    case Happening::fetched:
      return fetched(event.machine), Result<>();
    case Happening::computed:
      return computed(event.machine);
    case Happening::arrived:
      return arrived(event.machine);
    case Happening::vanish:
      return vanish(event.machine), Result<>();
    case Happening::back:
      m.up = true;
      return go_on(event.machine), Result<>();
    case Happening::kill:
      break;
  }
  return {};
}

Result<SimResult> Simulation::run(const std::function<void(double)>& progress) {
  for (std::size_t i = 0; i < machines_.size(); ++i)
    after(Duration(), static_cast<std::int64_t>(i), Happening::look);
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
  SimulatedHub hub(std::move(session), config.average);
  return Simulation(config, learner, hub).run(progress);
}

}  // namespace souk::lab
