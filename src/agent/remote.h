#pragma once

#include <functional>
#include <string>

#include "agent/link.h"
#include "blob/transfer.h"

namespace souk::agent {

// The market's blobs over HTTP: what blob::upload and blob::download talk to. `right` says why the
// caller may read what it did not bring itself: "lease=l1" or "job=j1". After `give_up()` no chunk
// is fetched any more.
blob::RemoteFactory blobs_at(LinkOptions options, std::string right = {},
                             std::function<bool()> give_up = {});

}  // namespace souk::agent
