#include "wire/api/choices.h"

namespace souk::wire {

SOUK_JSON_HERE(Mechanism);
SOUK_JSON_HERE(Mechanisms);

}  // namespace souk::wire
