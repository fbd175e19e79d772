#pragma once

#include <span>

#include "base/result.h"
#include "market/types.h"

namespace souk::market {

// May a job that is paid so name these classes, the one it begins in first? None may be retired or
// there twice, and only a job that is paid by work may name more than one: it loses nothing when it
// moves.
[[nodiscard]] base::Result<> check_classes(Pay pay, std::span<const SlotClass* const> classes);

}  // namespace souk::market
