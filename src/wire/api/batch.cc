#include "wire/api/batch.h"

namespace souk::wire {

SOUK_JSON_HERE(Batch);
SOUK_JSON_HERE(BatchAssignment);

}  // namespace souk::wire
