#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "base/check.h"

namespace souk::market {

// Things named by ids that were given out in order: lookup in constant time, iteration in order of
// id whatever the history, so that replays agree. Old things may be forgotten; ids never return.
template <class I, class T>
class Table {
 public:
  using Key = I;
  using Value = T;

  // The id the next added thing must have.
  [[nodiscard]] I next() const { return I(first_ + slots_.size()); }

  template <class Value>
  T& add(I id, Value&& value) {
    CHECK(id == next());
    ++size_;
    return *slots_.emplace_back(std::in_place, std::forward<Value>(value));
  }

  void erase(I id) {
    CHECK(find(id) != nullptr);
    slots_[id.value - first_].reset();
    --size_;
    for (; !slots_.empty() && !slots_.front(); ++first_) slots_.pop_front();
  }

  [[nodiscard]] T* find(I id) {
    const auto at = id.value - first_;
    return at < slots_.size() && slots_[at] ? &*slots_[at] : nullptr;
  }
  [[nodiscard]] const T* find(I id) const { return const_cast<Table*>(this)->find(id); }

  // The thing that must exist.
  T& at(I id) {
    T* found = find(id);
    CHECK(found != nullptr);
    return *found;
  }
  const T& at(I id) const { return const_cast<Table*>(this)->at(id); }

  [[nodiscard]] std::size_t size() const { return size_; }

  // The id of the first thing after `id`, or none.
  [[nodiscard]] I after(I id) const {
    for (auto v = std::max(id.value + 1, first_); v < next().value; ++v)
      if (slots_[v - first_]) return I(v);
    return I{};
  }
  // The id of the last thing before `id`, or none: newest-first lists.
  [[nodiscard]] I before(I id) const {
    for (auto v = std::min(id.value, next().value); v > first_; --v)
      if (slots_[v - 1 - first_]) return I(v - 1);
    return I{};
  }

  template <class Visit>
  void for_each(Visit&& visit) const {
    for (const auto& slot : slots_)
      if (slot) visit(*slot);
  }

  // For loading a snapshot: an empty table whose next id is `next`, then restore() in order.
  void start_at(I next) {
    slots_.clear();
    size_ = 0;
    first_ = next.value;
  }
  void restore(I id, T value) {
    if (slots_.empty()) first_ = id.value;
    while (next() < id) slots_.emplace_back();
    add(id, std::move(value));
  }
  // Leaves gaps up to `next`, so that ids forgotten at the end are not given out again.
  void finish(I next_id) {
    if (slots_.empty()) first_ = next_id.value;
    while (next() < next_id) slots_.emplace_back();
  }

 private:
  std::uint64_t first_ = 1;
  std::deque<std::optional<T>> slots_;
  std::size_t size_ = 0;
};

}  // namespace souk::market
