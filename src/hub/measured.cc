#include "hub/measured.h"

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace souk::hub {
namespace {

static_assert(std::endian::native == std::endian::little);
constexpr std::size_t kHead = 2 * sizeof(std::uint64_t);

}  // namespace

Measured measure(const train::Update& update) {
  return {train::stats_of(update), train::direction_of(update)};
}

std::string pack(const Measured& measured) {
  const std::uint64_t finite = measured.stats.finite ? 1 : 0;
  const auto bytes = measured.direction.size() * sizeof(float);
  std::string out(kHead + bytes, '\0');
  std::memcpy(out.data(), &finite, sizeof finite);
  std::memcpy(out.data() + sizeof finite, &measured.stats.norm, sizeof measured.stats.norm);
  if (bytes > 0) std::memcpy(out.data() + kHead, measured.direction.data(), bytes);
  return out;
}

base::Result<Measured> unpack_measured(std::string_view bytes) {
  const auto floats = bytes.size() < kHead ? 0 : (bytes.size() - kHead) / sizeof(float);
  std::uint64_t finite = 2;
  if (bytes.size() >= kHead) std::memcpy(&finite, bytes.data(), sizeof finite);
  if (finite > 1 || floats > train::kDirection || bytes.size() != kHead + floats * sizeof(float))
    return base::fail(base::Code::damaged,
                      fmt::format("{} bytes about an update are not understood", bytes.size()),
                      "do the hub and the market have the same version?");
  Measured out{.stats = {.finite = finite == 1}, .direction = train::Direction(floats)};
  std::memcpy(&out.stats.norm, bytes.data() + sizeof finite, sizeof out.stats.norm);
  if (floats > 0) std::memcpy(out.direction.data(), bytes.data() + kHead, floats * sizeof(float));
  return out;
}

}  // namespace souk::hub
