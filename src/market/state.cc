#include "market/state.h"

#include <algorithm>
#include <charconv>

namespace souk::market {

const SlotClass* State::find_class(std::string_view name) const {
  const auto it = std::ranges::find(classes, name, &SlotClass::name);
  return it == classes.end() ? nullptr : &*it;
}

const Account* State::find_account(std::string_view name) const {
  const auto it = index.account_by_name.find(name);
  return it == index.account_by_name.end() ? nullptr : accounts.find(it->second);
}

const Token* State::find_token(const base::Digest& digest, Time at) const {
  const auto it = index.token_by_digest.find(digest);
  if (it == index.token_by_digest.end()) return nullptr;
  const Token* token = tokens.find(it->second);
  return token->expires > at ? token : nullptr;
}

const UsedKey* State::find_key(AccountId account, std::string_view key) const {
  const auto& known = index.keys_of(*this);
  const auto it = known.keys.find(key_hash_of(account, key));
  if (it == known.keys.end()) return nullptr;
  const auto& found = keys[it->second - known.keys_dropped];
  return found.account == account ? &found : nullptr;
}

const Answer* State::find_answer(AccountId account, std::string_view key) const {
  const auto& known = index.keys_of(*this);
  const auto it = known.answers.find(key_hash_of(account, key));
  return it == known.answers.end() || it->second->account != account ? nullptr : it->second;
}

std::uint64_t key_hash_of(AccountId account, std::string_view key) {
  auto text = to_string(account) + "/";
  text += key;
  return base::short_hash(text);
}

std::uint64_t pack_id(std::string_view id) {
  if (id.size() < 2 || id[0] < 'a' || id[0] > 'z') return 0;
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data() + 1, id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size() || number >> 56 != 0) return 0;
  return number << 8 | static_cast<unsigned char>(id[0]);
}

std::string unpack_id(std::uint64_t packed) {
  if (packed == 0) return "";
  return static_cast<char>(packed & 0xff) + std::to_string(packed >> 8);
}

Credits State::free_budget(const Job& j) const {
  const auto* hold = ledger.hold(hold_of(j.id));
  if (hold == nullptr) return {};
  auto left = hold->left;
  for (const auto id : j.leases) left -= committed(leases.at(id));
  for (const auto& part : j.parts)
    for (const auto& answer : part.answers) left -= answer.owed;
  return left;
}

Credits State::suggested(ClassId c, Time at, Time slot) const {
  const auto& index_of_class = index.classes[c.value - 1];
  const auto anchor = anchor_price(prices[c.value - 1], slot_class(c).price, slot);
  Pressure pressure{.leased = index_of_class.leased};
  const auto& wanted = index.wanted_at(c);
  Queue queue;
  for (auto it = wanted.lower_bound({anchor, {}}); it != wanted.end(); ++it)
    queue.add(it->first.second, it->second);
  for (const auto& row : index_of_class.supply) {
    if (!row.usable || row.free <= 0 || row.reserve > anchor || row.paused_until > at) continue;
    const auto& open = opening_of(row, offers.at(row.offer), at);
    if (open && open->contains(at)) pressure.free += row.free;
  }
  pressure.queued = queue.counted(pressure.leased + pressure.free);
  return suggested_price(prices[c.value - 1], slot_class(c).price, pressure, at, slot);
}

std::string volume_key(AccountId owner, std::string_view name) {
  auto out = to_string(owner) + "/";
  return out += name;
}

Credits committed(const Lease& l) {
  if (l.state == LeaseState::closed) return {};
  const auto begin = std::max(l.term.from, l.started);
  auto sum = base::cost(l.term.pays, l.slots, l.term.until - begin) - l.term_paid;
  if (l.next) sum += base::cost(l.next->pays, l.slots, l.next->until - l.next->from);
  return sum;
}

namespace {

// As Decider::settle would bill it.
Credits accrued(const Lease& l, bool by_work, Time now) {
  if (l.state == LeaseState::granted || l.state == LeaseState::closed) return {};
  const auto time = std::min(now, l.term.until) - std::max(l.term.from, l.started);
  const auto billed = by_work ? std::min(l.worked, term_length(l)) : std::max(time, Duration());
  auto out = std::max(Credits(), base::cost(l.term.pays, l.slots, billed) - l.term_paid);
  if (!l.next) return out;
  const auto more =
      by_work ? l.worked - term_length(l) : std::min(now, l.next->until) - l.next->from;
  const auto most = l.next->until - l.next->from;
  out += base::cost(l.next->pays, l.slots, std::clamp(more, Duration(), most));
  return out;
}

}  // namespace

Credits accrued(const State& s, const Job& j, Time now) {
  Credits out;
  for (const auto id : j.leases) out += accrued(s.leases.at(id), paid_by_work(j), now);
  for (const auto& part : j.parts)
    for (const auto& answer : part.answers) out += answer.owed;
  return out;
}

Credits least_budget(Credits limit, std::int32_t workers, const Settings& settings) {
  const auto each = base::cost(limit, 1, settings.shortest_term) + Credits(1);
  return Credits(each.micro * workers);
}

std::int32_t least_workers(const Job& j) {
  const auto done = is_gang(j) ? 0 : j.done;  // A gang begins anew.
  return j.held > 0 ? 1 : std::max(1, j.terms.workers.min - done);
}

Events founding_events() {
  struct Row {
    const char* name;
    int cores;
    int memory_gib, gpus, gpu_memory_gib;
    int milli_credits;  // Suggested price per slot-hour.
  };
  // One credit is about what a lender's four plain cores are worth for an hour and a quarter.
  constexpr Row rows[] = {
      {"c1", 1, 1, 0, 0, 200},           {"c2", 2, 4, 0, 0, 400},
      {"c4", 4, 8, 0, 0, 800},           {"c8", 8, 16, 0, 0, 1600},
      {"c16", 16, 32, 0, 0, 3200},       {"c32", 32, 64, 0, 0, 6400},
      {"g1", 4, 16, 1, 8, 4000},         {"g1-24", 4, 16, 1, 24, 8000},
      {"g1-80", 8, 64, 1, 80, 24000},    {"g4", 16, 64, 4, 8, 16000},
      {"g8-80", 64, 512, 8, 80, 192000},
  };
  Events out{SettingsChanged{}};
  for (std::uint64_t id = 1; const auto& row : rows) {
    out.push_back(ClassSet{{.id = ClassId(id++),
                            .name = row.name,
                            .cores = row.cores,
                            .memory_mib = row.memory_gib * 1024,
                            .gpus = row.gpus,
                            .gpu_memory_mib = row.gpu_memory_gib * 1024,
                            .price = Credits(row.milli_credits * 1000),
                            .mechanism = std::string(kDefaultMechanism)}});
  }
  return out;
}

}  // namespace souk::market
