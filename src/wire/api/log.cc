#include "wire/api/log.h"

namespace souk::wire {

SOUK_JSON_HERE(LogPiece);
SOUK_JSON_HERE(LogSize);
SOUK_JSON_HERE(Log);

}  // namespace souk::wire
