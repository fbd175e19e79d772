#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/provide/pool.h"
#include "cli/shell/command.h"
#include "cli/shell/context.h"
#include "cli/shell/values.h"

// What the providers' commands share: the flags of a pool, and running one.

namespace souk::cli {

struct ProvideOptions {
  std::string pool;  // Empty: the provider's name.
  std::string state;
  std::int64_t most = 1;
  std::int64_t least = 0;
  std::optional<base::Credits> price;
  std::optional<base::Credits> max_spend;
  std::string slot_class;
  base::Duration lifetime = base::hours(4);
  base::Duration idle = base::minutes(5);
  base::Duration alone = base::minutes(5);
  base::Duration every = base::seconds(10);
  std::string via;
  std::vector<std::string> environments;
  bool unsafe = false;
  bool dry_run = false;
};
std::vector<Option> pool_flags(ProvideOptions& o);

// What a provider's own flags have become.
struct PoolPlan {
  PoolSettings settings;                     // With everything but owner, pool and server.
  std::vector<provider::MachineKind> kinds;  // What it may start; not empty.
};

// Checks, shows what would happen (--dry-run), or runs until it is told to end.
Result<> provide(Context& c, const ProvideOptions& o, PoolPlan plan);

Command provide_slurm_command();
Command provide_ec2_command();
Command provide_kubernetes_command();
Command provide_status_command();
Command provide_stop_command();

}  // namespace souk::cli
