#include "net/admission.h"

namespace souk::net {

Admission::Verdict Admission::enter(const std::string& address) {
  const std::lock_guard lock(mutex_);
  bool fits = welcome_ < total_;
  if (fits && per_address_ > 0) {
    const auto found = by_address_.find(address);
    fits = found == by_address_.end() || found->second < per_address_;
    if (fits) ++by_address_[address];
  }
  if (fits) {
    ++welcome_;
    return Verdict::welcome;
  }
  if (refusing_ == kRefusalsAtOnce) return Verdict::cut;
  ++refusing_;
  return Verdict::refuse;
}

void Admission::leave(const std::string& address, Verdict verdict) {
  const std::lock_guard lock(mutex_);
  if (verdict == Verdict::refuse) {
    --refusing_;
  } else {
    --welcome_;
    const auto found = by_address_.find(address);
    if (found != by_address_.end() && --found->second == 0) by_address_.erase(found);
  }
  if (welcome_ + refusing_ == 0) empty_.notify_all();
}

std::size_t Admission::open() const {
  const std::lock_guard lock(mutex_);
  return welcome_ + refusing_;
}

bool Admission::wait_until_empty(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return empty_.wait_until(lock, deadline, [this] { return welcome_ + refusing_ == 0; });
}

}  // namespace souk::net
