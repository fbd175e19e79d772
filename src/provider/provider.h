#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/credits.h"
#include "base/fields.h"
#include "base/result.h"
#include "base/time.h"

// Machines on demand: what makes them (Slurm, EC2, Kubernetes), behind one interface.

namespace souk::provider {

using base::Credits;
using base::Duration;
using base::Result;
using base::Time;

// One kind of machine that can be started, and its price.
struct MachineKind {
  std::string where;  // A partition, a region, a namespace; empty: the provider's default.
  std::string type;   // An instance type; empty where there are none.
  bool spot = false;  // Cheaper, and taken back at any time.
  std::int32_t cores = 1;
  std::int64_t memory_mib = 1024;
  std::int32_t gpus = 0;
  Credits hourly;  // Of one machine.
  SOUK_FIELDS(MachineKind, where, type, spot, cores, memory_mib, gpus, hourly)
};
std::string to_string(const MachineKind& kind);  // "m5.large (spot) in us-east-1"

// Whose machine it is and which intent of the journal it came from. Every machine carries all
// three, so that it is found again whatever was lost: as a job's name, as tags, as labels. Each
// part is made of small letters, digits and '-'; see clean_name().
struct MachineName {
  std::string owner;  // An account of a market: "ann-1f2e3d4c".
  std::string pool;
  std::string intent;
  bool operator==(const MachineName&) const = default;
};
std::string to_string(const MachineName& name);  // "souk.OWNER.POOL.INTENT"
std::optional<MachineName> parse_machine_name(std::string_view text);
// `text` with every other character replaced by '-', at most 40 of them.
std::string clean_name(std::string_view text);

// How the agent on a new machine joins the market.
struct Join {
  std::string server;
  std::string token;  // Can act for this one machine only, and is revoked when it ends.
  std::string pin;
  std::string ca_pem;              // The authority's certificate itself.
  std::vector<std::string> flags;  // Of `souk lend`.
};

struct StartRequest {
  MachineName name;
  MachineKind kind;
  Time end;  // It must not run after this.
  Join join;
};

SOUK_ENUM(MachineState, pending, running, ended)

struct ListedMachine {
  std::string intent;
  std::string handle;  // The provider's own name: a job's or an instance's id.
  MachineState state = MachineState::pending;
  std::string detail = {};  // Why it ended, if the provider says.
  bool operator==(const ListedMachine&) const = default;
};

// How long a provider may take to list what it has started.
struct Delays {
  Duration settle;  // A start that nobody answered and that is not listed after this was refused.
  Duration forget;  // A machine that was listed, and is not for this long, has ended.
};

// Starts, lists and stops the machines of one pool of one owner. Keeps nothing: what was started is
// known from the journal of intents (intents.h) and from list(). One thread.
class Provider {
 public:
  virtual ~Provider() = default;
  // What it could start now, cheapest first.
  virtual Result<std::vector<MachineKind>> kinds() = 0;
  // Starts one machine, and returns its handle. Code::unavailable: nobody knows whether it was
  // started. Code::exhausted: it was not, as there are too many requests or too few machines.
  // Anything else: it was not, and the same request will fail again.
  virtual Result<std::string> start(const StartRequest& request) = 0;
  // The machines of this owner and pool. What ended may be listed for a while, or not. `known` are
  // handles that should be among them, to be asked for by name where that helps.
  virtual Result<std::vector<ListedMachine>> list(const std::vector<std::string>& known) = 0;
  // Asks the machine to end, `hard` without time to save anything. One that has ended is no error.
  virtual Result<> stop(const std::string& handle, bool hard) = 0;
  [[nodiscard]] virtual Delays delays() const = 0;
};

}  // namespace souk::provider
