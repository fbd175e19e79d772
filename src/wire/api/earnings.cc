#include "wire/api/earnings.h"

namespace souk::wire {

SOUK_JSON_HERE(Earnings);

}  // namespace souk::wire
