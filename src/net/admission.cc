#include "net/admission.h"

#include <algorithm>

namespace souk::net {

Admission::Place::Place(Place&& other) noexcept
    : owner_(std::move(other.owner_)), id_(other.id_), verdict_(other.verdict_) {}

Admission::Place::~Place() {
  if (owner_) owner_->leave(id_);
}

void Admission::Place::when_evicted(std::function<void()> leave) {
  if (owner_) owner_->set_leave(id_, std::move(leave));
}

void Admission::Place::is_known() {
  if (owner_) owner_->set_known(id_);
}

bool Admission::fits(const Caller& caller) const {
  const auto open_to_all = limits_.total - std::min(limits_.reserved, limits_.total - 1);
  return welcome_ < (caller.local ? limits_.total : open_to_all);
}

Admission::Place Admission::enter(const Caller& caller) {
  const std::lock_guard lock(mutex_);
  bool room = true;
  if (caller.limited && limits_.per_address > 0) {
    const auto found = by_address_.find(caller.address);
    if (found != by_address_.end() && found->second.welcome >= limits_.per_address)
      room = evict_oldest(found->second.strangers);
  }
  room = room && (fits(caller) || evict_oldest(strangers_));
  if (!room && refusing_ == kRefusalsAtOnce) return {};
  const auto id = next_++;
  const auto standing = room ? Standing::welcome : Standing::refused;
  auto& guest = guests_.emplace(id, Guest{caller.address, standing}).first->second;
  if (room) {
    ++welcome_;
    auto& use = by_address_[caller.address];
    ++use.welcome;
    use.strangers.emplace(id, &guest);
    strangers_.emplace(id, &guest);
  } else {
    ++refusing_;
  }
  return {shared_from_this(), id, room ? Verdict::welcome : Verdict::refuse};
}

bool Admission::evict_oldest(const std::map<std::uint64_t, Guest*>& strangers) {
  if (strangers.empty() || leaving_ == kRefusalsAtOnce) return false;
  const auto [id, guest] = *strangers.begin();
  ++evicted_;
  ++leaving_;
  const auto leave = std::move(guest->leave);
  uncount(id, *guest);
  guest->standing = Standing::evicted;
  if (leave) leave();
  return true;
}

// The place of a welcome guest is free; the guest itself is still here.
void Admission::uncount(std::uint64_t id, Guest& guest) {
  forget_stranger(id, guest);
  --welcome_;
  const auto use = by_address_.find(guest.address);
  if (--use->second.welcome == 0) by_address_.erase(use);
}

void Admission::forget_stranger(std::uint64_t id, Guest& guest) {
  guest.leave = nullptr;
  if (strangers_.erase(id) > 0) by_address_.at(guest.address).strangers.erase(id);
}

void Admission::set_leave(std::uint64_t id, std::function<void()> leave) {
  const std::lock_guard lock(mutex_);
  auto& guest = guests_.at(id);
  if (guest.standing == Standing::evicted) return leave();
  guest.leave = std::move(leave);
}

void Admission::set_known(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  forget_stranger(id, guests_.at(id));
}

void Admission::leave(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto found = guests_.find(id);
  switch (found->second.standing) {
    case Standing::welcome:
      uncount(id, found->second);
      break;
    case Standing::refused:
      --refusing_;
      break;
    case Standing::evicted:
      --leaving_;
      break;
  }
  guests_.erase(found);
  if (guests_.empty()) empty_.notify_all();
}

std::size_t Admission::open() const {
  const std::lock_guard lock(mutex_);
  return guests_.size();
}

std::size_t Admission::strangers() const {
  const std::lock_guard lock(mutex_);
  return strangers_.size();
}

std::size_t Admission::open_from(const std::string& address) const {
  const std::lock_guard lock(mutex_);
  const auto found = by_address_.find(address);
  return found == by_address_.end() ? 0 : found->second.welcome;
}

std::uint64_t Admission::evicted() const {
  const std::lock_guard lock(mutex_);
  return evicted_;
}

bool Admission::wait_until_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return empty_.wait_until(lock, deadline, [this] { return guests_.empty(); });
}

}  // namespace souk::net
