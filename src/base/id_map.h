#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace souk::base {

// Values by id, in one array: a search touches one place in memory, and nothing is allocated for a
// single value. A hash table with open addressing, never more than half full. Ids are given out in
// order by ourselves, so nobody can choose them to collide; those that follow each other lie
// together. The order inside means nothing, which is why all that can be had of it is sorted().
// Id 0, which names nothing, is never a key. Adding and erasing moves values.
template <class I, class T>
class IdMap {
 public:
  [[nodiscard]] std::size_t size() const { return size_; }

  [[nodiscard]] const T* find(I id) const {
    if (slots_.empty() || !id) return nullptr;
    const auto& slot = slots_[place_of(id)];
    return slot.id ? &slot.value : nullptr;
  }
  [[nodiscard]] T* find(I id) { return const_cast<T*>(std::as_const(*this).find(id)); }

  // The value of this id, which begins as T{}.
  T& operator[](I id) {
    CHECK(id);
    if (2 * (size_ + 1) > slots_.size()) grow();
    auto& slot = slots_[place_of(id)];
    if (!slot.id) {
      slot.id = id;
      ++size_;
    }
    return slot.value;
  }

  void erase(I id) {
    if (slots_.empty() || !id) return;
    auto gap = place_of(id);
    if (!slots_[gap].id) return;
    // What was put further on because of it moves up, so that every search ends at the first gap.
    for (auto i = (gap + 1) & mask(); slots_[i].id; i = (i + 1) & mask()) {
      if (((i - home_of(slots_[i].id)) & mask()) < ((i - gap) & mask())) continue;
      slots_[gap] = std::move(slots_[i]);
      gap = i;
    }
    slots_[gap] = {};
    --size_;
  }

  [[nodiscard]] std::vector<std::pair<I, T>> sorted() const {
    std::vector<std::pair<I, T>> out;
    out.reserve(size_);
    for (const auto& slot : slots_)
      if (slot.id) out.emplace_back(slot.id, slot.value);
    std::ranges::sort(out, {}, [](const auto& item) { return item.first; });
    return out;
  }

  bool operator==(const IdMap& o) const { return size_ == o.size_ && sorted() == o.sorted(); }

 private:
  struct Slot {
    I id;
    T value{};
  };

  [[nodiscard]] std::size_t mask() const { return slots_.size() - 1; }
  [[nodiscard]] std::size_t home_of(I id) const {
    constexpr auto together = 3;  // Bits of the id that are kept as they are.
    const auto spread = ((id.value >> together) * 0x9E37'79B9'7F4A'7C15) >> 32;
    return (spread << together | (id.value & ((1 << together) - 1))) & mask();
  }
  // Where it is, or would be.
  [[nodiscard]] std::size_t place_of(I id) const {
    auto i = home_of(id);
    while (slots_[i].id && slots_[i].id != id) i = (i + 1) & mask();
    return i;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(16, 2 * slots_.size()));
    old.swap(slots_);
    for (auto& slot : old)
      if (slot.id) slots_[place_of(slot.id)] = std::move(slot);
  }

  std::vector<Slot> slots_;  // A power of two of them.
  std::size_t size_ = 0;
};

}  // namespace souk::base
