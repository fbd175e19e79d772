#include "wire/api/usage.h"

namespace souk::wire {

SOUK_JSON_HERE(Usage);
SOUK_JSON_HERE(JobUsage);

}  // namespace souk::wire
