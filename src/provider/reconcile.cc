#include "provider/reconcile.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace souk::provider {
namespace {

Credits cost_of(const MachineKind& kind, Duration time) {
  const auto least = std::max(time, Duration());
  // Rounded up: a ceiling that is missed by a rounding is missed.
  return base::cost(kind.hourly, 1, least) + Credits(kind.hourly.micro > 0 ? 1 : 0);
}

Credits cost_of_ended(const Intent& i) {
  // It ended itself at its end, whenever that was noticed.
  return i.refused ? Credits() : cost_of(i.machine, std::min(i.ended, i.end) - i.intended);
}

// One pass. The listing first, so that what it shows counts for the rest.
class Pass {
 public:
  Pass(Fleet& fleet, const Rules& rules, Time now) : fleet_(fleet), rules_(rules), now_(now) {}

  void look(const std::vector<ListedMachine>& listed) {
    std::set<std::string> shown;
    for (const auto& m : listed) see(m, shown);
    for (auto& [id, intent] : fleet_.intents)
      if (intent.phase != Phase::ended && !shown.contains(id)) miss(id, intent);
  }

  void stop(const Need& need) {
    for (auto& [id, intent] : fleet_.intents) {
      if (intent.phase == Phase::ended || over_.contains(id)) continue;
      const bool late = now_ >= intent.end;
      const bool unwanted =
          need.all_stop || late || std::ranges::find(need.surplus, id) != need.surplus.end();
      if (intent.phase != Phase::stopping && !unwanted) continue;
      const bool waited = intent.phase == Phase::stopping && now_ - intent.stopping >= rules_.drain;
      stopped_.insert(id);
      out_.stops.push_back({id, intent.handle, late || waited});
    }
  }

  void start(const Need& need, const MachineKind& next) {
    if (need.all_stop) return;
    std::int64_t alive = 0;
    std::int64_t active = 0;
    for (const auto& [id, intent] : fleet_.intents) {
      if (intent.phase == Phase::ended || over_.contains(id)) continue;
      ++alive;
      if (!stopped_.contains(id)) ++active;
    }
    auto wanted = need.machines - active;
    if (wanted > rules_.max_machines - alive) {
      wanted = rules_.max_machines - alive;
      out_.held_back = fmt::format("{} machines at most", rules_.max_machines);
    }
    if (wanted <= 0) return;
    if (rules_.max_spend) {
      const auto each = cost_of(next, rules_.lifetime);
      const auto left = *rules_.max_spend - committed(fleet_);
      const auto payable =
          each.micro > 0 ? std::max<std::int64_t>(0, left.micro / each.micro) : wanted;
      if (payable < wanted) {
        wanted = payable;
        out_.held_back =
            fmt::format("{} credits at most, of which {} are left", to_string(*rules_.max_spend),
                        to_string(std::max(left, Credits())));
      }
    }
    out_.starts = std::clamp<std::int64_t>(wanted, 0, rules_.starts_per_pass);
  }

  Actions take() { return std::move(out_); }

 private:
  void see(const ListedMachine& m, std::set<std::string>& shown) {
    const auto it = fleet_.intents.find(m.intent);
    const bool known = it != fleet_.intents.end() && it->second.phase != Phase::ended;
    if (m.state == MachineState::ended) {
      // Of two machines of one intent, the end of the other one says nothing.
      if (!known || (!it->second.handle.empty() && it->second.handle != m.handle)) return;
      shown.insert(m.intent);
      end(m.intent, m.detail.empty() ? "it ended" : m.detail);
      return;
    }
    if (!known || over_.contains(m.intent)) {
      out_.stops.push_back({"", m.handle, true});
      return;
    }
    auto& intent = it->second;
    const auto& ours = told_.contains(m.intent) ? told_.at(m.intent) : intent.handle;
    if (!ours.empty() && ours != m.handle) {
      out_.stops.push_back({"", m.handle, true});  // A request that arrived twice.
      return;
    }
    shown.insert(m.intent);
    intent.missing.reset();
    if (!ours.empty()) return;
    told_[m.intent] = m.handle;
    out_.facts.push_back(
        {.kind = RecordKind::started, .at = now_, .intent = m.intent, .handle = m.handle});
  }

