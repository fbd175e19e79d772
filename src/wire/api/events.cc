#include "wire/api/events.h"

namespace souk::wire {

SOUK_JSON_HERE(Notice);
SOUK_JSON_HERE(Notices);

}  // namespace souk::wire
