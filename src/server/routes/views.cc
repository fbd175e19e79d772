#include "server/routes/views.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "job/packages.h"
#include "server/routes/treatment.h"
#include "wire/json.h"

namespace souk::server {
namespace {

using base::Credits;
using base::Duration;
using market::State;

std::optional<std::string> unless_empty(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
template <class I>
std::optional<I> unless_none(I id) {
  return id ? std::optional(id) : std::nullopt;
}

std::vector<std::string> names(const State& s, const std::vector<base::AccountId>& ids) {
  std::vector<std::string> out;
  for (const auto id : ids) out.push_back(account_name(s, id));
  return out;
}

wire::Constraints view(const State& s, const market::Constraints& c) {
  wire::Constraints out{.packages = c.packages,
                        .regions = c.regions,
                        .lenders_allowed = names(s, c.lenders_allowed),
                        .lenders_refused = names(s, c.lenders_refused),
                        .providers_allowed = c.providers_allowed,
                        .providers_refused = c.providers_refused};
  if (c.max_rtt_ms > 0) out.max_rtt_ms = c.max_rtt_ms;
  if (c.min_reliability_ppm > 0) out.min_reliability = share(c.min_reliability_ppm);
  return out;
}

template <class To, class From>
auto environments_as(const std::vector<From>& environments) {
  decltype(To::environments) out;
  for (const auto& e : environments) out.push_back({e.name, e.packages});
  return out;
}

// The two specs have the same fields; this goes either way.
template <class To, class From>
To spec_as(const From& v) {
  return {.cores = v.cores,
          .memory_mib = v.memory_mib,
          .disk_mib = v.disk_mib,
          .gpus = v.gpus,
          .gpu_memory_mib = v.gpu_memory_mib,
          .gpu = v.gpu,
          .cpu = v.cpu,
          .os = v.os,
          .region = v.region,
          .provider = v.provider,
          .packages = v.packages,
          .rtt_ms = v.rtt_ms,
          .environments = environments_as<To>(v.environments)};
}

wire::PriceSummary view(const market::PriceSummary& p) {
  return {p.volume, p.average, p.low, p.quartile1, p.median, p.quartile3, p.high};
}

}  // namespace

std::string account_name(const State& s, base::AccountId id) {
  if (id == ledger::kPlatform) return "platform";
  const auto* account = s.accounts.find(id);
  return account == nullptr ? to_string(id) : account->name;
}

base::Result<market::ClassId> class_named(const State& s, std::string_view name) {
  if (const auto* c = s.find_class(name)) return c->id;
  std::vector<std::string_view> names;
  for (const auto& c : s.classes) names.push_back(c.name);
  return base::fail(base::Code::invalid,
                    fmt::format("'{}' is not a slot class", name.substr(0, 40)),
                    base::suggest(name, names), "class");
}

wire::Account view(const State& s, const market::Account& a) {
  const auto& b = s.ledger.balance(a.id);
  return {.id = a.id,
          .name = a.name,
          .operator_ = a.is_operator,
          .frozen = unless_empty(a.frozen),
          .available = b.available,
          .bonus = b.bonus,
          .escrow = b.escrow,
          .created = a.created};
}

wire::CreditRequest view(const State& s, base::AccountId account, const market::CreditRequest& r) {
  wire::CreditRequest out{.account = account_name(s, account),
                          .amount = r.amount,
                          .why = r.why,
                          .at = r.at,
                          .answered = unless_zero(r.answered)};
  if (r.open()) return out;
  if (r.granted > Credits()) out.granted = r.granted;
  out.word = r.word;
  return out;
}

wire::Balance balance_view(const State& s, base::AccountId id) {
  const auto& b = s.ledger.balance(id);
  return {unless_none(id), account_name(s, id), b.available, b.bonus, b.escrow};
}

wire::Token view(const market::Token& t) {
  const auto if_limited = [&](base::Credits amount) {
    return t.limit ? std::optional(amount) : std::nullopt;
  };
  return {.id = t.id,
          .scope = t.scope,
          .machine = unless_none(t.machine),
          .label = t.label,
          .created = t.created,
          .expires = unless_never(t.expires),
          .limit = t.limit,
          .spent = if_limited(t.spent),
          .reserved = if_limited(t.used - t.spent)};
}

wire::SlotClass view(const State& s, const market::SlotClass& c, Time now) {
  const auto& index = s.index.classes[c.id.value - 1];
  return {.name = c.name,
          .cores = c.cores,
          .memory_mib = c.memory_mib,
          .gpus = c.gpus,
          .gpu_memory_mib = c.gpu_memory_mib,
          .price = c.price,
          .suggested = s.suggested(c.id, now, now),
          .mechanism = c.mechanism,
          .params = c.params,
          .retired = c.retired,
          .leased = index.leased,
          .wanted = index.wanted,
          .trial = c.trial ? std::optional(
                                 wire::Trial{c.trial->mechanism, c.trial->params, c.trial->slice})
                           : std::nullopt,
          .in_force = c.mechanism_at(now),
          .offered = slots_on_offer(s, c.id)};
}

std::int64_t slots_on_offer(const State& s, market::ClassId id) {
  const auto& index = s.index.classes[id.value - 1];
  auto out = index.leased;
  for (const auto& row : index.supply)
    if (row.usable) out += std::max(0, row.free);
  return out;
}

std::vector<const market::SlotClass*> classes_by_supply(const State& s) {
  struct Row {
    const market::SlotClass* slot_class;
    std::int64_t offered;
  };
  std::vector<Row> rows;
  for (const auto& c : s.classes) rows.push_back({&c, slots_on_offer(s, c.id)});
  std::ranges::sort(rows, {}, [](const Row& row) {
    return std::tuple(row.slot_class->retired, -row.offered, row.slot_class->id);
  });
  std::vector<const market::SlotClass*> out;
  for (const auto& row : rows) out.push_back(row.slot_class);
  return out;
}

wire::MechanismRecords records_view(const State& s, const market::SlotClass& c, Time now) {
  const auto part = [](std::int64_t n, std::int64_t of) {
    return of > 0 ? std::optional(static_cast<double>(n) / static_cast<double>(of)) : std::nullopt;
  };
  wire::MechanismRecords out{.class_ = c.name};
  for (const auto& [name, t] : s.tallies[c.id.value - 1].of)
    out.items.push_back(
        {.mechanism = name,
         .in_force = name == c.mechanism_at(now),
         .rounds = t.rounds,
         .traded = t.traded,
         .efficiency = part(t.gain, t.best),
         .price = t.traded > 0 ? std::optional(Credits(t.pays / t.traded)) : std::nullopt,
         .borrowers_pay = Credits(t.pays),
         .lenders_get = Credits(t.gets),
         .platform = Credits(t.pays - t.gets),
         .served = part(t.traded, t.demand),
         .utilisation = part(t.leased + t.traded, t.leased + t.supply),
         .wait_p50 = t.wait(0.5),
         .wait_p95 = t.wait(0.95),
         .borrowers_share = part(t.limits - t.measured_pays, t.gain),
         .lenders_share = part(t.gain - t.limits + t.measured_gets, t.gain),
         .platform_share = part(t.measured_pays - t.measured_gets, t.gain),
         .alpha = t.alpha(),
         .volatility = t.volatility()});
  out.treatment = treatment_of(s, c.id, now);
  return out;
}

wire::Machine view(const State& s, const market::Machine& m) {
  return {.id = m.id,
          .name = m.name,
          .owner = account_name(s, m.owner),
          .spec = spec_as<wire::MachineSpec>(m.spec),
          .reliability = share(m.reliability_ppm),
          .online = m.online,
          .offers = s.index.offers_of[m.id.value],
          .created = m.created,
          .doubted = unless_empty(m.doubted),
          .leases = m.leases,
          .core_speed = market::core_speed(m)};
}

wire::Lease view(const State& s, const market::Lease& l) {
  wire::Lease out{.id = l.id,
                  .job = l.job,
                  .offer = l.offer,
                  .machine = l.machine,
                  .borrower = account_name(s, l.borrower),
                  .lender = account_name(s, l.lender),
                  .class_ = s.slot_class(l.slot_class).name,
                  .slots = l.slots,
                  .epoch = l.epoch,
                  .state = l.state,
                  .detail = unless_empty(l.detail),
                  .price = l.term.pays,
                  .from = l.term.from,
                  .until = l.term.until,
                  .granted = l.granted,
                  .started = unless_zero(l.started),
                  .settled_until = unless_zero(l.settled_until),
                  .paid = l.paid,
                  .earned = l.earned,
                  .ended = unless_zero(l.ended)};
  if (l.outcome != market::LeaseOutcome::none) out.outcome = l.outcome;
  if (l.next) {
    out.next_price = l.next->pays;
    out.next_until = l.next->until;
  }
  if (const auto* job = s.jobs.find(l.job); job != nullptr && !job->work.empty()) out.part = l.part;
  out.ready = unless_zero(l.ready);
  if (l.requests > 0) out.requests = l.requests;
  return out;
}

namespace {

// Of parts that are done to those that are not: the more are done, the narrower.
std::optional<wire::JobQuote> estimate_of(const market::Job& j, const wire::JobActual& actual) {
  const auto parts = j.terms.workers.max;
  if (actual.over || j.work.empty() || market::paid_by_work(j) || j.done == 0 || j.done >= parts)
    return std::nullopt;
  const auto all = static_cast<double>(parts) / j.done;
  const auto off = 1 + 1.3 / std::sqrt(static_cast<double>(j.done));
  const auto time = actual.time.seconds() * all;
  const auto cost = base::in_credits(actual.cost) * all;
  const auto least = [&](double so_far, double expected) {
    return std::max(so_far, expected / off);
  };
  return wire::JobQuote{.workers = std::max(1, j.held),
                        .time = base::as_duration(time),
                        .time_low = base::as_duration(least(actual.time.seconds(), time)),
                        .time_high = base::as_duration(time * off),
                        .cost = base::as_credits(cost),
                        .cost_low = base::as_credits(least(base::in_credits(actual.cost), cost)),
                        .cost_high = base::as_credits(cost * off),
                        .method = wire::QuoteMethod::parts,
                        .runs = j.done};
}

// What was quoted, what it came to and what is owed.
void add_money(const State& s, const market::Job& j, Time now, wire::Job& out) {
  const auto accrued = market::accrued(s, j, now);
  if (accrued > Credits()) out.accrued = accrued;
  if (!j.forecast.empty())
    if (const auto forecast = wire::from_json<wire::JobForecast>(j.forecast)) {
      out.forecast = *forecast;
      out.quoted = forecast->quote();
    }
  if (j.started == Time()) return;
  const bool over = j.ended != Time();
  out.actual = {(over ? j.ended : now) - j.started, j.spent + accrued, over};
  out.estimate = estimate_of(j, *out.actual);
}

}  // namespace

wire::Job view(const State& s, const market::Job& j, Time now) {
  const auto* hold = s.ledger.hold(market::hold_of(j.id));
  wire::Job out{.id = j.id,
                .name = j.name,
                .kind = j.kind,
                .owner = account_name(s, j.owner),
                .class_ = s.slot_class(j.slot_class).name,
                .workers = {j.terms.workers.min, j.terms.workers.max},
                .limit = j.terms.limit,
                .budget = j.terms.budget,
                .spent = j.spent,
                .escrow = hold == nullptr ? Credits() : hold->left,
                .deadline = unless_never(j.terms.deadline),
                .priority = j.terms.priority,
                .constraints = view(s, j.terms.constraints),
                .state = j.state,
                .reason = j.reason,
                .held = j.held,
                .done = j.done,
                .low = j.warned,
                .created = j.created,
                .started = unless_zero(j.started),
                .ended = unless_zero(j.ended)};
  if (!j.result.empty()) out.result = j.result;
  if (j.sweep) out.sweep = j.sweep;
  for (const auto id : j.trials) {
    out.escrow += s.ledger.hold(market::hold_of(id))->left;
    out.held += s.jobs.at(id).held;
  }
  if (j.planned > 0) {
    out.planned = market::aimed_workers(j);
    out.planned_why = j.planned_why;
  }
  if (!j.also.empty()) {
    out.classes.emplace({out.class_});
    for (const auto other : j.also) out.classes->push_back(s.slot_class(other).name);
  }
  if (market::is_probe(j)) {
    out.expect = j.expect;
    out.wrong = static_cast<std::int32_t>(std::ranges::count_if(
        j.parts, [&](const auto& part) { return part.done && part.result != j.expect; }));
  }
  if (market::is_gang(j)) out.gang = {j.gang.phase, j.gang.restarts};
  if (j.per_request > Credits()) out.per_request = j.per_request;
  if (!j.volumes.empty()) out.volumes = j.volumes;
  if (!j.moves.empty()) {
    out.moves.emplace();
    for (const auto& m : j.moves)
      out.moves->push_back({m.at, s.slot_class(m.from).name, s.slot_class(m.to).name, m.why});
  }
  add_money(s, j, now, out);
  Credits per_hour;
  for (const auto id : j.leases) {
    const auto& l = s.leases.at(id);
    out.leases.push_back(view(s, l));
    per_hour += base::cost(l.term.pays, l.slots, base::hours(1));
  }
  if (per_hour > Credits()) out.runway = base::affordable(per_hour, 1, out.escrow);
  return out;
}

wire::Settings view(const market::Settings& v) {
  return {.fee = share(v.fee_ppm),
          .signup_bonus = v.signup_bonus,
          .signup_open = v.signup_open,
          .term = v.term,
          .shortest_term = v.shortest_term,
          .drain = v.drain,
          .settle_every = v.settle_every,
          .silence = v.silence,
          .setup = v.setup,
          .low_escrow = v.low_escrow,
          .history = v.history,
          .retention = v.retention,
          .pickup = v.pickup,
          .probes = share(v.probes_ppm)};
}

wire::AuditEntry view(const State& s, const market::AuditEntry& e) {
  return {e.at, account_name(s, e.who), e.action, e.subject, e.detail};
}

wire::Feedback view(const State& s, const market::Feedback& f) {
  return {f.id, account_name(s, f.account), f.category, f.text, f.at};
}

wire::StatementLine view(const market::StatementLine& l) {
  return {l.at, l.kind, l.amount, unless_none(l.job), unless_none(l.lease), l.memo};
}

wire::Why why_view(const State& s, const market::Job& j, Time now,
                   std::span<const base::MachineId> unheard) {
  const auto why = market::why(s, j, now, unheard);
  wire::Why out{.job = j.id,
                .state = j.state,
                .summary = why.summary,
                .needed = why.needed,
                .matching = why.matching};
  for (const auto& g : why.groups)
    out.groups.push_back({g.obstacles, g.offers, g.slots, g.example});
  for (const auto& r : why.relaxations)
    out.relaxations.push_back({r.kind, r.change, r.slots, r.extra, r.flag});
  for (const auto& n : why.nearly)
    out.nearly.push_back({n.offer, n.machine, n.environment, n.lacks});
  for (const auto id : why.unproved) {
    const auto& machine = s.machines.at(s.offers.at(id).machine);
    out.unproved.push_back({id, machine.id, machine.name, {}});
  }
  return out;
}

wire::Ledger ledger_view(const State& s, base::AccountId who, bool all) {
  wire::Ledger out;
  wire::Balance others{.name = "everyone else"};
  s.accounts.for_each([&](const market::Account& a) {
    auto row = balance_view(s, a.id);
    if (all || a.id == who) {
      out.accounts.push_back(std::move(row));
    } else {
      others.available += row.available;
      others.bonus += row.bonus;
      others.escrow += row.escrow;
    }
  });
  if (!all) out.accounts.push_back(others);
  out.accounts.push_back(balance_view(s, ledger::kPlatform));
  out.accounts.push_back({.name = "mint", .available = -s.ledger.minted()});
  for (const auto& b : out.accounts) out.sum += b.available + b.bonus + b.escrow;
  return out;
}

wire::Prices prices_view(const State& s, const market::SlotClass& c, Time now, Duration history,
                         Duration bucket) {
  const auto& prices = s.prices[c.id.value - 1];
  const auto floor = [](Time t, Duration d) { return Time(t.us - t.us % d.us); };
  wire::Prices out{.class_ = c.name,
                   .mechanism = c.mechanism,
                   .suggested = s.suggested(c.id, now, now),
                   .last = prices.last(),
                   .summary = view(prices.summary(now - history, now + Duration(1)))};
  std::int64_t leased = 0, all = 0;
  const auto& hours = prices.hours();
  for (std::size_t i = 0; i < hours.size(); ++i) {
    const Time at(hours[i].hour * base::hours(1).us);
    if (at + base::hours(1) <= now - history) continue;
    const auto from = floor(at, bucket);
    if (out.buckets.empty() || out.buckets.back().from != from) {
      out.buckets.push_back({.from = from, .prices = view(prices.summary(from, from + bucket))});
      leased = all = 0;
    }
    leased += hours[i].leased;
    all += hours[i].leased + hours[i].supply;
    if (all > 0)
      out.buckets.back().utilisation = static_cast<double>(leased) / static_cast<double>(all);
  }
  for (int h = 0; h < 24; ++h) {
    const auto from = floor(now, base::hours(1)) + base::hours(h);
    out.ahead.push_back({from, s.suggested(c.id, now, from)});
  }
  return out;
}

market::MachineSpec spec_from(const wire::MachineSpec& v) {
  return spec_as<market::MachineSpec>(v);
}

}  // namespace souk::server
