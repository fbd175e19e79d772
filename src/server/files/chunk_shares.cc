#include "server/files/chunk_shares.h"

#include <algorithm>

#include "blob/share_ticket.h"
#include "net/local_address.h"

namespace souk::server {
void ChunkShares::announce(base::MachineId machine, Sharer sharer) {
  const std::lock_guard lock(mutex_);
  sharers_[machine].sharer = std::move(sharer);
}

std::vector<base::MachineId> ChunkShares::sharers() const {
  const std::lock_guard lock(mutex_);
  std::vector<base::MachineId> out;
  for (const auto& [machine, announced] : sharers_) out.push_back(machine);
  return out;
}

std::optional<wire::ChunkPeer> ChunkShares::direct(const Asker& asker,
                                                   std::span<const base::MachineId> candidates,
                                                   const blob::Digest& name, base::Time now) {
  const std::lock_guard lock(mutex_);
  auto& names = jobs_[asker.job];
  auto known = names.find(name);
  if (known == names.end()) {
    if (names_ >= kMostNames) return std::nullopt;
    known = names.try_emplace(name).first;
    ++names_;
  }
  auto& holders = known->second;
  Announced* best = nullptr;
  for (const auto holder : holders) {
    const auto it = sharers_.find(holder);
    if (holder == asker.machine || it == sharers_.end() ||
        std::ranges::find(candidates, holder) == candidates.end() ||
        !net::is_reachable(asker.address, it->second.sharer.address))
      continue;
    if (best == nullptr || it->second.named < best->named) best = &it->second;
  }
  if (sharers_.contains(asker.machine) && holders.size() < kMostHolders &&
      std::ranges::find(holders, asker.machine) == holders.end())
    holders.push_back(asker.machine);
  if (best == nullptr) return std::nullopt;
  ++best->named;
  const blob::ShareTicket ticket{name, to_string(asker.job), to_string(asker.lease),
                                 now + kTicketLasts};
  return wire::ChunkPeer{to_string(name), best->sharer.address, best->sharer.port, best->sharer.pin,
                         sign(ticket, best->sharer.key)};
}

void ChunkShares::ended(base::JobId job) {
  const std::lock_guard lock(mutex_);
  const auto it = jobs_.find(job);
  if (it == jobs_.end()) return;
  names_ -= it->second.size();
  jobs_.erase(it);
}

}  // namespace souk::server
