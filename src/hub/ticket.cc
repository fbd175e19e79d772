#include "hub/ticket.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace souk::hub {

using base::Code;
using base::fail;

base::Digest key_of(std::string_view secret) { return base::blake2b(secret); }

bool same(const base::Digest& a, const base::Digest& b) {
  unsigned differs = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i)
    differs |= static_cast<unsigned>(a.bytes[i] ^ b.bytes[i]);
  return differs == 0;
}

std::string sign(const Ticket& ticket, const base::Digest& key) {
  CHECK(!ticket.job.contains('/') && !ticket.update.contains('/'));
  const auto text = fmt::format("{}/{}/{}", ticket.job, ticket.update, ticket.expires.us);
  return fmt::format("{}/{}", text, to_string(base::blake2b(text, key)));
}

base::Result<Ticket> read_ticket(std::string_view text, const base::Digest& key, base::Time now) {
  const auto forged = [] {
    return fail(Code::unauthenticated, "the ticket is not one of this service's market",
                "use the one that came with the unit");
  };
  const auto slash = text.rfind('/');
  if (slash == text.npos) return forged();
  const auto said = text.substr(0, slash);
  // Hashed once more: what is compared byte by byte is nothing that a caller can steer.
  const auto right = base::blake2b(to_string(base::blake2b(said, key)));
  if (!same(base::blake2b(text.substr(slash + 1)), right)) return forged();
  const auto parts = base::split(said, '/');
  std::int64_t expires = 0;
  if (parts.size() != 3 ||
      std::from_chars(parts[2].data(), parts[2].data() + parts[2].size(), expires).ec !=
          std::errc{})
    return forged();
  Ticket ticket{std::string(parts[0]), std::string(parts[1]), base::Time(expires)};
  if (sign(ticket, key) != text) return forged();  // Blanks, or more behind the time.
  if (now.us >= expires)
    return fail(Code::unauthenticated, "the ticket has expired", "ask the market for another unit");
  return ticket;
}

}  // namespace souk::hub
