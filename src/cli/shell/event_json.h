#pragma once

#include <cstdint>
#include <string>

#include "base/time.h"
#include "market/events.h"

namespace souk::cli {

// The fields of an event as JSON, for people and scripts. Password hashes, token digests and the
// bodies of stored answers (which hold fresh tokens) are left out as "(redacted)"; a time that
// never comes is null.
std::string event_fields_json(const market::Event& event);

// {"number":1,"at":"...","kind":"OfferPosted","fields":{...}}
std::string event_json(std::uint64_t number, base::Time at, const market::Event& event);

}  // namespace souk::cli
