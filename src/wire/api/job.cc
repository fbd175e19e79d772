#include "wire/api/job.h"

namespace souk::wire {

SOUK_JSON_HERE(Workers);
SOUK_JSON_HERE(Constraints);
SOUK_JSON_HERE(Resources);
SOUK_JSON_HERE(NewJob);
SOUK_JSON_HERE(JobEdit);
SOUK_JSON_HERE(Cancel);
SOUK_JSON_HERE(Job);
SOUK_JSON_HERE(Page<Job>);
SOUK_JSON_HERE(WorkerStatus);
SOUK_JSON_HERE(Page<WorkerStatus>);

}  // namespace souk::wire
