#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <numeric>

#include "cli/bench/rows.h"
#include "cli/bench/sim.h"
#include "cli/shell/human.h"
#include "cli/shell/progress.h"

// Time to accuracy (B4) and behaviour among adversaries (B6), simulated: train_sim.h says what is
// real about it.

namespace souk::cli {
namespace {

constexpr std::string_view kDefault = train::kDefaultAggregator, kOld = "vc-asgd";
constexpr double kAdversaries = 0.2;
constexpr std::int32_t kAmongAdversaries = 10;  // Machines: two of them are hostile.
// Of the rate that is given. Machines that each begin without momentum bear a greater one than one
// machine does; the baseline is what that machine reaches at its own best.
constexpr std::array kSerialRates{1.0, 0.4, 0.1};
constexpr double kBenchParts = 1000;  // Of a simulation, in the progress bar.

struct Tta : SimFlags {
  bool full = false;
  std::string cifar;
  std::int32_t seeds = 1;
  Names rules;
  bool no_adversaries = false;
};

// One aggregator under one kind of trouble, over the seeds.
struct Case {
  std::string rule;
  std::int32_t workers = 1;
  base::Duration kill_every = {};
  double adversaries = 0;
  lab::Attack attack = lab::Attack::sign_flip;
  auto operator<=>(const Case&) const = default;
};

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class Get>
std::vector<double> each(const std::vector<lab::SimResult>& results, Get get) {
  std::vector<double> out;
  for (const auto& r : results) out.push_back(get(r));
  return out;
}

std::string trouble(const Case& k) {
  if (k.adversaries > 0) {
    std::string kind(to_string(k.attack));
    std::ranges::replace(kind, '_', '-');
    return fmt::format("{:.0f}% {}", k.adversaries * 100, kind);
  }
  return k.kill_every.us == 0 ? "no deaths" : fmt::format("a death every {}", rough(k.kill_every));
}

class Bench {
 public:
  Bench(Context& c, const Tta& flags, TorchLearner& learner)
      : c_(c), flags_(flags), learner_(learner) {}

  Result<std::vector<BenchRow>> run();

 private:
  [[nodiscard]] std::vector<std::string> rules() const;
  [[nodiscard]] std::vector<Case> deaths() const;
  [[nodiscard]] std::vector<Case> attacks() const;
  Result<> measure(const Case& k, Progress& bar);
  void rows_of(const Case& k);
  void rows_of_attack(const Case& k);
  void row(std::string bench, const Case& k, std::string what, std::string unit,
           std::optional<double> result, std::optional<double> baseline,
           std::optional<double> ratio) {
    rows_.push_back({.bench = std::move(bench),
                     .name = fmt::format("{}, {}", k.rule, trouble(k)),
                     .what = std::move(what),
                     .unit = std::move(unit),
                     .result = result,
                     .baseline = baseline,
                     .ratio = ratio});
  }

