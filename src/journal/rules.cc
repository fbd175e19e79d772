#include "journal/rules.h"

#include <fmt/format.h>

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

}  // namespace souk::journal
