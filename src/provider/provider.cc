#include "provider/provider.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace souk::provider {
namespace {

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

constexpr std::size_t kPartMax = 40;

}  // namespace

std::string to_string(const MachineKind& kind) {
  auto out = kind.type.empty() ? std::string("a machine") : kind.type;
  if (kind.spot) out += " (spot)";
  if (!kind.where.empty()) out += " in " + kind.where;
  return out;
}

std::string clean_name(std::string_view text) {
  std::string out;
  for (char c : text.substr(0, kPartMax)) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    out += is_plain(c) ? c : '-';
  }
  return out;
}

std::string to_string(const MachineName& name) {
  return fmt::format("souk.{}.{}.{}", name.owner, name.pool, name.intent);
}

std::optional<MachineName> parse_machine_name(std::string_view text) {
  const auto parts = base::split(text, '.');
  if (parts.size() != 4 || parts[0] != "souk") return std::nullopt;
  for (const auto part : parts)
    if (part.empty() || part.size() > kPartMax || !std::ranges::all_of(part, is_plain))
      return std::nullopt;
  return MachineName{std::string(parts[1]), std::string(parts[2]), std::string(parts[3])};
}

}  // namespace souk::provider
