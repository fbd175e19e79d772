#pragma once

#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/hash.h"
#include "base/result.h"
#include "base/time.h"
#include "net/line.h"
#include "relay/carrier.h"

namespace souk::relay {

// What lets somebody meet another at a relay: who the two are, which of them this is, and until
// when. Signed with a key that the relay has told the market.
struct MeetingTicket {
  std::string meeting;  // Letters, digits, '.' and '-'.
  int side = 0;         // 0 or 1.
  base::Time until;
};
[[nodiscard]] std::string sign(const MeetingTicket& ticket, const base::Digest& key);
[[nodiscard]] base::Result<MeetingTicket> read_meeting_ticket(std::string_view text,
                                                              const base::Digest& key,
                                                              base::Time now);

// A waiting room: of the two sides of a meeting the first waits for the second, and then a carrier
// has both. Any thread.
class Joiner {
 public:
  static constexpr std::size_t kMostWaiting = 4'096;
  static constexpr std::chrono::seconds kPatience{30};

  explicit Joiner(Carrier& carrier) : carrier_(carrier) {}

  // Whoever waited on the same side is closed. With `idle` as Carrier::carry() has it.
  void bring(const std::string& meeting, int side, std::unique_ptr<net::Line> line,
             base::Duration idle = {});
  [[nodiscard]] std::size_t waiting() const;
  // Closes those who have left, or have waited for longer than kPatience. Looks once a second, so
  // it may be called often; bring() does, too.
  void tidy();
  void close();  // Whoever waits goes.

 private:
  struct Waiting {
    std::unique_ptr<net::Line> line;
    std::chrono::steady_clock::time_point since;
  };
  using Room = std::map<std::string, std::array<Waiting, 2>>;
  static bool gone(const Waiting& w, std::chrono::steady_clock::time_point now);
  void drop_gone(std::chrono::steady_clock::time_point now);  // Requires the mutex.

  Carrier& carrier_;
  mutable std::mutex mutex_;
  Room room_;
  std::chrono::steady_clock::time_point tidied_;
};

}  // namespace souk::relay
