#include "market/decide/larger_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/random.h"
#include "market/classes.h"
#include "market/decide/decider.h"
#include "market/decide/meeting.h"
#include "market/decide/round_sides.h"
#include "market/limits.h"

namespace souk::market {
namespace {

constexpr Credits kAnyPrice{std::numeric_limits<std::int64_t>::max()};

// What a class has on offer for jobs of equal demands.
class Shelf {
 public:
  void add(Credits ask, std::int64_t all, std::int64_t free) { rows_.push_back({ask, all, free}); }
  // After the last add().
  void sum_up() {
    std::ranges::sort(rows_, {}, &Row::ask);
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      rows_[i].all += rows_[i - 1].all;
      rows_[i].free += rows_[i - 1].free;
    }
  }
  [[nodiscard]] std::int64_t all(Credits limit) const { return up_to(limit).all; }
  [[nodiscard]] std::int64_t free(Credits limit) const { return up_to(limit).free; }
  // The least limit within which so many are free.
  [[nodiscard]] std::optional<Credits> enough(std::int64_t slots) const {
    const auto at = std::ranges::lower_bound(rows_, slots, {}, &Row::free);
    return at == rows_.end() ? std::nullopt : std::optional(at->ask);
  }

 private:
  struct Row {
    Credits ask;
    std::int64_t all = 0, free = 0;  // With sum_up(), of all rows so far.
  };
  [[nodiscard]] Row up_to(Credits limit) const {
    const auto end = std::ranges::upper_bound(rows_, limit, {}, &Row::ask);
    return end == rows_.begin() ? Row{} : *std::prev(end);
  }
  std::vector<Row> rows_;
};

// All that a class has on offer, whatever is demanded of it; looked at once for all groups.
class Stock {
 public:
  struct Item {
    const SupplyRow* row;
    std::uint32_t kind;
    Credits ask;
    std::int64_t all;
  };
  Stock(const State& s, Time now, std::span<const MachineId> unheard)
      : s_(s), now_(now), unheard_(unheard) {}

  const std::vector<Item>& of(ClassId c) {
    const auto [it, fresh] = known_.try_emplace(c);
    if (fresh) fill(c, it->second);
    return it->second;
  }
  [[nodiscard]] const Kinds& kinds() const { return kinds_; }

 private:
  void fill(ClassId c, std::vector<Item>& items) {
    const auto& supply = s_.index.classes[c.value - 1].supply;
    if (supply.empty()) return;
    const auto at_market = market_ask(s_, s_.slot_class(c), now_);
    for (const auto& row : supply)
      if (is_on_offer(s_, row, now_, unheard_))
        items.push_back({&row, kinds_.number(s_, row),
                         row.reserve == Credits() ? at_market : row.reserve,
                         s_.offers.at(row.offer).terms.slots});
  }

  const State& s_;
  const Time now_;
  const std::span<const MachineId> unheard_;
  Kinds kinds_;
  std::map<ClassId, std::vector<Item>> known_;
};

// The shelves of a group of jobs with equal demands, filled when they are asked for.
class Shelves {
 public:
  Shelves(const Demands& demands, Stock& stock) : stock_(stock), meeting_(demands, stock.kinds()) {}

  const Shelf& of(ClassId c) {
    const auto [it, fresh] = known_.try_emplace(c);
    if (!fresh) return it->second;
    for (const auto& item : stock_.of(c))
      if (meeting_(*item.row, item.kind)) it->second.add(item.ask, item.all, item.row->free);
    it->second.sum_up();
    return it->second;
  }

 private:
  Stock& stock_;
  Meeting meeting_;
  std::map<ClassId, Shelf> known_;
};

struct Group {
  Demands demands;
  ClassId least;
  std::vector<const Job*> jobs;  // In the order of the queue.
};

// Those that wait without machines in this class and may leave it. Only so many distinct demands
// are looked at in one round, drawn by lot.
std::vector<Group> waiting_groups(const State& s, const Clear& round, Time now,
                                  std::span<const JobId> served) {
  std::map<std::pair<ClassId, Demands>, std::size_t> known;
  std::vector<Group> out;
  for (const auto& [priority, id] : s.index.classes[round.slot_class.value - 1].wanting) {
    const auto& job = s.jobs.at(id);
    if (!job.least_class || job.held > 0 || std::ranges::binary_search(served, id)) continue;
    if (job.terms.deadline - now < s.settings.shortest_term) continue;
    auto demands = demands_of(job, now);
    demands.guest = false;
    const auto [it, fresh] = known.try_emplace({job.least_class, demands}, out.size());
    if (fresh) out.push_back({std::move(demands), job.least_class, {}});
    out[it->second].jobs.push_back(&job);
  }
  if (out.size() <= kConstraintSets) return out;
  base::Random random(round.seed);
  random.shuffle(out);
  out.resize(kConstraintSets);
  return out;
}

bool some_on_offer(const State& s, ClassId c) {
  return std::ranges::any_of(s.index.classes[c.value - 1].supply, &SupplyRow::usable);
}

// Moves of one round.
class Movers {
 public:
  Movers(const State& s, const Clear& round, Time now) : s_(s), stock_(s, now, round.unheard) {}

