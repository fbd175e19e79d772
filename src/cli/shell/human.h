#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/text.h"
#include "base/time.h"
#include "base/vocabulary.h"
#include "cli/shell/table.h"
#include "wire/api/job.h"
#include "wire/api/offer.h"

// Values as tables show them.

namespace souk::cli {

// "3m ago", "in 2h", "now".
std::string relative(base::Time t, base::Time now);
std::string relative(const std::optional<base::Time>& t, base::Time now);
// The two largest parts: "1d2h", "3m4s".
std::string rough(base::Duration d);
// Credits for people: three digits that count, and never fewer than its whole part has: "0.0421",
// "1.96", "1235". --json has the exact figure.
std::string brief(base::Credits c);
// Parts of a sum, and behind them the sum: with as many digits as the smallest part needs, so that
// what is shown adds up.
std::vector<std::string> briefs(std::span<const base::Credits> parts);
std::string brief(const std::optional<base::Credits>& c, const char* absent = "-");
std::string percent(double share, int places = 0);
// Nothing when it is not known.
std::string percent(const std::optional<double>& share, int places);
// "97% of 34 leases" as "97% (34)"; a machine without leases is "new".
std::string reliability_text(double share, std::int64_t leases);
using base::bytes_text;
std::string plural(std::int64_t n, const std::string& noun);
// A name as the cell of a table.
template <base::NamedEnum E>
Cell word(E value) {
  return std::string(to_string(value));
}
// The same with the tone of what it says.
Tone tone_of(base::JobState state);
Tone tone_of(base::LeaseState state);
Tone tone_of(wire::OfferState state);
Tone tone_of(wire::WorkerState state);
template <base::NamedEnum State>
Cell state_cell(State state) {
  return {std::string(to_string(state)), tone_of(state)};
}

}  // namespace souk::cli
