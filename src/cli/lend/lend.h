#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/runner.h"
#include "cli/shell/context.h"
#include "cli/shell/values.h"
#include "wire/api/machine.h"
#include "wire/api/offer.h"
#include "wire/api/slot_class.h"

// `souk lend`, before it runs: what of the machine is lent, and as what the market knows it.

namespace souk::cli {

struct Lend {
  std::string name;
  std::optional<std::int32_t> cores;
  bool share_cores = false;
  std::optional<std::int32_t> gpus;
  bool share_gpus = false;
  std::optional<Memory> memory, disk;
  std::optional<Memory> scratch;  // On disk, of all leases together.
  std::string slot_class;
  std::optional<AskPrice> price;
  std::vector<std::string> weekly;
  std::optional<base::Time> until;
  std::optional<base::Duration> longest_lease;
  std::string region;
  double cpu_share = 1;  // Of the time of the cores lent.
  bool yield = false;
  base::Duration notice = base::seconds(30);
  base::Duration drain = base::seconds(90);
  base::Duration grace = base::minutes(10);
  base::Duration exit_idle = {}, exit_alone = {};  // Zero: never.
  bool internet = false;
  bool unsafe = false;
  bool once = false;
  std::string preempt_when;  // A command; once it succeeds, the machine will be taken away.
  std::string folder;
  Memory cache{20 * 1024};
  std::vector<std::string> also;
  std::optional<base::Credits> power_price;  // Per kWh.
  std::optional<double> watts;
  std::string share_chunks;               // Where; empty: not at all.
  bool relayed = false;                   // Gangs only through relays: nobody connects to this one.
  std::vector<std::string> environments;  // Paths, or NAME=PATH.
  std::vector<std::string> registries;    // That images are pulled from.
  bool build_environments = false;
  std::vector<std::string> indexes;  // Hosts that packages are fetched from.
  std::vector<std::string> fetch;    // Hosts that inputs are fetched from.
  bool no_trainer = false;           // The market's built-in trainer is not fetched.
};

struct Slots {
  std::string slot_class;
  std::int32_t count = 0;
  std::int32_t after = 0;  // What the offer is left with at the end: one lease needs one slot.
};

// The class given, or the smallest of those with a GPU when GPUs are lent and of those without when
// not: many small slots find a use more often than few large ones.
Result<Slots> choose_slots(const Lend& o, const wire::MachineSpec& m,
                           const std::vector<wire::SlotClass>& classes);

// The slots of an offer that the machine has: as many as its owner chose, if they still `fit`. One
// of all that `fitted` the machine as it was goes on to be of all.
Slots keep_slots(const Lend& o, const wire::Offer& offer, std::int32_t fitted, std::int32_t fit);

// Its other terms: those of flags, and of the rest what the offer has, which its owner may have set
// elsewhere. Only an end that has passed is taken away, as it asks for nothing any more.
wire::OfferEdit keep_terms(const Lend& o, const wire::Offer& offer, base::Time now);

// A machine that the market knows and that is ready to work.
struct Ready {
  wire::Machine machine;
  Slots slots;
  std::optional<base::Credits> price;  // Absent: market.
  Target target;                       // With a token that can act for this machine only.
  std::string offer_path;
};

// Looks at the machine, opens its sandboxes and caches (in `shop`), registers it, and posts its
// offer, or goes on with the one it has, which is then open. With a machine's own token, such as
// the console hands out, it is that machine, and nothing needs its owner's.
Result<Ready> get_ready(Context& c, const Lend& o, agent::Workshop& shop);

}  // namespace souk::cli
