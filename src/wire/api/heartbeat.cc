#include "wire/api/heartbeat.h"

namespace souk::wire {

SOUK_JSON_HERE(LeaseReport);
SOUK_JSON_HERE(BusyReport);
SOUK_JSON_HERE(Heartbeat);
SOUK_JSON_HERE(Order);
SOUK_JSON_HERE(Orders);
SOUK_JSON_HERE(OpenLeases);
SOUK_JSON_HERE(Challenge);
SOUK_JSON_HERE(ChallengeAnswer);
SOUK_JSON_HERE(ChallengeVerdict);

}  // namespace souk::wire
