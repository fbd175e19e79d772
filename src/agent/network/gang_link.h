#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/link.h"
#include "base/fd.h"
#include "base/id.h"
#include "net/client.h"
#include "relay/overlay/overlay.h"
#include "wire/api/network.h"

namespace souk::agent {

struct GangLinkOptions {
  LinkOptions link;
  base::LeaseId lease;
  std::int32_t epoch = 0;
  std::int32_t worker = 0;
  std::int32_t workers = 1;  // That the gang may have.
  base::Fd tun;
  bool direct = true;  // Others of the gang may connect to this machine while it joins.
};

// Keeps one worker connected with the others of its gang: tells the market that it is there, hears
// from it who else is, and finds a way to each: directly where one of them can reach the other,
// else through a relay or the market. Whom it may talk to is the market's word, and each has to
// show with its first record that it is the one (relay/overlay/seal.h). Owns a thread, and the
// network's.
class GangLink {
 public:
  explicit GangLink(GangLinkOptions options);
  ~GangLink();
  GangLink(const GangLink&) = delete;
  GangLink& operator=(const GangLink&) = delete;

  // Empty: every worker of the gang is reached. Else for whom it waits, in words.
  [[nodiscard]] std::string waits_for() const;
  // Since all workers were there and one could not be reached; for how long.
  [[nodiscard]] base::Duration stuck_for() const;
  // "2 direct, 1 by relay"
  [[nodiscard]] std::string paths() const;

 private:
  class Listener;
  struct Attempt;
  using Clock = std::chrono::steady_clock;

  void run();
  void look();
  void drop_others(const wire::NetworkView& view);
  base::Result<wire::NetworkView> ask();
  void reach(const wire::NetworkPeer& peer);
  void meet(const wire::NetworkPeer& peer, Attempt& attempt);
  void connect(const wire::NetworkPeer& peer, Attempt& attempt);
  void take_connected();

  const GangLinkOptions options_;
  const bool market_is_here_;  // On this computer.
  relay::KeyPair keys_ = relay::KeyPair::make();
  relay::Overlay overlay_;
  std::unique_ptr<Listener> listener_;
  std::optional<Link> link_;
  std::optional<net::Client> from_port_;  // The same market, from the port that others may reach.
  std::map<std::int32_t, Attempt> attempts_;
  mutable std::mutex mutex_;  // Guards those two.
  std::optional<wire::NetworkView> view_;
  std::optional<Clock::time_point> complete_since_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace souk::agent
