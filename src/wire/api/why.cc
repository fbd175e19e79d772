#include "wire/api/why.h"

namespace souk::wire {

SOUK_JSON_HERE(WhyGroup);
SOUK_JSON_HERE(Relaxation);
SOUK_JSON_HERE(Why);

}  // namespace souk::wire
