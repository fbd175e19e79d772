#include "net/sse.h"

#include <algorithm>
#include <vector>

#include "fuzz/target.h"

// Server-sent events as a client reads them: the same however they are cut, and what is read and
// written again is read the same.

namespace {

using namespace souk;

struct Heard {
  bool refused = false;
  std::vector<net::Event> events = {};
  bool operator==(const Heard&) const = default;
};

Heard hear(std::string_view bytes, std::size_t piece, std::size_t most) {
  Heard out;
  net::EventParser parser(most);
  while (!bytes.empty() && !out.refused) {
    const auto fed = parser.feed(bytes.substr(0, piece), [&](const net::Event& event) {
      CHECK(event.data.size() <= most);
      out.events.push_back(event);
      return true;
    });
    out.refused = !fed;
    bytes.remove_prefix(std::min(piece, bytes.size()));
  }
  return out;
}

}  // namespace

SOUK_FUZZ(sse) {
  constexpr std::size_t most = 512;
  const auto whole = hear(input, std::max<std::size_t>(1, input.size()), most);
  CHECK(hear(input, 1, most).events == whole.events);
  CHECK(hear(input, 7, most).events == whole.events);
  for (const auto& event : whole.events) {
    if (event.event.contains('\0')) continue;  // Is written as a space.
    const auto again = hear(net::format_event(event), 1 << 20, 1 << 20);
    CHECK(again.events.size() == 1 && again.events.front() == event);
  }
}
