#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "market/eligible.h"
#include "market/state.h"

// Which machines of many meet the demands of a group of jobs, faster than machine by machine.

namespace souk::market {

// Machines of a supply by likeness, numbered, with one of each kind.
class Kinds {
 public:
  std::uint32_t number(const State& s, const SupplyRow& row) {
    const auto [it, fresh] = numbers_.try_emplace(row.likeness, like_.size());
    if (fresh) like_.push_back(&s.machines.at(row.machine));
    return it->second;
  }
  [[nodiscard]] const Machine& like(std::uint32_t number) const { return *like_[number]; }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // Never iterated.
  std::vector<const Machine*> like_;
};

// Which machines meet the demands of one group. What all of a kind have is looked at once.
class Meeting {
 public:
  Meeting(const Demands& demands, const Kinds& kinds) : demands_(demands), kinds_(kinds) {
    const auto& c = demands.constraints;
    of_kind_.constraints.packages = c.packages;
    of_kind_.constraints.regions = c.regions;
    of_kind_.constraints.providers_allowed = c.providers_allowed;
    of_kind_.constraints.providers_refused = c.providers_refused;
    by_kind_ = !of_kind_.none();
  }
  [[nodiscard]] bool by_kind() const { return by_kind_; }

  bool operator()(const SupplyRow& row, std::uint32_t kind) {
    const auto& c = demands_.constraints;
    const auto has = [](const auto& list, const auto& item) {
      return std::ranges::find(list, item) != list.end();
    };
    if (c.max_rtt_ms > 0 && row.rtt_ms > c.max_rtt_ms) return false;
    if (row.reliability_ppm < c.min_reliability_ppm) return false;
    if (!c.lenders_allowed.empty() && !has(c.lenders_allowed, row.lender)) return false;
    if (has(c.lenders_refused, row.lender) || has(demands_.avoided, row.machine)) return false;
    if (demands_.only && demands_.only != row.machine) return false;
    return !by_kind_ || kind_meets(kind);
  }

 private:
  enum class Known : std::uint8_t { no, yes, unknown };
  bool kind_meets(std::uint32_t kind) {
    if (known_.size() <= kind) known_.resize(kind + 1, Known::unknown);
    if (known_[kind] == Known::unknown)
      known_[kind] = meets(of_kind_, kinds_.like(kind)) ? Known::yes : Known::no;
    return known_[kind] == Known::yes;
  }

  const Demands& demands_;
  const Kinds& kinds_;
  Demands of_kind_;  // What is demanded of packages, regions and providers.
  bool by_kind_ = false;
  std::vector<Known> known_;
};

}  // namespace souk::market
