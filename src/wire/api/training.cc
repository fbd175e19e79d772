#include "wire/api/training.h"

namespace souk::wire {

SOUK_JSON_HERE(Train);
SOUK_JSON_HERE(UnitAsk);
SOUK_JSON_HERE(Unit);
SOUK_JSON_HERE(UnitDone);
SOUK_JSON_HERE(UnitVerdict);
SOUK_JSON_HERE(Training);

}  // namespace souk::wire
