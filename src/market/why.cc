#include "market/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/packages.h"
#include "base/text.h"
#include "market/classes.h"
#include "market/decide/decider.h"
#include "market/decide/larger_class.h"
#include "mechanism/mechanism.h"

namespace souk::market {
namespace {

struct Candidate {
  const Offer* offer;
  Credits ask;
  std::vector<Obstacle> obstacles;
  std::int64_t slots;  // Free ones, or all when `full` is what is wrong.
  Time ready;          // When window, full or paused end; kNever if unknown.
};

// When the offer's leased slots are free again at the latest.
Time leases_end(const State& s, const Offer& offer) {
  Time end;
  for (const auto id : s.index.leases_of[offer.machine.value])
    if (const auto& l = s.leases.at(id); l.offer == offer.id) end = std::max(end, l.term.until);
  return end;
}

// Who asks, and when.
struct Question {
  const State& s;
  const Job& job;
  Time now;
  Demands demands;
  std::span<const MachineId> unheard;
  Credits at_market;  // What offers without a reserve ask for.
};

Candidate examine(const Question& q, const Offer& o) {
  const auto& [s, job, now, demands, unheard, at_market] = q;
  Candidate c{&o, o.terms.reserve.value_or(at_market), {}, o.terms.slots - o.leased, now};
  const auto& machine = s.machines.at(o.machine);
  if (c.ask > job.terms.limit) c.obstacles.push_back(Obstacle::price);
  if (const auto open = opening(o.terms.availability, now); !open || !open->contains(now)) {
    c.obstacles.push_back(Obstacle::window);
    c.ready = open ? open->from : base::kNever;
  }
  if (c.slots <= 0) {
    c.obstacles.push_back(Obstacle::full);
    c.slots = o.terms.slots;
    c.ready = std::max(c.ready, leases_end(s, o));
  }
  if (o.paused_until > now) {
    c.obstacles.push_back(Obstacle::paused);
    c.ready = std::max(c.ready, o.paused_until);
  }
  if (o.draining) c.obstacles.push_back(Obstacle::draining);
  if (!machine.online || std::ranges::binary_search(unheard, machine.id))
    c.obstacles.push_back(Obstacle::offline);
  if (!machine.doubted.empty()) c.obstacles.push_back(Obstacle::unproved);
  if (!s.accounts.at(o.owner).frozen.empty()) c.obstacles.push_back(Obstacle::frozen);
  for (const auto obstacle : unmet(demands, machine)) c.obstacles.push_back(obstacle);
  for (const auto& a : job.avoided)
    if (a.machine == o.machine && a.until > now) c.ready = std::max(c.ready, a.until);
  return c;
}

// All that is needed to look for relaxations.
struct Search : Question {
  std::vector<Candidate> candidates;
  Why& out;

  // Slots of candidates whose every obstacle is one that `ignored` accepts.
  template <class Ignored>
  std::int64_t slots_if(Ignored&& ignored) const {
    std::int64_t sum = 0;
    for (const auto& c : candidates)
      if (std::ranges::all_of(c.obstacles, ignored)) sum += c.slots;
    return sum;
  }

  void price() {
    std::map<Credits, std::int64_t> by_price;
    for (const auto& c : candidates)
      if (std::ranges::all_of(c.obstacles, [](Obstacle o) { return o == Obstacle::price; }))
        by_price[std::max(c.ask, job.terms.limit)] += c.slots;
    std::int64_t slots = 0;
    for (const auto& [reserve, n] : by_price) {
      if ((slots += n) < out.needed) continue;
      if (reserve <= job.terms.limit) return;
      out.relaxations.push_back({RelaxKind::price,
                                 fmt::format("raise the limit price to {}", to_string(reserve)),
                                 slots, Credits((reserve - job.terms.limit).micro * out.needed),
                                 fmt::format("--price {}", to_string(reserve))});
      return;
    }
  }

  void workers() {
    if (out.matching == 0 || out.matching >= out.needed) return;
    const auto least = out.matching + job.done;
    out.relaxations.push_back(
        {RelaxKind::workers,
         fmt::format("start with {} workers instead of {}", least, job.terms.workers.min),
         out.matching,
         {},
         fmt::format("--workers {}..{}", least, job.terms.workers.max)});
  }

  void constraint(Obstacle obstacle, RelaxKind kind, std::string_view flag, std::string what) {
    const auto slots = slots_if([&](Obstacle o) { return o == obstacle; });
    if (slots < out.needed || slots == out.matching) return;
    out.relaxations.push_back(
        {kind, "drop the demand for " + std::move(what), slots, {}, fmt::format("--{} any", flag)});
  }

