#include "wire/api/plan.h"

namespace souk::wire {

SOUK_JSON_HERE(JobPlan);
SOUK_JSON_HERE(Profile);
SOUK_JSON_HERE(JobForecast);

}  // namespace souk::wire
