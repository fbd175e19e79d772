#include "blob/share_ticket.h"

#include <fmt/format.h>

#include <charconv>

#include "base/check.h"
#include "base/text.h"

namespace souk::blob {

using base::Code;
using base::fail;

std::string sign(const ShareTicket& ticket, const Digest& key) {
  CHECK(!ticket.job.contains('/') && !ticket.lease.contains('/'));
  const auto text = fmt::format("{}/{}/{}/{}", to_string(ticket.chunk), ticket.job, ticket.lease,
                                ticket.expires.us);
  return fmt::format("{}/{}", text, to_string(base::blake2b(text, key)));
}

Result<ShareTicket> read_share_ticket(std::string_view text, const Digest& key, base::Time now) {
  const auto forged = [] {
    return fail(Code::unauthenticated, "the ticket is not one of this machine's market",
                "ask the market for one");
  };
  constexpr std::size_t longest = 300;
  if (text.size() > longest) return forged();
  const auto parts = base::split(text, '/');
  if (parts.size() != 5) return forged();
  const auto chunk = parse_digest(parts[0]);
  std::int64_t expires = 0;
  const auto number = std::from_chars(parts[3].data(), parts[3].data() + parts[3].size(), expires);
  if (!chunk || number.ec != std::errc{}) return forged();
  ShareTicket ticket{*chunk, std::string(parts[1]), std::string(parts[2]), base::Time(expires)};
  // Hashed: what is compared byte by byte is nothing that a caller can steer.
  if (base::blake2b(sign(ticket, key)) != base::blake2b(text)) return forged();
  if (now.us >= expires)
    return fail(Code::unauthenticated, "the ticket has expired", "ask the market for another");
  return ticket;
}

}  // namespace souk::blob
