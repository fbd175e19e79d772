#pragma once

#include <optional>
#include <string>

#include "wire/api/earnings.h"

// What lending is worth, in words.

namespace souk::cli {

// The machine that is asked about.
struct MachineSize {
  std::int64_t cores = 0, memory_mib = 0, gpus = 0, gpu_memory_mib = 0;
};

// Where the market says what such a machine would earn; it needs no account.
[[nodiscard]] std::string earnings_path(const MachineSize& size);

// "about 3.2 credits a week (1 to 5.4) as 4 x c1", of the class named, else of the one that would
// earn most; nothing where no class fits.
[[nodiscard]] std::optional<std::string> worth_text(const wire::Earnings& earnings,
                                                    const std::string& slot_class = {});

}  // namespace souk::cli
