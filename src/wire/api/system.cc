#include "wire/api/system.h"

namespace souk::wire {

SOUK_JSON_HERE(Settings);
SOUK_JSON_HERE(SettingsEdit);
SOUK_JSON_HERE(AuditEntry);
SOUK_JSON_HERE(Health);
SOUK_JSON_HERE(Page<AuditEntry>);

}  // namespace souk::wire
