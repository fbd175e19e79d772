#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "agent/clocks.h"
#include "agent/hub_links.h"
#include "agent/link.h"
#include "agent/trainer.h"
#include "base/fd.h"
#include "blob/store.h"
#include "train/codecs/codec.h"
#include "wire/api/lease.h"
#include "wire/api/training.h"

namespace souk::agent {

struct CoachOptions {
  wire::Lease lease;  // Its task has training.
  LinkOptions link;
  blob::Store* store = nullptr;
  std::string folder;            // The trainer's, as the agent sees it.
  std::int64_t shard_bytes = 0;  // Of shards kept there at a time.
  base::Duration grace;          // How long to wait for a market that does not answer.
  const base::Clock* clock = &kSteadyClock;
  std::function<void(std::string)> doing = [](std::string) {};
  std::function<void(std::string_view)> say = [](std::string_view) {};  // To the job's log.
  std::function<void(std::int64_t received, std::int64_t sent)> moved = [](auto, auto) {};
};

// Between a trainer in its sandbox and the market: asks for units, fetches shards and parameters,
// has the trainer compute, encodes the update and pushes it, until there are no more or drain() is
// called. Where a unit names a hub, parameters come from and updates go to that, and to the market
// if the hub fails. On a thread of its own; then the trainer is told goodbye and exits by itself.
class Coach {
 public:
  Coach(CoachOptions options, base::Fd socket);
  ~Coach();  // Gives up at once, joins.

  // Hand back what is done of the unit under way, and no more.
  void drain() { draining_ = true; }
  [[nodiscard]] bool finished() const { return finished_; }
  // Why the trainer could not be used; for after the end.
  [[nodiscard]] std::string failure() const;

 private:
  void run();
  base::Result<> work();
  base::Result<wire::Unit> next();
  base::Result<> init(const wire::Unit& unit);
  base::Result<> train(const wire::Unit& unit);
  base::Result<> evaluate(const wire::Unit& unit);
  base::Result<std::string> shard(const std::string& name);
  base::Result<> pull(const wire::Unit& unit);
  base::Result<std::string> fetch(const wire::Unit& unit, std::int64_t since);
  // False: the market must have it all.
  bool push_to_hub(const wire::Unit& unit, std::string_view body);
  base::Result<std::vector<float>> pull_exactly(std::int64_t version);
  template <class Call>
  base::Result<std::string> patiently(const Call& call);
  base::Result<bool> report(const wire::Unit& unit, wire::UnitDone done, std::string_view body);
  // The time since the last call went into this.
  void lap(base::Duration wire::TimeSpent::* what);
  [[nodiscard]] std::string path(std::string_view rest) const;

  const CoachOptions options_;
  std::atomic<bool> draining_ = false, ended_ = false, finished_ = false;
  std::optional<Link> link_;
  HubLinks hubs_;
  Trainer trainer_;
  std::vector<float> values_, residual_;
  std::int64_t version_ = -1;
  std::unique_ptr<train::Codec> codec_;
  std::vector<std::pair<std::string, std::int64_t>> shards_;  // In the folder, oldest first.
  wire::TimeSpent spent_;                                     // Since a unit was last asked for.
  base::Time lap_;
  std::string failure_;
  std::thread thread_;
};

}  // namespace souk::agent