  void miss(const std::string& id, Intent& intent) {
    if (!intent.missing) intent.missing = now_;
    const auto wait = intent.handle.empty() ? rules_.delays.settle : rules_.delays.forget;
    if (now_ - *intent.missing < wait) return;
    end(id, intent.handle.empty() ? "it was never listed: the start did not succeed"
                                  : "it is no longer listed");
  }

  void end(const std::string& id, std::string why) {
    if (!over_.insert(id).second) return;
    out_.facts.push_back(
        {.kind = RecordKind::ended, .at = now_, .intent = id, .text = std::move(why)});
  }

  Fleet& fleet_;
  const Rules& rules_;
  const Time now_;
  Actions out_;
  std::set<std::string> over_;               // Recorded as ended in this pass,
  std::set<std::string> stopped_;            // told to stop,
  std::map<std::string, std::string> told_;  // and given a handle.
};

}  // namespace

void apply(Fleet& fleet, const Record& r) {
  if (r.kind == RecordKind::opened) {
    fleet.settings = r.text;
    if (r.carried) fleet.carried = *r.carried;
    return;
  }
  if (r.kind == RecordKind::intended) {
    if (!r.machine || !r.end) return;
    fleet.intents.try_emplace(r.intent,
                              Intent{.machine = *r.machine, .intended = r.at, .end = *r.end});
    return;
  }
  const auto it = fleet.intents.find(r.intent);
  if (it == fleet.intents.end() || it->second.phase == Phase::ended) return;
  auto& intent = it->second;
  if (r.kind == RecordKind::started) {
    intent.handle = r.handle;
    if (intent.phase == Phase::starting) intent.phase = Phase::running;
  } else if (r.kind == RecordKind::stopping) {
    if (intent.phase != Phase::stopping) intent.stopping = r.at;
    intent.phase = Phase::stopping;
  } else {
    intent.phase = Phase::ended;
    intent.ended = r.at;
    intent.why = r.text;
    intent.refused = r.kind == RecordKind::refused;
  }
}

std::vector<Record> shortened(const Fleet& fleet, Time now) {
  std::vector<Record> out{{.kind = RecordKind::opened, .at = now, .text = fleet.settings}};
  auto carried = fleet.carried;
  for (const auto& [id, i] : fleet.intents) {
    if (i.phase == Phase::ended) {
      carried += cost_of_ended(i);
      continue;
    }
    out.push_back({.kind = RecordKind::intended,
                   .at = i.intended,
                   .intent = id,
                   .machine = i.machine,
                   .end = i.end});
    if (!i.handle.empty())
      out.push_back(
          {.kind = RecordKind::started, .at = i.intended, .intent = id, .handle = i.handle});
    if (i.phase == Phase::stopping)
      out.push_back({.kind = RecordKind::stopping, .at = i.stopping, .intent = id});
  }
  out.front().carried = carried;
  return out;
}

std::int64_t alive(const Fleet& fleet) {
  return std::ranges::count_if(fleet.intents,
                               [](const auto& i) { return i.second.phase != Phase::ended; });
}

std::int64_t active(const Fleet& fleet) {
  return std::ranges::count_if(fleet.intents, [](const auto& i) {
    return i.second.phase == Phase::starting || i.second.phase == Phase::running;
  });
}

Credits committed(const Fleet& fleet) {
  auto out = fleet.carried;
  for (const auto& [id, i] : fleet.intents)
    out += i.phase == Phase::ended ? cost_of_ended(i) : cost_of(i.machine, i.end - i.intended);
  return out;
}

Credits spent(const Fleet& fleet, Time now) {
  auto out = fleet.carried;
  for (const auto& [id, i] : fleet.intents)
    out += i.phase == Phase::ended ? cost_of_ended(i)
                                   : cost_of(i.machine, std::min(now, i.end) - i.intended);
  return out;
}

Actions reconcile(Fleet& fleet, const std::optional<std::vector<ListedMachine>>& listed,
                  const Need& need, const MachineKind& next, const Rules& rules, Time now) {
  Pass pass(fleet, rules, now);
  if (listed) pass.look(*listed);
  pass.stop(need);
  if (listed) pass.start(need, next);
  return pass.take();
}

}  // namespace souk::provider