  // Slots of candidates that fit, and of those that only lack packages and whose machine will do.
  template <class WillDo>
  std::int64_t slots_without_packages(WillDo&& will_do) const {
    std::int64_t sum = 0;
    for (const auto& c : candidates)
      if (c.obstacles.empty() || (c.obstacles == std::vector{Obstacle::packages} &&
                                  will_do(s.machines.at(c.offer->machine).spec)))
        sum += c.slots;
    return sum;
  }

  // Packages can come with the job, so a demand for them is worth more than a place without them.
  // False: too few machines would take them.
  bool environment() {
    const auto& demands = job.terms.constraints.packages;
    const auto slots = slots_without_packages(
        [&](const MachineSpec& spec) { return takes_environments(spec, demands); });
    if (slots < out.needed || slots == out.matching) return false;
    std::vector<std::string> packages;
    for (const auto& demand : demands)
      if (!base::is_feature(demand) && base::package_name(demand) != "python")
        packages.push_back(demand);
    if (packages.empty()) return false;
    out.relaxations.push_back({RelaxKind::environment,
                               fmt::format("bring the packages with the job: environment: "
                                           "{{requirements: ['{}']}} in its file, instead of "
                                           "packages:",
                                           base::join(packages, "', '")),
                               slots,
                               {},
                               ""});
    return true;
  }

  // A name with @ stays: it is most often what the work itself cannot run without.
  void packages() {
    const auto& demands = job.terms.constraints.packages;
    std::vector<std::string> features, others;
    for (const auto& demand : demands)
      (base::is_feature(demand) ? features : others).push_back(demand);
    if (others.empty() || environment()) return;
    const auto slots =
        slots_without_packages([&](const MachineSpec& spec) { return has_all(spec, features); });
    if (slots < out.needed || slots == out.matching) return;
    out.relaxations.push_back({RelaxKind::packages,
                               "drop the demand for packages " + base::join(others, ", "),
                               slots,
                               {},
                               features.empty()
                                   ? "--packages any"
                                   : fmt::format("--packages '{}'", base::join(features, ","))});
  }

  // The offers that lack fewest of the packages.
  void nearly() {
    constexpr std::size_t most = 5;
    const auto& demands = job.terms.constraints.packages;
    for (const auto& c : candidates) {
      if (std::ranges::find(c.obstacles, Obstacle::packages) == c.obstacles.end()) continue;
      const auto& machine = s.machines.at(c.offer->machine);
      auto near = nearest(machine.spec, demands);
      near.offer = c.offer->id;
      near.machine = machine.name;
      out.nearly.push_back(std::move(near));
    }
    std::ranges::sort(out.nearly, {}, [](const NearMachine& near) {
      return std::pair(near.distance(), near.offer);
    });
    if (out.nearly.size() > most) out.nearly.resize(most);
  }

  void constraints() {
    const auto& c = job.terms.constraints;
    packages();
    constraint(Obstacle::region, RelaxKind::region, "regions",
               "regions " + base::join(c.regions, ", "));
    constraint(Obstacle::rtt, RelaxKind::rtt, "max-rtt",
               fmt::format("a round trip of {} ms", c.max_rtt_ms));
    constraint(Obstacle::reliability, RelaxKind::reliability, "min-reliability",
               fmt::format("a reliability of {}", c.min_reliability_ppm / 1e6));
    constraint(Obstacle::lender, RelaxKind::lender, "lenders", "certain lenders");
    constraint(Obstacle::provider, RelaxKind::provider, "providers", "certain providers");
  }

  void wait() {
    std::map<Time, std::int64_t> by_time;
    const auto passes = [](Obstacle o) {
      return o == Obstacle::window || o == Obstacle::full || o == Obstacle::paused ||
             o == Obstacle::avoided;
    };
    for (const auto& c : candidates)
      if (c.ready < base::kNever && std::ranges::all_of(c.obstacles, passes))
        by_time[c.ready] += c.slots;
    std::int64_t slots = 0;
    for (const auto& [time, n] : by_time) {
      if ((slots += n) < out.needed) continue;
      if (time <= now || time >= job.terms.deadline) return;
      out.relaxations.push_back(
          {RelaxKind::wait, "wait until " + base::to_string(time), slots, {}, ""});
      return;
    }
  }

