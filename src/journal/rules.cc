#include "journal/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/check.h"

namespace souk::journal {

base::Result<> check_appendable(const Batch& batch, std::uint64_t next) {
  CHECK(batch.first == next);
  CHECK(batch.count > 0);
  // Numbers are kept as signed 64-bit integers on disk.
  CHECK(batch.end() <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()));
  if (batch.bytes.size() > kMostBatchBytes)
    return base::fail(base::Code::too_large,
                      fmt::format("the batch that begins at event {} has {} bytes", batch.first,
                                  batch.bytes.size()),
                      fmt::format("a batch may have up to {} bytes", kMostBatchBytes));
  return {};
}

base::Result<> check_kept(std::uint64_t from, std::uint64_t first, std::string_view name) {
  if (from >= first || first == 1) return {};
  return base::fail(
      base::Code::not_found,
      fmt::format("{} begins with event {}: event {} was dropped", name, first,
                  std::max<std::uint64_t>(from, 1)),
      fmt::format("ask from event {} on; what was dropped is in the folder of `souk serve "
                  "--archive`, if it was started with that",
                  first));
}

base::Failure no_batch_begins(std::uint64_t event) {
  return base::fail(base::Code::invalid,
                    fmt::format("the journal cannot begin with event {}: no batch does", event));
}

}  // namespace souk::journal
