#pragma once

#include <cstdint>
#include <string>

#include "base/fields.h"
#include "base/id.h"
#include "wire/schema.h"

// What programs printed.

namespace souk::wire {

// A piece of what a lease's program printed. Pieces may arrive twice: `offset` says where it goes.
struct LogPiece {
  std::int32_t epoch = 0;
  std::int64_t offset = 0;
  std::string text;
  SOUK_FIELDS(LogPiece, epoch, offset, text)
};

struct LogSize {
  std::int64_t size = 0;  // What the server has; the next piece begins here.
  SOUK_FIELDS(LogSize, size)
};

struct Log {
  base::LeaseId lease;
  std::string text;
  std::int64_t next = 0;  // Goes back as ?from=.
  bool ended = false;     // Nothing will follow.
  SOUK_FIELDS(Log, lease, text, next, ended)
};

SOUK_JSON_ELSEWHERE(LogPiece);
SOUK_JSON_ELSEWHERE(LogSize);
SOUK_JSON_ELSEWHERE(Log);

}  // namespace souk::wire
