#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/shell/api.h"
#include "provider/demand.h"
#include "provider/steward.h"
#include "wire/api/machine.h"

namespace souk::cli {

struct MarketSideOptions {
  std::string pool;
  std::string provider;  // As machines of it are listed on the market.
  std::string slot_class;
  provider::DemandRules demand;
  base::Duration token_life;
  provider::Join join;  // All of it but the token.
};

// The market as a pool needs it, through the API and as the pool's owner. A machine of the pool is
// called POOL-INTENT there. One thread.
class MarketSide final : public provider::Market {
 public:
  MarketSide(Api& api, MarketSideOptions options) : api_(api), options_(std::move(options)) {}

  base::Result<provider::Need> need(const provider::Fleet& fleet, base::Time now) override;
  base::Result<provider::Join> admit(const std::string& intent,
                                     const provider::MachineKind& kind) override;
  base::Result<> dismiss(const provider::Fleet& fleet) override;

 private:
  struct OfferUse {
    std::int32_t slots = 0;
    std::int32_t free = 0;
    bool doubted = false;  // It has not proved yet what it has, so nobody is served by it.
  };
  Result<std::map<std::string, wire::Machine>> machines();  // By intent.
  Result<std::map<base::MachineId, OfferUse>> offers();     // Of all machines of the account.
  Result<provider::Need> look(const provider::Fleet& fleet, base::Time now);
  Result<provider::Join> make_machine(const std::string& intent, const provider::MachineKind& kind);
  Result<bool> remove(const wire::Machine& machine);
  Result<> remove_ended(const provider::Fleet& fleet);

  Api& api_;
  const MarketSideOptions options_;
  std::map<std::string, base::Time> idle_since_;
  std::set<std::string> dismissed_;
  bool swept_ = false;  // What an earlier process left behind was looked for.
};

// The intent in a machine's name on the market; "" when it is none of this pool's.
std::string intent_in(const std::string& machine_name, const std::string& pool);

}  // namespace souk::cli
