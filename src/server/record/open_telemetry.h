#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "journal/records/records.h"

namespace souk::server {

// The records beside the journal of a market: in the file telemetry.db of the data folder. A file
// that is damaged is set aside, and on a full disk there are none (null), as nothing in it is worth
// a market that does not start; the log says so.
[[nodiscard]] base::Result<std::unique_ptr<journal::Records>> open_telemetry(
    const std::string& folder);

}  // namespace souk::server
