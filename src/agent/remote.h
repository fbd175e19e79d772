#pragma once

#include "agent/link.h"
#include "blob/transfer.h"

namespace souk::agent {

// The market's blobs over HTTP: what blob::upload and blob::download talk to.
blob::RemoteFactory blobs_at(LinkOptions options);

}  // namespace souk::agent
