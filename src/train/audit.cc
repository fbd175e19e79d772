#include "train/audit.h"

#include <algorithm>

namespace souk::train {
namespace {

constexpr double kMostRoom = 4;           // Saved up, so that audits stay spread out.
constexpr double kMostDebt = -2;          // So that an old quarrel does not end all audits.
constexpr double kRoomForWaiting = 0.01;  // Room that comes with each time somebody had to wait.
constexpr double kEased = 0.8;            // By what distrust falls with each right answer,
constexpr double kForgiven = 0.5;         // faster where it was high.
constexpr double kDoubted = 4;            // By what it rises where nobody could decide.
constexpr double kAlways = 0.5;           // From here on every unit is done twice.
constexpr double kAuditParts = 1'000'000;

}  // namespace

Audit::Standing& Audit::standing(Owner owner) {
  return standings_.try_emplace(owner, Standing{.distrust = limits_.newcomer}).first->second;
}

bool Audit::may_work(Owner owner, bool possible) {
  const auto& who = standing(owner);
  if (who.strikes >= limits_.strikes) return false;
  if (who.distrust < kAlways || !possible || room_ >= 1) return true;
  // It waits for room, which others make by working, and time where there are none.
  room_ += kRoomForWaiting;
  return false;
}

bool Audit::choose(Owner owner, bool possible, base::Random& random) {
  const auto& who = standing(owner);
  const auto drawn = random.below(static_cast<std::uint64_t>(kAuditParts)) <
                     static_cast<std::uint64_t>(who.distrust * kAuditParts);
  room_ = std::min(kMostRoom, std::max(room_, kMostDebt) + limits_.most);
  if (!possible || room_ < 1 || (!drawn && who.distrust < kAlways)) return false;
  room_ -= 1;
  return true;
}

void Audit::right(Owner owner) {
  auto& who = standing(owner);
  who.strikes = 0;
  who.distrust =
      std::max(limits_.trusted, who.distrust * (who.distrust >= kAlways ? kForgiven : kEased));
}

void Audit::wrong(Owner owner) {
  auto& who = standing(owner);
  who.distrust = 1;
  ++who.strikes;
}

void Audit::doubted(Owner owner) {
  auto& who = standing(owner);
  who.distrust = std::min(kAlways * 0.9, who.distrust * kDoubted);
}

double Audit::distrust(Owner owner) const {
  const auto it = standings_.find(owner);
  return it == standings_.end() ? limits_.newcomer : it->second.distrust;
}

bool Audit::shunned(Owner owner) const {
  const auto it = standings_.find(owner);
  return it != standings_.end() && it->second.strikes >= limits_.strikes;
}

}  // namespace souk::train
