#include "wire/api/ledger.h"

namespace souk::wire {

SOUK_JSON_HERE(Balance);
SOUK_JSON_HERE(Ledger);
SOUK_JSON_HERE(StatementLine);
SOUK_JSON_HERE(Statement);

}  // namespace souk::wire
