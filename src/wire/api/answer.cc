#include "wire/api/answer.h"

namespace souk::wire {

SOUK_JSON_HERE(Acknowledged);

}  // namespace souk::wire
