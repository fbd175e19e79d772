#include "server/routes/offer_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "job/packages.h"
#include "server/routes/views.h"

namespace souk::server {
namespace {

using market::State;

base::Result<std::vector<market::WeeklyWindow>> windows(const std::vector<std::string>& texts) {
  std::vector<market::WeeklyWindow> out;
  for (const auto& text : texts) {
    SOUK_ASSIGN(auto w, market::parse_weekly(text));
    out.push_back(std::move(w));
  }
  return out;
}

std::optional<market::Interval> interval(std::optional<base::Time> from,
                                         std::optional<base::Time> until) {
  if (!from && !until) return std::nullopt;
  return market::Interval{from.value_or(base::Time()), until.value_or(base::kNever)};
}

wire::OfferState offer_state(const State& s, const market::Offer& o, bool is_open, Time now) {
  using enum wire::OfferState;
  const auto& machine = s.machines.at(o.machine);
  if (!s.accounts.at(o.owner).frozen.empty()) return frozen;
  if (o.draining) return draining;
  if (o.paused_until > now) return paused;
  if (!machine.online) return offline;
  if (!machine.doubted.empty()) return doubted;
  if (!is_open) return closed;
  return o.leased < o.terms.slots ? open : full;
}

constexpr std::size_t kPackagesShown = 40;

// What people look for on a machine. In a list that is cut, and is sorted by name, they would
// hardly ever see it.
constexpr std::array<std::string_view, 9> kSoughtPackages = {
    "torch",        "numpy",  "tensorflow", "jax", "transformers",
    "scikit-learn", "pandas", "scipy",      "cupy"};

bool is_sought(std::string_view package) {
  const auto name = package.substr(0, package.find('='));
  return name.starts_with('@') || std::ranges::find(kSoughtPackages, name) != kSoughtPackages.end();
}

double gib(std::int64_t mib) { return static_cast<double>(mib) / 1024; }

// What is on the machine, and how fast a slot of it is.
void describe_machine(wire::Offer& out, const market::Machine& machine,
                      const market::SlotClass& slot_class) {
  const auto& spec = machine.spec;
  out.leases = machine.leases;
  out.cores = spec.cores;
  out.memory = gib(spec.memory_mib);
  out.gpus = spec.gpus;
  out.gpu = spec.gpu;
  out.vram = gib(spec.gpu_memory_mib);
  // What a lender put into an environment is more to the point than what a system comes with.
  std::set<std::string_view> known;
  const auto add = [&](const std::vector<std::string>& packages) {
    for (const auto& package : packages)
      if (known.insert(package).second) out.packages.push_back(package);
  };
  for (const auto& e : spec.environments) add(e.packages);
  if (spec.environments.empty())
    out.packages = spec.packages;
  else
    add(spec.packages);
  out.package_count = static_cast<std::int32_t>(out.packages.size());
  const auto core = market::core_speed(machine);
  if (!core) return;
  out.speed = *core * slot_class.cores;
  out.per_speed = base::Credits(std::llround(static_cast<double>(out.asks.micro) / *out.speed));
}

}  // namespace

base::Credits SuggestedPrices::of(market::ClassId slot_class) {
  const auto [it, fresh] = known_.try_emplace(slot_class);
  if (fresh) it->second = state_.suggested(slot_class, now_, now_);
  return it->second;
}

base::Result<market::OfferTerms> terms_from(const wire::NewOffer& body) {
  market::OfferTerms terms{.slots = body.slots, .reserve = body.price};
  SOUK_ASSIGN(terms.availability.weekly, windows(body.weekly));
  terms.availability.once = interval(body.from, body.until);
  if (body.longest_lease) terms.longest_lease = *body.longest_lease;
  return terms;
}

base::Result<> change(market::OfferTerms& terms, const wire::OfferEdit& body) {
  if (body.market && body.price)
    return base::fail(base::Code::invalid, "an offer has a price or takes the market's, not both",
                      "send price or market", "market");
  if (body.slots) terms.slots = *body.slots;
  if (body.price) terms.reserve = body.price;
  if (body.market) terms.reserve.reset();
  if (body.always) terms.availability = {};
  if (body.weekly) {
    SOUK_ASSIGN(terms.availability.weekly, windows(*body.weekly));
  }
  if (body.from || body.until) {
    const auto old = terms.availability.once.value_or(market::Interval{});
    terms.availability.once =
        market::Interval{body.from.value_or(old.from), body.until.value_or(old.until)};
  }
  if (body.longest_lease) terms.longest_lease = *body.longest_lease;
  return {};
}

wire::Offer view(const State& s, const market::Offer& o, Time now) {
  SuggestedPrices suggested(s, now);
  return view(s, o, now, suggested);
}

wire::Offer shortened(wire::Offer offer) {
  const auto all = std::exchange(offer.packages, {});
  for (const bool sought : {true, false})
    for (const auto& package : all)
      if (is_sought(package) == sought && offer.packages.size() < kPackagesShown)
        offer.packages.push_back(package);
  return offer;
}

LeftOutCount::LeftOutCount(const wire::Query& query)
    : conditions_(query.kind == wire::Query::Kind::all ? query.children
                                                       : std::vector<wire::Query>{query}) {
  for (const auto& condition : conditions_) result_.push_back({.condition = to_string(condition)});
}

bool LeftOutCount::look(const wire::Offer& offer) {
  std::vector<wire::LeftOut*> unmet;
  for (std::size_t i = 0; i < conditions_.size(); ++i)
    if (!wire::matches(conditions_[i], offer)) unmet.push_back(&result_[i]);
  for (auto* condition : unmet) ++condition->offers;
  if (unmet.size() == 1) ++unmet.front()->only;
  return unmet.empty();
}

wire::Offer view(const State& s, const market::Offer& o, Time now, SuggestedPrices& suggested) {
  const auto& machine = s.machines.at(o.machine);
  const auto open = market::opening(o.terms.availability, now);
  const bool is_open = open && open->contains(now);
  wire::Offer out{.id = o.id,
                  .machine = o.machine,
                  .machine_name = machine.name,
                  .lender = account_name(s, o.owner),
                  .class_ = s.slot_class(o.slot_class).name,
                  .slots = o.terms.slots,
                  .free = std::max(0, o.terms.slots - o.leased),
                  .price = o.terms.reserve,
                  .longest_lease = o.terms.longest_lease,
                  .reliability = share(machine.reliability_ppm),
                  .region = machine.spec.region,
                  .provider = machine.spec.provider,
                  .rtt_ms = machine.spec.rtt_ms,
                  .created = o.created,
                  .sandboxed = std::ranges::find(machine.spec.packages, job::kUnsandboxed) ==
                               machine.spec.packages.end()};
  for (const auto& w : o.terms.availability.weekly) out.weekly.push_back(to_string(w));
  if (const auto& once = o.terms.availability.once) {
    out.from = unless_zero(once->from);
    out.until = unless_never(once->until);
  }
  if (is_open) out.closes = unless_never(open->until);
  if (open && !is_open) out.opens = open->from;
  if (o.paused_until > now) out.paused_until = unless_never(o.paused_until);
  out.state = offer_state(s, o, is_open, now);
  out.asks = o.terms.reserve ? *o.terms.reserve : suggested.of(o.slot_class);
  describe_machine(out, machine, s.slot_class(o.slot_class));
  return out;
}

}  // namespace souk::server
