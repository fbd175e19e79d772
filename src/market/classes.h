#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "market/types.h"

namespace souk::market {

// May a job of this kind name these classes, the one it begins in first? None may be retired or
// there twice, and only a training can be in more than one: it loses nothing when it moves.
[[nodiscard]] base::Result<> check_classes(std::string_view kind,
                                           std::span<const SlotClass* const> classes);

}  // namespace souk::market
