#include <algorithm>
#include <boost/json/value.hpp>

#include "lab/files/scenario_keys.h"

namespace souk::lab::keys {

Result<> only(World wanted, World actual, bool given, std::string field) {
  if (!given || actual == wanted) return {};
  return bad(fmt::format("there is no such thing in a {}", to_string(actual)),
             fmt::format("it belongs to `world: {}`", to_string(wanted)), std::move(field));
}

namespace {

constexpr std::int32_t kAgentsMax = 1'000'000;

struct ArrivalKeys {
  Maybe<double> poisson;
  Maybe<Duration> every;
  std::vector<Duration> at;
  SOUK_FIELDS(ArrivalKeys, poisson, every, at)
};

Result<StrategyChoice> strategy(const AnyJson& json) {
  SOUK_ASSIGN(const auto value, wire::parse(json.text));
  StrategyChoice out;
  if (const auto* name = value.if_string()) {
    out.name = std::string(name->data(), name->size());
    return out;
  }
  const auto* object = value.if_object();
  if (object == nullptr || !object->contains("name"))
    return bad("a strategy has a name", "for example {name: shading, by: 0.1}", "strategy");
  for (const auto& member : *object) {
    const std::string key(member.key());
    if (key == "name") {
      SOUK_ASSIGN(out.name, keys_of<std::string>(member.value(), "strategy.name"));
    } else {
      SOUK_ASSIGN(out.params[key],
                  keys_of<double>(member.value(), fmt::format("strategy.{}", key)));
    }
  }
  return out;
}

Result<Arrivals> arrivals(const AnyJson& json) {
  SOUK_ASSIGN(const auto value, wire::parse(json.text));
  if (const auto* word = value.if_string(); word != nullptr && *word == "once") return Arrivals{};
  SOUK_ASSIGN(const auto k, keys_of<ArrivalKeys>(value, "arrivals"));
  const auto given = int{k.poisson.has_value()} + int{k.every.has_value()} + int{!k.at.empty()};
  if (given != 1)
    return bad("arrivals are of one kind",
               "write once, {poisson: 2} (an hour), {every: 30m} or {at: [0s, 1h]}", "arrivals");
  Arrivals out;
  if (k.poisson) {
    out = {.kind = ArrivalKind::poisson, .per_hour = *k.poisson};
    if (!(out.per_hour > 0 && out.per_hour <= 1e6))
      return bad(fmt::format("{} jobs an hour", out.per_hour), "use more than 0",
                 "arrivals.poisson");
  } else if (k.every) {
    out = {.kind = ArrivalKind::every, .every = k.every->seconds()};
    if (out.every < 1)
      return bad("a job more than once a second", "use 1s or more", "arrivals.every");
  } else {
    out.kind = ArrivalKind::at;
    for (const auto t : k.at) out.at.push_back(t.seconds());
  }
  return out;
}

Result<> trace(const PopulationKeys& k, Population& p) {
  if (k.arrivals || k.run_time || k.units)
    return bad("a trace says when jobs come, how long they run and how large they are",
               "leave out arrivals, run_time and units", "trace");
  const auto& t = *k.trace;
  p.arrivals.kind = ArrivalKind::trace;
  p.trace = TraceSource{.format = t.format, .file = t.file};
  if (t.throughputs) p.trace->throughputs = *t.throughputs;
  if (t.worker) p.trace->worker = *t.worker;
  if (t.steps_per_second) p.trace->steps_per_second = *t.steps_per_second;
  if (t.most) p.trace->most = *t.most;
  if (t.speed) p.trace->speed = *t.speed;
  if (t.from) p.trace->from = t.from->seconds();
  if (!(p.trace->speed > 0)) return bad("the speed of a trace is more than 0", "", "trace.speed");
  if (t.format == TraceFormat::gavel && !t.throughputs && !(p.trace->steps_per_second > 0))
    return bad("a gavel trace counts steps, not seconds",
               "add throughputs: FILE or steps_per_second: N", "trace");
  return {};
}

Result<> of_market(const PopulationKeys& k, World world, Population& p) {
  SOUK_TRY(only(World::book, world, k.keep, "keep"));
  const auto borrowers_only = [&](bool given, const char* field) -> Result<> {
    SOUK_TRY(only(World::market, world, given, field));
    if (given && p.lends)
      return bad("lenders have no such thing", "it belongs to borrowers", field);
    return {};
  };
  const auto lenders_only = [&](bool given, const char* field) -> Result<> {
    SOUK_TRY(only(World::market, world, given, field));
    if (given && !p.lends)
      return bad("borrowers have no such thing", "it belongs to lenders", field);
    return {};
  };
  SOUK_TRY(only(World::market, world, k.class_.has_value(), "class"));
  SOUK_TRY(only(World::market, world, k.revise.has_value(), "revise"));
  SOUK_TRY(borrowers_only(k.arrivals.has_value(), "arrivals"));
  SOUK_TRY(borrowers_only(k.run_time.has_value(), "run_time"));
  SOUK_TRY(borrowers_only(k.patience.has_value(), "patience"));
  SOUK_TRY(borrowers_only(k.checkpoint.has_value(), "checkpoint"));
  SOUK_TRY(borrowers_only(k.leaves, "leaves"));
  SOUK_TRY(borrowers_only(k.trace.has_value(), "trace"));
  SOUK_TRY(lenders_only(!k.windows.empty(), "windows"));
  SOUK_TRY(lenders_only(k.churn.has_value(), "churn"));
  SOUK_TRY(lenders_only(k.longest_lease.has_value(), "longest_lease"));
  p.longest_lease = k.longest_lease.value_or(p.longest_lease);
  if (k.gang && p.lends) return bad("lenders have no gangs", "it belongs to borrowers", "gang");
  p.gang = k.gang;
  p.slot_class = k.class_.value_or("c1");
  p.revise = k.revise.value_or(Duration());
  p.patience = k.patience;
  p.leaves = k.leaves;
  p.checkpoint = k.checkpoint.value_or(Duration());
  if (k.run_time) {
    SOUK_ASSIGN(p.run_time, read_distribution(*k.run_time, "run_time", Measure::time));
  }
  if (k.arrivals) {
    SOUK_ASSIGN(p.arrivals, arrivals(*k.arrivals));
  }
  if (k.trace) SOUK_TRY(trace(k, p));
  for (std::size_t i = 0; i < k.windows.size(); ++i) {
    auto window = market::parse_weekly(k.windows[i]);
    if (!window)
      return bad(window.error().message, window.error().hint, fmt::format("windows[{}]", i));
    p.windows.push_back(*window);
  }
  if (k.churn) {
    p.churn.emplace();
    p.churn->notice = k.churn->notice;
    SOUK_ASSIGN(p.churn->up, read_distribution(k.churn->up, "churn.up", Measure::time));
    SOUK_ASSIGN(p.churn->down, read_distribution(k.churn->down, "churn.down", Measure::time));
  }
  return {};
}

}  // namespace

Result<Population> read_population(const PopulationKeys& k, World world, std::string_view side,
                                   std::size_t i) {
  Population p;
  p.lends = side == "lenders";
  p.name = k.name.value_or(i == 0 ? std::string(side) : fmt::format("{}-{}", side, i + 1));
  p.count = k.count.value_or(1);
  if (p.count < 1 || p.count > kAgentsMax)
    return bad(fmt::format("{} agents", p.count), fmt::format("use 1 to {}", kAgentsMax), "count");
  const auto* price = p.lends ? &k.costs : &k.values;
  const std::string_view own = p.lends ? "costs" : "values";
  if ((p.lends ? k.values : k.costs).has_value())
    return bad(fmt::format("{} have {}", side, own), fmt::format("write {}", own),
               p.lends ? "values" : "costs");
  if (!*price) return bad(fmt::format("{} is missing", own), "for example {uniform: [0, 1]}", "");
  SOUK_ASSIGN(p.prices, read_distribution(**price, own, Measure::amount));
  if (p.prices.high() > 1e6)
    return bad("prices above 1000000 credits", "use smaller ones", std::string(own));
  if (k.units) {
    SOUK_ASSIGN(p.units, read_distribution(*k.units, "units", Measure::amount));
  }
  p.keep = k.keep;
  if (k.credits) p.credits = *k.credits;
  if (!(p.credits >= 0 && p.credits <= 1e9))
    return bad("credits out of range", "use 0 to 1000000000", "credits");
  if (k.strategy) {
    SOUK_ASSIGN(p.strategy, strategy(*k.strategy));
  }
  SOUK_ASSIGN(p.strategy, below(check_strategy(p.strategy), "strategy"));
  SOUK_TRY(of_market(k, world, p));
  return p;
}

}  // namespace souk::lab::keys
