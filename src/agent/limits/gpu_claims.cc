#include "agent/limits/gpu_claims.h"

#include <fmt/format.h>

#include "agent/limits/claims.h"
#include "base/text.h"

namespace souk::agent {
namespace {

std::string name_of(const Gpu& gpu) {
  if (!gpu.uuid.empty()) return "gpu/" + gpu.uuid;
  return fmt::format("gpu/{}", gpu.number);
}

}  // namespace

GpuClaims GpuClaims::take(const std::vector<Gpu>& gpus, std::size_t most,
                          const std::string& scope) {
  GpuClaims out;
  for (std::size_t i = 0; i < gpus.size() && out.places_.size() < most; ++i) {
    auto socket = claim(name_of(gpus[i]), scope);
    if (socket.get() < 0) {
      const auto by = claimed_by(name_of(gpus[i]), scope);
      out.of_others_.push_back({i, by.value_or("a process that has just ended")});
      continue;
    }
    out.places_.push_back(i);
    out.sockets_.push_back(std::move(socket));
  }
  return out;
}

std::vector<GpuClaims::Held> GpuClaims::held(const std::vector<Gpu>& gpus,
                                             const std::string& scope) {
  std::vector<Held> out;
  for (std::size_t i = 0; i < gpus.size(); ++i)
    if (const auto by = claimed_by(name_of(gpus[i]), scope)) out.push_back({i, *by});
  return out;
}

std::string lent_by(const std::vector<Gpu>& gpus, const std::vector<GpuClaims::Held>& held) {
  std::vector<std::string> pieces;
  for (const auto& h : held) {
    const auto& gpu = gpus[h.place];
    const auto what = gpu.slice ? "slice " + gpu.uuid : fmt::format("GPU {}", gpu.number);
    pieces.push_back(fmt::format("{} ({}) by {}", what, gpu.name, h.by));
  }
  return base::join(pieces, "; ");
}

}  // namespace souk::agent
