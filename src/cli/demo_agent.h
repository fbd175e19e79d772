#pragma once

#include <atomic>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "base/time.h"
#include "cli/api.h"
#include "wire/api.h"

namespace souk::cli {

// One machine's agent in the demo, on a thread of its own: learns of leases by long poll, starts
// them, sends heartbeats and, after each has run for `work`, reports it as completed. It pretends
// to work; everything the market sees of it is real.
class DemoAgent {
 public:
  struct Plan {
    base::MachineId machine;
    base::Duration work;
    // Falls silent, as if unplugged, once a lease has run this long.
    std::optional<base::Duration> unplugged_after;
  };

  // `target` holds the machine's own token.
  DemoAgent(const Target& target, Plan plan);
  ~DemoAgent();  // Ends the thread.
  DemoAgent(const DemoAgent&) = delete;
  DemoAgent& operator=(const DemoAgent&) = delete;

  [[nodiscard]] bool unplugged() const { return unplugged_; }
  // What went wrong, after the thread has ended.
  [[nodiscard]] const std::optional<Error>& trouble() const { return trouble_; }
  void stop();

 private:
  struct Running {
    std::int32_t epoch = 0;
    base::Time started;
  };

  void live(const Target& target);
  Result<> step(Api& api);
  Result<> take_up(Api& api, const wire::Work& work);
  Result<> beat(Api& api);
  Result<> finish(Api& api);

  Plan plan_;
  std::uint64_t seen_ = 0;
  bool asked_ = false;
  std::map<base::LeaseId, Running> running_;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> unplugged_ = false;
  std::optional<Error> trouble_;  // Written by the thread, read after it was joined.
  std::thread thread_;
};

}  // namespace souk::cli
