#include "server/core/challenges.h"

#include <algorithm>
#include <cmath>

namespace souk::server {
namespace {

constexpr std::int32_t kSize = 512;
constexpr auto kAskDoubtedEvery = base::minutes(1);

base::Challenge sized(const market::Machine& machine, std::uint64_t seed) {
  const auto cores = std::clamp(machine.spec.cores, 1, Challenges::kMostCores);
  const auto work = Challenges::kFloor * Challenges::kTime.seconds() * cores;
  const auto each = static_cast<double>(kSize) * kSize * kSize;
  return {.seed = seed, .size = kSize, .rounds = static_cast<std::int32_t>(std::ceil(work / each))};
}

}  // namespace

// Times between challenges are exponential: having just been asked says nothing about the next.
base::Duration Challenges::pause() {
  const auto u = (static_cast<double>(random_.next() >> 11) + 1) / 9007199254740993.0;
  return base::Duration(static_cast<std::int64_t>(-std::log(u) * static_cast<double>(every_.us)));
}

std::optional<base::Challenge> Challenges::ask(const market::Machine& machine, base::Time now) {
  if (every_ <= base::Duration()) return std::nullopt;
  const auto [it, fresh] = machines_.try_emplace(machine.id, Entry{now + pause(), {}});
  auto& entry = it->second;
  if (entry.asked || now < entry.next) return std::nullopt;
  entry.next = now + (machine.doubted.empty() ? pause() : kAskDoubtedEvery);
  entry.asked = OpenChallenge{sized(machine, random_.next()), now};
  return entry.asked->challenge;
}

std::optional<Challenges::OpenChallenge> Challenges::take(base::MachineId machine,
                                                          std::uint64_t seed) {
  const auto it = machines_.find(machine);
  if (it == machines_.end() || !it->second.asked || it->second.asked->challenge.seed != seed)
    return std::nullopt;
  return std::exchange(it->second.asked, std::nullopt);
}

bool Challenges::overdue(base::MachineId machine, base::Time now) {
  const auto it = machines_.find(machine);
  if (it == machines_.end() || !it->second.asked) return false;
  if (now - it->second.asked->at <= kTime + kSlack) return false;
  it->second.asked.reset();
  it->second.next = std::min(it->second.next, now + kAskDoubtedEvery);
  return true;
}

}  // namespace souk::server