  std::vector<ClassMove> of(const std::vector<Group>& groups) {
    for (const auto& group : groups) {
      Shelves shelves(group.demands, stock_);
      const auto larger = larger_classes(s_, group.least);
      for (const auto* job : group.jobs) {
        if (out_.size() == kClassMovesPerRound) return std::move(out_);
        look(*job, larger, shelves);
      }
    }
    return std::move(out_);
  }

 private:
  void look(const Job& job, const std::vector<ClassId>& larger, Shelves& shelves) {
    const auto limit = job.terms.limit;
    const auto needed = least_workers(job);
    const auto here = job.slot_class, least = job.least_class;
    const auto& own = s_.slot_class(least).name;
    if (shelves.of(least).all(limit) >= needed) {
      if (here != least)
        out_.push_back({job.id, least, fmt::format("slots of {} are on offer again", own)});
      return;
    }
    if (here != least && shelves.of(here).all(limit) >= needed) return;
    for (const auto c : larger) {
      if (c == here) continue;
      auto& taken = taken_[c];
      const auto free = shelves.of(c).free(limit) - taken;
      if (free < needed) continue;
      taken += std::min<std::int64_t>(free, wanted_workers(job));
      out_.push_back(
          {job.id, c,
           fmt::format("no slot of {} that fits is on offer within its limit, and {} of {} {}", own,
                       free, s_.slot_class(c).name, free == 1 ? "is" : "are")});
      return;
    }
  }

  const State& s_;
  Stock stock_;
  std::map<ClassId, std::int64_t> taken_;  // By those who move there now.
  std::vector<ClassMove> out_;
};

}  // namespace

std::vector<ClassId> larger_classes(const State& s, ClassId least) {
  std::vector<ClassId> out;
  for (const auto& c : s.classes)
    if (c.id != least && !c.retired && covers(c, s.slot_class(least))) out.push_back(c.id);
  std::ranges::sort(out, {}, [&](ClassId id) { return std::pair(size_of(s.slot_class(id)), id); });
  return out;
}

std::vector<ClassMove> class_moves(const State& s, const Clear& round, Time now,
                                   std::span<const JobId> served) {
  // Where nobody else offers anything there is nowhere to go.
  if (std::ranges::none_of(s.classes, [&](const SlotClass& c) {
        return c.id != round.slot_class && some_on_offer(s, c.id);
      }))
    return {};
  return Movers(s, round, now).of(waiting_groups(s, round, now, served));
}

std::optional<FreeSlots> found_in_larger(const State& s, const Job& job, Time now,
                                         std::span<const MachineId> unheard) {
  const auto least = job.least_class ? job.least_class : job.slot_class;
  const auto demands = demands_of(job, now);
  Stock stock(s, now, unheard);
  Shelves shelves(demands, stock);
  const auto needed = least_workers(job);
  const auto limit = job.terms.limit;
  const bool own_at_any_price = shelves.of(least).all(kAnyPrice) >= needed;
  if (job.least_class ? shelves.of(least).all(limit) >= needed : own_at_any_price)
    return std::nullopt;
  std::optional<FreeSlots> out;
  for (const auto c : larger_classes(s, least)) {
    const auto& shelf = shelves.of(c);
    const auto ask = shelf.enough(needed);
    if (!ask || (out && *ask > limit)) continue;
    out = FreeSlots{c, shelf.free(std::max(*ask, limit)), *ask, own_at_any_price};
    if (*ask <= limit) return out;
  }
  if (own_at_any_price) return std::nullopt;  // A higher limit goes further there.
  return out;
}

std::string larger_text(const State& s, const Job& job, Time now,
                        std::span<const MachineId> unheard) {
  const auto found = found_in_larger(s, job, now, unheard);
  if (!found || found->slot_class == job.slot_class) return "";
  const auto& [to, slots, ask, own_is_dearer] = *found;
  const auto& name = s.slot_class(to).name;
  auto out = fmt::format("no slot of {} that fits is on offer{}; {} of {} {}, at {}: ",
                         s.slot_class(job.least_class ? job.least_class : job.slot_class).name,
                         own_is_dearer ? " within its limit" : "", slots, name,
                         slots == 1 ? "is" : "are", to_string(ask));
  const auto raise = ask > job.terms.limit ? fmt::format("--price {}", to_string(ask)) : "";
  if (!job.least_class)
    return out + fmt::format("--class {}{}{}", name, raise.empty() ? "" : " ", raise);
  return out + (raise.empty() ? "it will be taken" : raise);
}

}  // namespace souk::market
