#include "market/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace souk::market {
namespace {

struct Candidate {
  const Offer* offer;
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

Candidate examine(const State& s, const Job& job, const Demands& demands, const Offer& o,
                  Time now) {
  Candidate c{&o, {}, o.terms.slots - o.leased, now};
  const auto& machine = s.machines.at(o.machine);
  if (o.terms.reserve.value_or(Credits()) > job.terms.limit) c.obstacles.push_back(Obstacle::price);
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
  if (!machine.online) c.obstacles.push_back(Obstacle::offline);
  if (!s.accounts.at(o.owner).frozen.empty()) c.obstacles.push_back(Obstacle::frozen);
  for (const auto obstacle : unmet(demands, machine)) c.obstacles.push_back(obstacle);
  for (const auto& a : job.avoided)
    if (a.machine == o.machine && a.until > now) c.ready = std::max(c.ready, a.until);
  return c;
}

bool covers(const SlotClass& big, const SlotClass& small) {
  return big.cores >= small.cores && big.memory_mib >= small.memory_mib && big.gpus >= small.gpus &&
         big.gpu_memory_mib >= small.gpu_memory_mib;
}

// All that is needed to look for relaxations.
struct Search {
  const State& s;
  const Job& job;
  Time now;
  Demands demands;
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
        by_price[std::max(c.offer->terms.reserve.value_or(Credits()), job.terms.limit)] += c.slots;
    std::int64_t slots = 0;
    for (const auto& [reserve, n] : by_price) {
      if ((slots += n) < out.needed) continue;
      if (reserve <= job.terms.limit) return;
      out.relaxations.push_back({RelaxKind::price,
                                 fmt::format("raise the limit price to {}", to_string(reserve)),
                                 slots, Credits((reserve - job.terms.limit).micro * out.needed),
                                 fmt::format("--limit {}", to_string(reserve))});
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

  void constraints() {
    const auto& c = job.terms.constraints;
    constraint(Obstacle::packages, RelaxKind::packages, "packages",
               "packages " + base::join(c.packages, ", "));
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
      std::map<Credits, std::int64_t> by_price;
      for (const auto& row : s.index.classes[other.id.value - 1].supply) {
        if (!row.offer) continue;
        const auto c = examine(s, job, demands, s.offers.at(row.offer), now);
        if (c.obstacles.empty()) by_price[row.reserve] += c.slots;
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

std::string summarise(const Why& w, const Job& job) {
  if (is_final(job.state))
    return fmt::format("it has ended: {} ({})", to_string(job.state), job.reason);
  if (job.state == JobState::paused) return "it is paused: " + job.reason;
  if (wanted_workers(job) == 0) return "it has all the workers it wants";
  const auto needs = fmt::format("it needs {} slot{}", w.needed, w.needed == 1 ? "" : "s");
  if (w.matching >= w.needed)
    return needs +
           fmt::format(" and {} match: the next round decides, or others bid more", w.matching);
  return needs +
         fmt::format(" and {} match", w.matching == 0 ? "none" : std::to_string(w.matching));
}

}  // namespace

Why why(const State& s, const Job& job, Time now) {
  Why out;
  out.needed = least_workers(job);
  Search search{s, job, now, demands_of(job, now), {}, out};
  std::map<std::vector<Obstacle>, Excluded> groups;
  for (const auto& row : s.index.classes[job.slot_class.value - 1].supply) {
    if (!row.offer) continue;
    auto c = examine(s, job, search.demands, s.offers.at(row.offer), now);
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
  out.summary = summarise(out, job);
  if (is_final(job.state) || (job.state != JobState::paused && wanted_workers(job) == 0))
    return out;
  search.budget();
  if (out.matching < out.needed) {
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
