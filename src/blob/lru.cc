#include "blob/lru.h"

#include "base/check.h"

namespace souk::blob {

std::optional<Lru::Item> Lru::oldest() const {
  if (free_.empty()) return std::nullopt;
  return free_.front();
}

std::vector<Lru::Item> Lru::items() const {
  std::vector<Item> out(free_.begin(), free_.end());
  out.insert(out.end(), pinned_.begin(), pinned_.end());
  return out;
}

std::optional<std::uint64_t> Lru::bytes_of(const Digest& name) const {
  const auto found = places_.find(name);
  if (found == places_.end()) return std::nullopt;
  return found->second.at->bytes;
}

void Lru::use(const Item& item) {
  erase(item.name);
  const bool pinned = pins_.contains(item.name);
  auto& list = pinned ? pinned_ : free_;
  list.push_back(item);
  places_.emplace(item.name, Place{std::prev(list.end()), pinned});
  bytes_ += item.bytes;
  if (pinned) pinned_bytes_ += item.bytes;
}

void Lru::erase(const Digest& name) {
  const auto found = places_.find(name);
  if (found == places_.end()) return;
  const auto place = found->second;
  bytes_ -= place.at->bytes;
  if (place.pinned) pinned_bytes_ -= place.at->bytes;
  (place.pinned ? pinned_ : free_).erase(place.at);
  places_.erase(found);
}

void Lru::move(Place& place, bool pinned) {
  if (place.pinned == pinned) return;
  auto& from = place.pinned ? pinned_ : free_;
  auto& to = pinned ? pinned_ : free_;
  to.splice(to.end(), from, place.at);
  place.pinned = pinned;
  if (pinned)
    pinned_bytes_ += place.at->bytes;
  else
    pinned_bytes_ -= place.at->bytes;
}

void Lru::pin(std::span<const Digest> names) {
  for (const auto& name : names) {
    if (++pins_[name] > 1) continue;
    if (const auto found = places_.find(name); found != places_.end()) move(found->second, true);
  }
}

void Lru::unpin(std::span<const Digest> names) {
  for (const auto& name : names) {
    const auto pin = pins_.find(name);
    CHECK(pin != pins_.end());
    if (--pin->second > 0) continue;
    pins_.erase(pin);
    if (const auto found = places_.find(name); found != places_.end()) move(found->second, false);
  }
}

}  // namespace souk::blob
