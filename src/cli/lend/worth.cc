#include "cli/lend/worth.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/shell/human.h"

namespace souk::cli {
namespace {

// What a week brings is not known to the fourth digit.
std::string rounded(base::Credits c) {
  return brief(base::Credits((c.micro + 5'000) / 10'000 * 10'000));
}

}  // namespace

std::string earnings_path(const MachineSize& size) {
  return fmt::format("/v1/earnings?cores={}&memory_mib={}&gpus={}&gpu_memory_mib={}", size.cores,
                     size.memory_mib, size.gpus, size.gpu_memory_mib);
}

std::optional<std::string> worth_text(const wire::Earnings& earnings,
                                      const std::string& slot_class) {
  const auto& items = earnings.items;
  const auto at = slot_class.empty()
                      ? items.begin()
                      : std::ranges::find(items, slot_class, &wire::ClassEarnings::class_);
  if (at == items.end()) return std::nullopt;
  if (!at->week)
    return fmt::format(
        "no estimate yet: it needs an hour of trading; {} x {} always leased: {} a week", at->slots,
        at->class_, rounded(base::cost(at->price, at->slots, base::hours(24 * 7))));
  return fmt::format("about {} credits a week ({} to {}) as {} x {}", rounded(at->week->expected),
                     rounded(at->week->low), rounded(at->week->high), at->slots, at->class_);
}

}  // namespace souk::cli
