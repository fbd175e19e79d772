#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/time.h"
#include "wire/api/heartbeat.h"

// How much of a machine's cores other programs use, and what an agent does about it while its
// machine is not proved.

namespace souk::agent {

// All the time that these cores have worked, from /proc/stat below `root`: user, nice and system,
// with interrupts; not idle, not waiting for disks. Empty: all cores.
std::optional<double> worked_seconds(const std::string& root, std::span<const int> cores = {});

struct BusyOptions {
  std::string root = {};        // In front of /proc. For tests.
  std::vector<int> cores = {};  // Those that the agent may use.
  std::int32_t lent = 1;        // A challenge takes half of them first, then all.
};

// Watches what other programs use of the cores, which costs nothing, and so spaces challenges that
// cannot be met. After one that failed while the cores were busy, the next is put off: five
// seconds, then twice as long each time, five minutes at most. It is wanted at once when they are
// free. One thread.
class BusyWatch {
 public:
  static constexpr auto kFirstPause = base::seconds(5);
  static constexpr auto kLongestPause = base::minutes(5);
  static constexpr auto kShortestLook = base::milliseconds(500);  // /proc/stat counts by 10 ms.
  static constexpr double kNews = 0.5;  // A change of so many cores is told.

  explicit BusyWatch(BusyOptions options) : options_(std::move(options)) {}

  // Measures since the last look. `own_cpu_seconds`: what the agent and the borrowed programs have
  // used in all. Call about once a second.
  void look(double own_cpu_seconds, base::Time now);
  // What comes before the next look is not measured: a challenge took time from other programs.
  void skip() { last_.reset(); }
  // What the market says: does the machine lend nothing until a challenge is met?
  void set_unproved(bool unproved) { unproved_ = unproved; }
  void challenge_met();
  // Returns what to tell the lender; empty: nothing that was not told before.
  std::string challenge_failed(const std::string& reason, base::Time now);

  // Absent while the machine is proved, or enough of the cores is free.
  [[nodiscard]] std::optional<wire::BusyReport> report(base::Time now) const;

 private:
  struct Look {
    base::Time at;
    double worked = 0, own = 0;  // Seconds.
  };
  // Too few cores would be free for a challenge's first question, which is answered by half of
  // those that are lent.
  [[nodiscard]] bool too_busy(double others) const;

  const BusyOptions options_;
  bool unproved_ = false;
  std::optional<Look> last_;
  std::optional<base::Time> since_;  // Absent: it is not busy.
  double others_ = 0;                // Cores that others use.
  base::Duration pause_ = kFirstPause;
  base::Time put_off_;
  std::optional<double> told_;  // Cores.
};

}  // namespace souk::agent
