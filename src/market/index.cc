#include "market/index.h"

#include <algorithm>

#include "market/state.h"

namespace souk::market {
namespace {

// Grows `v` so that it has a place for `id`.
template <class T, class I>
T& place(std::vector<T>& v, I id) {
  if (v.size() <= id.value) v.resize(id.value + 1);
  return v[id.value];
}

// When the lease next needs Tick's attention.
Time due(const Settings& settings, const Lease& l) {
  switch (l.state) {
    case LeaseState::granted:
      return std::min(l.granted + settings.setup, l.term.until);
    case LeaseState::running: {
      if (l.next) return l.next->until + settings.silence;  // Settling past `until` moves it on.
      const auto notice = std::min(settings.drain, (l.term.until - l.term.from) / 4);
      return l.term.until - notice;
    }
    case LeaseState::draining:
      return l.term.until + settings.silence;  // Its last report may come a little late.
    case LeaseState::closed:
      return l.ended + settings.retention;
  }
  CHECK(false);
}

// Whoever makes two lists collide has a machine taken for one that has what it lacks, and could
// have said so at once.
std::uint64_t likeness(const MachineSpec& spec) {
  std::string text = spec.region + '\0' + spec.provider;
  const auto add = [&](const std::vector<std::string>& packages) {
    text += '\1';
    for (const auto& p : packages) (text += p) += '\0';
  };
  add(spec.packages);
  for (const auto& e : spec.environments) add(e.packages);
  return base::short_hash(text);
}

void add_wanted(WantedAt& all, const WantedSlots& w) {
  const auto at = all.try_emplace({w.limit, w.owner}).first;
  if ((at->second += w.slots) == 0) all.erase(at);
}

// Trials are kept for as long as their sweep.
Time forget_at(const State& s, const Job& j) {
  const auto* sweep = j.sweep ? s.jobs.find(j.sweep) : nullptr;
  if (sweep == nullptr) return j.ended + s.settings.retention;
  return is_final(sweep->state) ? sweep->ended + s.settings.retention : base::kNever;
}

}  // namespace

std::int32_t wanted_workers(const Job& j) {
  if (j.state != JobState::queued && j.state != JobState::running) return 0;
  if (is_sweep(j)) return 0;
  if (is_probe(j)) return j.aimed && j.held + j.done < j.terms.workers.max ? 1 : 0;
  if (is_gang(j)) {
    // All of them, or more of a running one that may grow.
    const bool grows = j.gang.phase == GangPhase::running && j.done == 0;
    return j.held == 0 || grows ? std::max(0, aimed_workers(j) - j.held) : 0;
  }
  return std::max(0, aimed_workers(j) - j.held - j.done);
}

const std::optional<Interval>& opening_of(const SupplyRow& row, const Offer& offer, Time now) {
  if (!row.knows(now)) {
    row.open = opening(offer.terms.availability, now);
    row.open_known = true;
    row.asked = now;
  }
  return row.open;
}

void Index::account_added(const Account& a) {
  account_by_name[a.name] = a.id;
  place(counts, a.id);
  place(machines_of, a.id);
  place(jobs_of, a.id);
}

void Index::job_added(const Job& j) {
  jobs_of[j.owner.value].push_back(j.id);
  if (j.sweep) trials_of[j.sweep].push_back(j.id);
}

void Index::job_removed(const Job& j) {
  auto& jobs = jobs_of[j.owner.value];
  jobs.erase(std::ranges::lower_bound(jobs, j.id));
  if (!j.sweep) return;
  const auto it = trials_of.find(j.sweep);
  std::erase(it->second, j.id);
  if (it->second.empty()) trials_of.erase(it);
}

void Index::class_set(const SlotClass& c) {
  if (classes.size() < c.id.value) classes.resize(c.id.value);
}

void Index::token_changed(const Token& t, int by) {
  if (by > 0) {
    token_by_digest[t.digest] = t.id;
  } else {
    token_by_digest.erase(t.digest);
  }
  auto& count = counts[t.account.value];
  (t.session ? count.sessions : count.tokens) += by;
}

void Index::machine_added(const Machine& m) {
  ++counts[m.owner.value].machines;
  machines_of[m.owner.value].push_back(m.id);
  place(offers_of, m.id);
  place(leases_of, m.id);
  place(likeness_of, m.id) = likeness(m.spec);
}

void Index::machine_changed(const State& s, const Machine& m) {
  likeness_of[m.id.value] = likeness(m.spec);
  offers_changed(s, m.id);
}

void Index::machine_removed(const Machine& m) {
  --counts[m.owner.value].machines;
  std::erase(machines_of[m.owner.value], m.id);
}

SupplyRow* Index::row(const Offer& o) {
  return &classes[o.slot_class.value - 1].supply[row_of_offer[o.id.value]];
}

void Index::offer_added(const State& s, const Offer& o) {
  auto& rows = classes[o.slot_class.value - 1].supply;
  place(row_of_offer, o.id) = static_cast<std::uint32_t>(rows.size());
  rows.push_back({.offer = o.id, .machine = o.machine, .lender = o.owner});
  offers_of[o.machine.value].push_back(o.id);
  offer_changed(s, o, true);
}

void Index::offer_changed(const State& s, const Offer& o, bool terms) {
  auto& r = *row(o);
  const auto& machine = s.machines.at(o.machine);
  r.reserve = o.terms.reserve.value_or(Credits());
  r.free = std::max(0, o.terms.slots - o.leased);
  r.likeness = likeness_of[o.machine.value];
  r.reliability_ppm = machine.reliability_ppm;
  r.rtt_ms = machine.spec.rtt_ms;
  r.rank = (1'000'000 - machine.reliability_ppm) / 50'000;
  r.usable = !o.draining && machine.online && machine.doubted.empty() &&
             s.accounts.at(o.owner).frozen.empty();
  r.paused_until = o.paused_until;
  r.longest_lease = o.terms.longest_lease;
  if (terms) r.open_known = false;
}

void Index::offer_leased(const Offer& o) { row(o)->free = std::max(0, o.terms.slots - o.leased); }

void Index::offer_removed(const Offer& o) {
  auto& c = classes[o.slot_class.value - 1];
  row(o)->offer = OfferId{};
  row(o)->usable = false;
  std::erase(offers_of[o.machine.value], o.id);
  if (++c.dead * 2 <= c.supply.size() || c.dead < 64) return;
  std::erase_if(c.supply, [](const SupplyRow& r) { return !r.offer; });
  c.dead = 0;
  for (std::size_t i = 0; i < c.supply.size(); ++i)
    row_of_offer[c.supply[i].offer.value] = static_cast<std::uint32_t>(i);
}

void Index::offers_changed(const State& s, MachineId m) {
  for (const auto id : offers_of[m.value]) offer_changed(s, s.offers.at(id), false);
}

void Index::count_wanted(ClassIndex& c, const WantedSlots& w, int sign) {
  if (w.slots == 0) return;
  c.wanted += sign * w.slots;
  if (!c.wanted_then) return;
  c.changed_since.push_back({sign * w.slots, w.limit, w.owner});
  // So much has changed that it is easier to begin anew.
  if (c.changed_since.size() <= 256 + c.wanting.size()) return;
  c.wanted_then.reset();
  c.changed_since.clear();
}

const WantedAt& Index::wanted_at(ClassId id) const {
  const auto& c = classes[id.value - 1];
  if (c.wanted_then) {
    for (const auto& change : c.changed_since) add_wanted(*c.wanted_then, change);
  } else {
    c.wanted_then.emplace();
    for (const auto& [priority, job] : c.wanting) add_wanted(*c.wanted_then, *wanted.find(job));
  }
  c.changed_since.clear();
  return *c.wanted_then;
}

void Index::job_leaves(const Job& j) {
  auto& c = classes[j.slot_class.value - 1];
  const auto* known = wanted.find(j.id);
  if (known == nullptr) return;
  c.wanting.erase({-j.terms.priority, j.id});
  count_wanted(c, *known, -1);
  wanted.erase(j.id);
}

void Index::job_changed(const State& s, const Job& j) {
  auto& c = classes[j.slot_class.value - 1];
  const auto* known = wanted.find(j.id);
  const auto before = known == nullptr ? WantedSlots() : *known;
  if (const WantedSlots now{wanted_workers(j), j.terms.limit, j.owner};
      now.slots != before.slots || (now.slots > 0 && now != before)) {
    const std::pair key{-j.terms.priority, j.id};
    if (now.slots == 0) {
      c.wanting.erase(key);
      wanted.erase(j.id);
    } else {
      wanted[j.id] = now;
      // A hint: new jobs have the highest ids.
      if (before.slots == 0) c.wanting.insert(c.wanting.end(), key);
    }
    count_wanted(c, before, -1);
    count_wanted(c, now, +1);
  }
  if (is_sweep(j)) {
    if (is_final(j.state))
      live_sweeps.erase(j.id);
    else
      live_sweeps.insert(j.id);
  }
  // As many workers have finished as it wants now: nothing but Tick is left to end it.
  const bool complete = j.state == JobState::queued && j.done >= j.terms.workers.max && !is_gang(j);
  job_due.set(j.id, is_final(j.state) ? forget_at(s, j) : complete ? j.created : j.terms.deadline);
}

void Index::lease_changed(const State& s, const Lease& l) {
  lease_due.set(l.id, due(s.settings, l));
}

void Index::lease_opened(const State& s, const Lease& l) {
  classes[l.slot_class.value - 1].leased += l.slots;
  leases_of[l.machine.value].push_back(l.id);
  lease_changed(s, l);
}

void Index::lease_closed(const State& s, const Lease& l) {
  classes[l.slot_class.value - 1].leased -= l.slots;
  std::erase(leases_of[l.machine.value], l.id);
  lease_changed(s, l);
}

std::int64_t size_of(const Answer& a) {
  return static_cast<std::int64_t>(sizeof(Answer) + a.key.size() + a.body.size());
}

void Index::answer_added(const Answer& a) {
  answer_bytes += size_of(a);
  if (a.body.empty()) return;
  place(counts, a.account).answer_bytes += size_of(a);
  if (by_key.built) by_key.answers[a.key_hash] = &a;
}

void Index::answer_dropped(const Answer& a) {
  if (!a.body.empty()) answer_emptied(a);
  answer_bytes -= size_of(a) - static_cast<std::int64_t>(a.body.size());
  ++answers_dropped;
}

void Index::answer_emptied(const Answer& a) {
  counts[a.account.value].answer_bytes -= size_of(a);
  answer_bytes -= static_cast<std::int64_t>(a.body.size());
  if (!by_key.built) return;
  const auto it = by_key.answers.find(a.key_hash);
  if (it != by_key.answers.end() && it->second == &a) by_key.answers.erase(it);
}

void Index::key_added(const State& s, const UsedKey& k) {
  ++place(counts, k.account).keys;
  if (by_key.built) by_key.keys[k.key_hash] = by_key.keys_dropped + s.keys.size() - 1;
}

void Index::key_dropped(const UsedKey& k) {
  --counts[k.account.value].keys;
  if (!by_key.built) return;
  const auto it = by_key.keys.find(k.key_hash);
  if (it != by_key.keys.end() && it->second == by_key.keys_dropped) by_key.keys.erase(it);
  ++by_key.keys_dropped;
}

const KeyIndex& Index::keys_of(const State& s) const {
  if (by_key.built) return by_key;
  by_key.built = true;
  for (std::size_t i = 0; i < s.keys.size(); ++i) by_key.keys[s.keys[i].key_hash] = i;
  for (const auto& a : s.answers)
    if (!a.body.empty()) by_key.answers[a.key_hash] = &a;
  return by_key;
}

void Index::rebuild(const State& s) {
  *this = Index();
  for (const auto& c : s.classes) class_set(c);
  s.accounts.for_each([&](const Account& a) { account_added(a); });
  s.tokens.for_each([&](const Token& t) { token_changed(t, 1); });
  s.machines.for_each([&](const Machine& m) { machine_added(m); });
  s.offers.for_each([&](const Offer& o) { offer_added(s, o); });
  s.jobs.for_each([&](const Job& j) {
    job_added(j);
    job_changed(s, j);
    if (!is_final(j.state)) ++counts[j.owner.value].live_jobs;
  });
  s.leases.for_each([&](const Lease& l) {
    if (l.state == LeaseState::closed) {
      lease_changed(s, l);
    } else {
      lease_opened(s, l);
    }
  });
  for (const auto& a : s.answers) answer_added(a);
  for (const auto& k : s.keys) key_added(s, k);
}

}  // namespace souk::market
