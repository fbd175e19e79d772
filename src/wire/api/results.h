#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.h"

// The files that a job leaves, as its owner sees them.

namespace souk::wire {

struct ResultFile {
  std::string path;
  std::int64_t bytes = 0;
  std::optional<std::int32_t> part;  // The worker that left it; absent: the job as a whole.
  SOUK_FIELDS(ResultFile, path, bytes, part)
};

struct ResultFiles {
  std::vector<ResultFile> items;
  std::vector<std::string> gone;  // What cannot be had any more, in words.
  std::optional<std::string> next;
  SOUK_FIELDS(ResultFiles, items, gone, next)
};

}  // namespace souk::wire
