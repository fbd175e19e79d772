#include "server/record/journal_space.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <utility>

#include "base/disk.h"
#include "base/text.h"

namespace souk::server {

base::Result<> JournalSpace::check() {
  if (least_bytes_ == 0) return {};
  const auto disk = base::disk_space(folder_);
  const bool full = disk && disk->free_bytes < least_bytes_;
  const bool changed = std::exchange(full_, full) != full;
  if (!full) {
    if (changed) spdlog::info("the market's disk has room again");
    return {};
  }
  auto out = base::fail(
      base::Code::unavailable,
      fmt::format("the market's disk is full, so nothing can be changed now: {} are left of the "
                  "{} that the journal needs",
                  base::bytes_text(disk->free_bytes), base::bytes_text(least_bytes_)),
      "reading still works; the operator has to make room on the disk");
  if (changed) spdlog::error("{}", out.error().message);
  return out;
}

}  // namespace souk::server
