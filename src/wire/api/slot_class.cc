#include "wire/api/slot_class.h"

namespace souk::wire {

SOUK_JSON_HERE(SlotClass);
SOUK_JSON_HERE(SlotClassEdit);
SOUK_JSON_HERE(Page<SlotClass>);

}  // namespace souk::wire
