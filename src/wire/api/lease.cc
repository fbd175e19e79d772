#include "wire/api/lease.h"

namespace souk::wire {

SOUK_JSON_HERE(Lease);
SOUK_JSON_HERE(LeaseStart);
SOUK_JSON_HERE(LeaseFinish);
SOUK_JSON_HERE(Page<Lease>);
SOUK_JSON_HERE(LeaseCheckpoint);

}  // namespace souk::wire