  void other_classes() {
    const auto& mine = s.slot_class(job.slot_class);
    const auto usual = s.suggested(job.slot_class, now, now);
    for (const auto& other : s.classes) {
      if (other.id == mine.id || other.retired || !covers(other, mine)) continue;
      Question there = *this;
      there.at_market = market_ask(s, other, now);
      std::map<Credits, std::int64_t> by_price;
      for (const auto& row : s.index.classes[other.id.value - 1].supply) {
        if (!row.offer) continue;
        const auto c = examine(there, s.offers.at(row.offer));
        if (c.obstacles.empty()) by_price[c.ask] += c.slots;
      }
      std::int64_t slots = 0;
      for (const auto& [reserve, n] : by_price) {
        if ((slots += n) < out.needed) continue;
        const auto extra = std::max(Credits(), reserve - usual);
        out.relaxations.push_back({RelaxKind::slot_class, "take class " + other.name, slots,
                                   Credits(extra.micro * out.needed), "--class " + other.name});
        break;
      }
    }
  }

  void budget() {
    const auto least =
        least_budget(job.terms.limit, static_cast<std::int32_t>(out.needed), s.settings);
    const auto missing = least - s.free_budget(job);
    if (missing <= Credits()) return;
    const auto enough = job.terms.budget + missing;
    out.relaxations.push_back(
        {RelaxKind::budget, fmt::format("raise the budget to at least {}", to_string(enough)),
         out.matching, missing, fmt::format("--budget {}", to_string(enough))});
  }
};

// Of the packages that it demands those that no machine has; all, where each is somewhere.
std::vector<std::string> packages_of_none(const Search& search) {
  const auto& all = search.job.terms.constraints.packages;
  std::vector<std::string> out;
  for (const auto& demand : all)
    if (std::ranges::none_of(search.candidates, [&](const Candidate& c) {
          return has_all(search.s.machines.at(c.offer->machine).spec, {demand});
        }))
      out.push_back(demand);
  return out.empty() ? all : out;
}

// The demand that no offer meets, in words; empty where each demand is met by some.
std::string unmet_by_all(const Search& search) {
  if (search.candidates.empty()) return "";
  const auto& c = search.job.terms.constraints;
  const auto by_all = [&](Obstacle obstacle) {
    return std::ranges::all_of(search.candidates, [&](const Candidate& offer) {
      return std::ranges::find(offer.obstacles, obstacle) != offer.obstacles.end();
    });
  };
  if (by_all(Obstacle::packages)) return base::in_words(packages_of_none(search));
  const std::pair<Obstacle, std::string> demands[] = {
      {Obstacle::region, "regions " + base::join(c.regions, ", ")},
      {Obstacle::rtt, fmt::format("a round trip of {} ms", c.max_rtt_ms)},
      {Obstacle::reliability, fmt::format("a reliability of {}", c.min_reliability_ppm / 1e6)},
      {Obstacle::lender, "certain lenders"},
      {Obstacle::provider, "certain providers"}};
  for (const auto& [obstacle, words] : demands)
    if (by_all(obstacle)) return words;
  return "";
}

bool all_offline(const Search& search) {
  return !search.candidates.empty() &&
         std::ranges::all_of(search.candidates, [](const Candidate& c) {
           return std::ranges::find(c.obstacles, Obstacle::offline) != c.obstacles.end();
         });
}

bool lacks_only_a_proof(const Candidate& c) {
  return c.obstacles == std::vector{Obstacle::unproved};
}

// Jobs that bid in one book with this one, itself included; at most `most` are counted.
std::int64_t bids_beside(const Search& search, std::int64_t most) {
  constexpr int looked_at = 10'000;  // The rest would not change much.
  std::int64_t bids = 0;
  int looked = 0;
  const auto& s = search.s;
  for (const auto& [priority, id] : s.index.classes[search.job.slot_class.value - 1].wanting) {
    if (bids >= most || looked++ == looked_at) break;
    bids += demands_of(s.jobs.at(id), search.now) == search.demands;
  }
  return bids;
}

// What the mechanism in force lacks to trade at all, or nothing.
std::string mechanism_lacks(const Search& search) {
  const auto& slot_class = search.s.slot_class(search.job.slot_class);
  const auto name = slot_class.mechanism_at(search.now);
  const auto info = mechanism::find(name);
  if (!info) return "";  // A program.
  const auto& least = (*info)->least;
  if (least.met(1, 1)) return "";
  const auto bids = bids_beside(search, least.together);
  const auto asks = std::ranges::count_if(search.candidates,
                                          [](const Candidate& c) { return c.obstacles.empty(); });
  if (least.met(bids, asks)) return "";
  const auto count = [](std::int64_t n, std::string_view noun) {
    return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
  };
  const auto needs = least.bids + least.asks < least.together
                         ? count(least.together, "bid") + " and asks together"
                         : count(least.bids, "bid") + " and " + count(least.asks, "ask");
  auto out =
      fmt::format("mechanism {} trades nothing with fewer than {}, and there {} {} and {}", name,
                  needs, bids == 1 ? "is" : "are", count(bids, "bid"), count(asks, "ask"));
  if (!slot_class.trial) return out;
  const auto slice = slot_class.trial->slice.us;
  const Time next((search.now.us / slice + 1) * slice);
  return out + fmt::format("; {} has its turn at {}", slot_class.mechanism_at(next),
                           base::to_string(next));
}

// "it has succeeded", with the reason where that says more than the state does.
std::string ended_text(const Job& job) {
  const auto state = std::string(to_string(job.state));
  auto out = (job.state == JobState::cancelled ? "it was " : "it has ") + state;
  if (!job.reason.empty() && job.reason != state) out += ": " + job.reason;
  return out;
}

std::string summarise(const Why& w, const Search& search) {
  const auto& job = search.job;
  if (is_final(job.state)) return ended_text(job);
  if (job.state == JobState::paused) return "it is paused: " + job.reason;
  if (is_probe(job) && !job.aimed) return "it is a probe: no machine has been drawn for it yet";
  if (wanted_workers(job) == 0) return "it has all the workers it wants";
  const auto needs = fmt::format("it needs {} slot{}", w.needed, w.needed == 1 ? "" : "s");
  if (w.matching >= w.needed) {
    const auto lacks = mechanism_lacks(search);
    if (!lacks.empty()) return needs + fmt::format(" and {} match, but {}", w.matching, lacks);
    return needs +
           fmt::format(" and {} match: the next round decides, or others bid more", w.matching);
  }
  if (const auto larger = larger_text(search.s, job, search.now, search.unheard); !larger.empty())
    return needs + ": " + larger;
  if (const auto demand = unmet_by_all(search); !demand.empty())
    return needs + " and none match: no offer meets its demand for " + demand;
  if (all_offline(search))
    return needs + fmt::format(" and none match: no machine of class {} is online",
                               search.s.slot_class(job.slot_class).name);
  auto out =
      needs + fmt::format(" and {} match", w.matching == 0 ? "none" : std::to_string(w.matching));
  const auto unproved = std::ranges::count_if(search.candidates, lacks_only_a_proof);
  if (unproved == 0) return out;
  if (unproved == 1) return out + ": a machine that would do is not yet proved";
  return out +
         fmt::format(": the machines of {} offers that would do are not yet proved", unproved);
}

}  // namespace

Why why(const State& s, const Job& job, Time now, std::span<const MachineId> unheard) {
  Why out;
  if (is_sweep(job) && !is_final(job.state)) {
    out.summary = job.trials.empty() ? "it has no trial just now; they begin one after the other"
                                     : "its trials run, or wait, as jobs of their own";
    for (const auto id : job.trials)
      if (s.jobs.at(id).state == JobState::queued)
        out.summary = fmt::format("its trial {0} has no workers yet: souk why {0}", to_string(id));
    if (job.state == JobState::paused) out.summary = job.reason;
    return out;
  }
  out.needed = least_workers(job);
  Search search{{s, job, now, demands_of(job, now), unheard,
                 market_ask(s, s.slot_class(job.slot_class), now)},
                {},
                out};
  std::map<std::vector<Obstacle>, Excluded> groups;
  for (const auto& row : s.index.classes[job.slot_class.value - 1].supply) {
    if (!row.offer) continue;
    auto c = examine(search, s.offers.at(row.offer));
    if (c.obstacles.empty()) {
      out.matching += c.slots;
    } else {
      auto& g = groups[c.obstacles];
      if (g.offers++ == 0) g.example = row.offer;
      g.obstacles = c.obstacles;
      g.slots += c.slots;
    }
    search.candidates.push_back(std::move(c));
  }
  for (auto& [key, group] : groups) out.groups.push_back(std::move(group));
  std::ranges::sort(out.groups, std::greater(),
                    [](const Excluded& g) { return std::pair(g.slots, g.example); });
  out.summary = summarise(out, search);
  if (is_final(job.state) || (job.state != JobState::paused && wanted_workers(job) == 0))
    return out;
  constexpr std::size_t most = 5;
  for (const auto& c : search.candidates)
    if (lacks_only_a_proof(c) && out.unproved.size() < most) out.unproved.push_back(c.offer->id);
  search.budget();
  if (out.matching < out.needed) {
    search.nearly();
    search.price();
    search.workers();
    search.constraints();
    search.wait();
    search.other_classes();
  }
  std::ranges::sort(out.relaxations, {},
                    [](const Relaxation& r) { return std::tuple(r.extra, r.kind, r.change); });
  return out;
}

}  // namespace souk::market