  Context& c_;
  const Tta& flags_;
  TorchLearner& learner_;
  double serial_ = 0;
  std::map<Case, std::vector<lab::SimResult>> results_;
  std::vector<BenchRow> rows_;
};

std::vector<std::string> Bench::rules() const {
  if (!flags_.rules.items.empty()) return flags_.rules.items;
  if (!flags_.full) return {std::string(kDefault), "fedavg", "fedbuff", "downpour"};
  std::vector<std::string> out;
  for (const auto& rule : train::aggregators())
    if (rule.name != kOld) out.emplace_back(rule.name);
  return out;
}

// VC-ASGD comes first under each trouble: where it ends is the others' target.
std::vector<Case> Bench::deaths() const {
  std::vector<base::Duration> kills{flags_.kill_every};
  if (flags_.full) kills = {{}, base::seconds(30), base::seconds(10), base::seconds(3)};
  std::vector<Case> out;
  for (const auto kill : kills) {
    out.push_back({std::string(kOld), flags_.workers, kill});
    for (const auto& rule : rules()) out.push_back({rule, flags_.workers, kill});
  }
  return out;
}

// Each aggregator without an attack first: that is what it is compared with.
std::vector<Case> Bench::attacks() const {
  if (flags_.no_adversaries) return {};
  std::vector<std::string> judged{std::string(kDefault), "trimmed-mean"};
  if (flags_.full)
    judged = {std::string(kDefault), "norm-clip", "centered-clip",
              "trimmed-mean",        "krum",      std::string(kOld)};
  std::vector<Case> out;
  using enum lab::Attack;
  for (const auto& rule : judged) {
    out.push_back({rule, kAmongAdversaries});
    for (const auto attack : {sign_flip, nan, free_rider, random})
      if (flags_.full || attack != random)
        out.push_back({rule, kAmongAdversaries, {}, kAdversaries, attack});
  }
  return out;
}

Result<> Bench::measure(const Case& k, Progress& bar) {
  if (results_.contains(k)) return {};
  SOUK_ASSIGN(auto config, sim_config(flags_, learner_));
  SOUK_ASSIGN(config.rule, parse_rule(k.rule));
  config.rule.workers = k.workers;
  config.fleet.kill_every = k.kill_every;
  config.fleet.adversaries = k.adversaries;
  config.fleet.attack = k.attack;
  bar.say(fmt::format("{}, {}", k.rule, trouble(k)));
  auto& results = results_[k];
  const auto old = results_.find({std::string(kOld), k.workers, k.kill_every});
  for (std::int32_t i = 0; i < flags_.seeds; ++i) {
    config.plan.seed = flags_.seed + i;
    config.target = flags_.target;
    if (!flags_.target && old != results_.end() && std::ssize(old->second) > i)
      config.target = old->second[static_cast<std::size_t>(i)].accuracy;
    const auto before =
        static_cast<double>(results_.size() - 1) + static_cast<double>(i) / flags_.seeds;
    const auto report = [&](double done) {
      bar.update(static_cast<std::uint64_t>((before + done / flags_.seeds) * kBenchParts));
    };
    SOUK_ASSIGN(auto result, lab::simulate(config, learner_, report));
    if (k.rule == kOld && k.adversaries == 0 && !config.target) {
      // Once more, to see when it first was where it ends: the others are timed so, too.
      config.target = result.accuracy;
      SOUK_ASSIGN(result, lab::simulate(config, learner_, report));
    }
    results.push_back(std::move(result));
  }
  return {};
}

void Bench::rows_of(const Case& k) {
  const auto& own = results_.at(k);
  const auto& old = results_.at({std::string(kOld), k.workers, k.kill_every});
  const auto accuracy = mean(each(own, [](const auto& r) { return r.accuracy; }));
  row("B4", k, "accuracy, against serial", "", accuracy, serial_, accuracy / serial_);
  const auto reach = [](const lab::SimResult& r) { return r.seconds_to_target.value_or(-1); };
  const auto time = each(own, reach), old_time = each(old, reach);
  const auto reached = [](const std::vector<double>& t) { return std::ranges::min(t) >= 0; };
  const auto some = [&](const std::vector<double>& t) {
    return reached(t) ? std::optional(mean(t)) : std::nullopt;
  };
  row("B4", k, "time to target, against vc-asgd", "s", some(time), some(old_time),
      reached(time) && reached(old_time) ? std::optional(mean(old_time) / mean(time))
                                         : std::nullopt);
  const auto goodput = mean(each(own, [](const auto& r) { return r.goodput; }));
  row("B4", k, "goodput", "", goodput, 1, goodput);
  const auto sent = [](const lab::SimResult& r) {
    return static_cast<double>(r.bytes_up + r.bytes_down) / 1e6;
  };
  const auto bytes = mean(each(own, sent)), old_bytes = mean(each(old, sent));
  row("B4", k, "traffic, against vc-asgd", "MB", bytes, old_bytes, old_bytes / bytes);
}

void Bench::rows_of_attack(const Case& k) {
  const auto& own = results_.at(k);
  const auto accuracy = mean(each(own, [](const auto& r) { return r.accuracy; }));
  const auto calm =
      mean(each(results_.at({k.rule, k.workers}), [](const auto& r) { return r.accuracy; }));
  row("B6", k, "accuracy, against none", "", accuracy, calm, accuracy / calm);
  const auto kept = mean(each(own, [](const auto& r) {
    const auto honest = static_cast<double>(r.accepted - r.accepted_adversary);
    return honest / (honest + static_cast<double>(r.rejected_honest));
  }));
  row("B6", k, "honest updates accepted", "", kept, 1, kept);
}

Result<std::vector<BenchRow>> Bench::run() {
  const auto dying = deaths(), attacked = attacks();
  Progress bar("training serially", "parts",
               static_cast<std::uint64_t>(kBenchParts) * (dying.size() + attacked.size()),
               c_.err());
  for (const auto share : kSerialRates) {
    std::vector<double> ends;
    for (std::int32_t i = 0; i < flags_.seeds; ++i) {
      bar.update(0);
      SOUK_ASSIGN(const auto epochs,
                  learner_.serial(flags_.epochs, flags_.lr * share, flags_.seed + i));
      ends.push_back(epochs.back());
    }
    serial_ = std::max(serial_, mean(ends));
  }
  for (const auto& k : dying) SOUK_TRY(measure(k, bar));
  for (const auto& k : attacked) SOUK_TRY(measure(k, bar));
  for (const auto& k : dying) rows_of(k);
  for (const auto& k : attacked)
    if (k.adversaries > 0) rows_of_attack(k);
  return std::move(rows_);
}

}  // namespace

Command bench_tta_command() {
  auto o = std::make_shared<Tta>();
  o->workers = 6;
  o->up = 5;
  o->down = 20;
  o->kill_every = base::seconds(10);
  o->lesson.samples = 12'000;
  o->lesson.checked = 2'000;
  o->epochs = 5;
  o->local_steps = 8;
  Command out{.name = "tta",
              .summary = "time to accuracy of the aggregators, with deaths and adversaries",
              .examples = {"bench tta", "bench tta --rules mean,diloco --seeds 3",
                           "bench tta --full --json"},
              .common = Common::local};
  out.options = {flag("--full", "all aggregators, five seeds, four rates of deaths", o->full),
                 flag("--cifar FOLDER", "ResNet-20 on the CIFAR-10 files there", o->cifar),
                 flag("--seeds N", "default 1", o->seeds),
                 flag("--rules LIST", "beside vc-asgd", o->rules),
                 flag("--no-adversaries", "B4 alone", o->no_adversaries)};
  for (auto& option : sim_options(*o))
    if (option.name != "--adversaries") out.options.push_back(std::move(option));
  out.details =
      "LeNet learns 12,000 digits in 5 epochs and units of 8 steps, unless flags say otherwise. "
      "The fleet is six machines of speeds 1, 1/2 and 1/4 on links of 20/5 Mbit/s, one of which "
      "dies every 10 s; for adversaries ten machines, two of them hostile. Time is virtual. "
      "Accuracy is compared with `souk-torch bare` at as many samples and the best of three rates; "
      "the target, unless given, is where VC-ASGD ends.";
  out.run = [o](Context& c) -> Result<> {
    if (o->full && o->seeds == 1) o->seeds = 5;
    if (o->speeds.items.empty()) o->speeds.items = {"1", "0.5", "0.25"};
    if (!o->cifar.empty()) o->lesson.model = "resnet20", o->lesson.data = o->cifar;
    SOUK_ASSIGN(const auto learner, TorchLearner::start(c, o->lesson));
    SOUK_ASSIGN(const auto rows, Bench(c, *o, *learner).run());
    return show_bench(c, rows);
  };
  return out;
}

}  // namespace souk::cli
