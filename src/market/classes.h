#pragma once

#include <span>
#include <tuple>

#include "base/result.h"
#include "market/types.h"

namespace souk::market {

// By which the smallest slot class is the smallest: GPUs, then cores, then memory. For the market's
// classes and for those that clients see.
template <class Class>
auto size_of(const Class& c) {
  return std::tuple(c.gpus, c.gpu_memory_mib, c.cores, c.memory_mib);
}

// Does a slot of `big` hold what one of `small` does?
[[nodiscard]] inline bool covers(const SlotClass& big, const SlotClass& small) {
  return big.cores >= small.cores && big.memory_mib >= small.memory_mib && big.gpus >= small.gpus &&
         big.gpu_memory_mib >= small.gpu_memory_mib;
}

// May a job that is paid so name these classes, the one it begins in first? None may be retired or
// there twice, and only a job that is paid by work may name more than one: it loses nothing when it
// moves.
[[nodiscard]] base::Result<> check_classes(Pay pay, std::span<const SlotClass* const> classes);

}  // namespace souk::market
