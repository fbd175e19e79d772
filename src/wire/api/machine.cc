#include "wire/api/machine.h"

namespace souk::wire {

SOUK_JSON_HERE(MachineSpec);
SOUK_JSON_HERE(Machine);
SOUK_JSON_HERE(NewMachine);
SOUK_JSON_HERE(MachineEdit);
SOUK_JSON_HERE(Page<Machine>);

}  // namespace souk::wire
