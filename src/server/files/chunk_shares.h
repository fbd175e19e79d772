#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "base/time.h"
#include "blob/chunk.h"
#include "wire/api/sharing.h"

namespace souk::server {

// Which machines give chunks of a job's files to others with leases of the same job, so that the
// server sends each chunk about once. It remembers whom it sent to which chunk, by the server or by
// another machine, and sends the next who asks to one of these. A hint: whoever finds no chunk
// there fetches it from the server. In memory, and bounded: what does not fit is sent by the
// server. Any thread; no lock is held across a disk.
class ChunkShares {
 public:
  static constexpr std::size_t kMostNames = 500'000;  // Of all jobs.
  static constexpr std::size_t kMostHolders = 16;     // Of one chunk.
  static constexpr base::Duration kTicketLasts = base::minutes(10);

  struct Sharer {
    std::string address;  // From which it speaks to us: it can name nobody but itself.
    std::int32_t port = 0;
    blob::Digest key;
    std::string pin;
  };
  struct Asker {
    base::JobId job;
    base::LeaseId lease;
    base::MachineId machine;
    std::string address;
  };

  // From now on, until it says otherwise.
  void announce(base::MachineId machine, Sharer sharer);
  [[nodiscard]] std::vector<base::MachineId> sharers() const;

  // Where the asker may fetch a chunk that it may read: at one of `candidates`, which have leases
  // of the same job. Nothing: from the server. Either way it is one of those who have it, if it
  // shares. Addresses of this computer are told to callers from this computer only.
  [[nodiscard]] std::optional<wire::ChunkPeer> direct(const Asker& asker,
                                                      std::span<const base::MachineId> candidates,
                                                      const blob::Digest& name, base::Time now);
  void ended(base::JobId job);

 private:
  struct Announced {
    Sharer sharer;
    std::uint64_t named = 0;  // How often others were sent there.
  };
  using Holders = std::unordered_map<blob::Digest, std::vector<base::MachineId>, blob::DigestHash>;

  mutable std::mutex mutex_;
  std::map<base::MachineId, Announced> sharers_;
  std::map<base::JobId, Holders> jobs_;
  std::size_t names_ = 0;
};

}  // namespace souk::server
