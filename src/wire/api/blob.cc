#include "wire/api/blob.h"

namespace souk::wire {

SOUK_JSON_HERE(BlobNames);

}  // namespace souk::wire
